"""The signatures of implicit (0.7): `import taylorank.compat.implicit as implicit`.

`implicit.als.AlternatingLeastSquares` minimises the same loss as there, `implicit.nearest_neighbours` has the same
similarities, `implicit.evaluation` the same metrics; `rg.RG2` is this library's model behind the same methods, and
`bpr` and `lmf` need torch. docs/compat.md says what differs.
"""

from importlib import import_module
from typing import Any

from taylorank.compat.implicit import als, approximate_als, bpr, evaluation, lmf, nearest_neighbours, rg, utils
from taylorank.errors import MissingExtraError

__all__ = ["als", "approximate_als", "bpr", "evaluation", "gpu", "lmf", "nearest_neighbours", "rg", "utils"]

# What implicit has besides → what to do in its place.
REMEDIES = {
    "ann": "lists are exact here; for an index of your own, export taylorank.IALS or RG2 (model.export)",
    "cpu": "the classes of als, bpr and lmf compute on the CPU with use_gpu=False",
    "datasets": 'taylorank.datasets has public data sets: datasets.get("ml-20m")',
    "recommender_base": "catch taylorank.errors.TaylorankError, and test for the methods a model needs",
}


def __getattr__(name: str) -> Any:
    if name == "gpu":  # which may have to import torch
        return import_module("taylorank.compat.implicit.gpu")
    if name in REMEDIES:
        raise MissingExtraError(f"taylorank.compat.implicit has no {name}", REMEDIES[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
