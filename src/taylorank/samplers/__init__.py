"""Samplers of negatives: uniform, popularity^β, dynamic (hardest of m) and in-batch, on the device of the model.

Names, options and needs are read without torch; the samplers themselves are PyTorch.

>>> names()
('uniform', 'popularity', 'dynamic', 'in-batch')
>>> get("dynamic").knows_log_q
False
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taylorank.samplers.registry import SAMPLERS, RegisteredSampler, get, names
from taylorank.torch_extra import lazy_names

if TYPE_CHECKING:
    from taylorank.samplers.dynamic import DynamicSampler
    from taylorank.samplers.in_batch import InBatchSampler
    from taylorank.samplers.independent import PopularitySampler, UniformSampler
    from taylorank.samplers.sampler import Sampler

__all__ = [
    "SAMPLERS",
    "DynamicSampler",
    "InBatchSampler",
    "PopularitySampler",
    "RegisteredSampler",
    "Sampler",
    "UniformSampler",
    "get",
    "names",
]
__getattr__ = lazy_names(
    __name__,
    {
        "DynamicSampler": "dynamic",
        "InBatchSampler": "in_batch",
        "PopularitySampler": "independent",
        "Sampler": "sampler",
        "UniformSampler": "independent",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
