"""Every sampler by its name."""

from __future__ import annotations

from typing import Any

from taylorank.errors import ParameterError
from taylorank.samplers.dynamic import DynamicSampler
from taylorank.samplers.in_batch import InBatchSampler
from taylorank.samplers.independent import PopularitySampler, UniformSampler

SAMPLERS: dict[str, Any] = {
    "uniform": UniformSampler,
    "popularity": PopularitySampler,
    "dynamic": DynamicSampler,
    "in-batch": InBatchSampler,
}


def names() -> tuple[str, ...]:
    """Return the names of all samplers."""
    return tuple(SAMPLERS)


def get(name: str) -> Any:
    """Return the class of the sampler called `name`."""
    try:
        return SAMPLERS[name]
    except (KeyError, TypeError):  # a list is no key
        raise ParameterError(f"no sampler is called {name!r}", f"choose from {', '.join(SAMPLERS)}") from None
