"""Ranking models from interaction logs, in closed form."""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taylorank.data import Interactions, check_leakage, datasets, merge, planted, read_interactions, share_ids
    from taylorank.models import (
        EASE,
        IALS,
        RG2,
        RGX,
        WRMF,
        Distilled,
        ItemKNN,
        Popularity,
        ReleasedRG,
        SampledRG2,
        SampledRGX,
        load,
    )
    from taylorank.ranking import evaluate
    from taylorank.selection.best import fit_best
    from taylorank.selection.comparing import compare
    from taylorank.selection.diagnosis import diagnose
    from taylorank.selection.ranges import Choice, Int, Range
    from taylorank.selection.tuning import tune
    from taylorank.training import Neural

try:
    __version__ = version("taylorank")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0.0.0+source"

# Public name → module that holds it; loaded on first use, so that `import taylorank` is quick.
_HOMES = {
    "Choice": "taylorank.selection.ranges",
    "Distilled": "taylorank.models",
    "EASE": "taylorank.models",
    "IALS": "taylorank.models",
    "Int": "taylorank.selection.ranges",
    "Interactions": "taylorank.data",
    "ItemKNN": "taylorank.models",
    "Neural": "taylorank.training",
    "Popularity": "taylorank.models",
    "RG2": "taylorank.models",
    "RGX": "taylorank.models",
    "Range": "taylorank.selection.ranges",
    "ReleasedRG": "taylorank.models",
    "SampledRG2": "taylorank.models",
    "SampledRGX": "taylorank.models",
    "WRMF": "taylorank.models",
    "check_leakage": "taylorank.data",
    "compare": "taylorank.selection",
    "diagnose": "taylorank.selection",
    "evaluate": "taylorank.ranking",
    "fit_best": "taylorank.selection",
    "load": "taylorank.models",
    "merge": "taylorank.data",
    "planted": "taylorank.data",
    "read_interactions": "taylorank.data",
    "share_ids": "taylorank.data",
    "tune": "taylorank.selection",
}

__all__ = [
    "EASE",
    "IALS",
    "RG2",
    "RGX",
    "WRMF",
    "Choice",
    "Distilled",
    "Int",
    "Interactions",
    "ItemKNN",
    "Neural",
    "Popularity",
    "Range",
    "ReleasedRG",
    "SampledRG2",
    "SampledRGX",
    "backbones",
    "check_leakage",
    "compare",
    "datasets",
    "diagnose",
    "evaluate",
    "fit_best",
    "load",
    "losses",
    "merge",
    "planted",
    "read_interactions",
    "samplers",
    "share_ids",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        importlib.import_module("taylorank.address_space").check_room_to_load()
    if name == "datasets":
        return importlib.import_module("taylorank.data.datasets")
    if name in ("losses", "backbones", "samplers"):
        return importlib.import_module(f"taylorank.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'taylorank' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
