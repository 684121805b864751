"""Samplers of negatives: uniform, popularity^β, dynamic (hardest of m) and in-batch, on the device of the model.

>>> names()
('uniform', 'popularity', 'dynamic', 'in-batch')
>>> get("uniform").__name__
'UniformSampler'
"""

from taylorank.torch_extra import require_torch

require_torch()

from taylorank.samplers.dynamic import DynamicSampler  # noqa: E402
from taylorank.samplers.in_batch import InBatchSampler  # noqa: E402
from taylorank.samplers.independent import PopularitySampler, UniformSampler  # noqa: E402
from taylorank.samplers.registry import SAMPLERS, get, names  # noqa: E402
from taylorank.samplers.sampler import Sampler  # noqa: E402

__all__ = [
    "SAMPLERS",
    "DynamicSampler",
    "InBatchSampler",
    "PopularitySampler",
    "Sampler",
    "UniformSampler",
    "get",
    "names",
]
