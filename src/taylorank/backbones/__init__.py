"""Backbones: what turns users, graphs, sequences and features into vectors whose inner product is the score.

Names, options and needs are read without torch; the backbones themselves are PyTorch.

>>> names()
('mf', 'lightgcn', 'sasrec', 'two-tower')
>>> get("lightgcn").options["layers"]
3
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taylorank.backbones.registry import BACKBONES, RegisteredBackbone, get, names
from taylorank.backbones.time_order import sequences
from taylorank.torch_extra import lazy_names

if TYPE_CHECKING:
    from taylorank.backbones.backbone import Backbone, Encoded
    from taylorank.backbones.features import hash_columns
    from taylorank.backbones.lightgcn import LightGCN
    from taylorank.backbones.mf import MF
    from taylorank.backbones.sasrec import SASRec
    from taylorank.backbones.two_tower import TwoTower

__all__ = [
    "BACKBONES",
    "MF",
    "Backbone",
    "Encoded",
    "LightGCN",
    "RegisteredBackbone",
    "SASRec",
    "TwoTower",
    "get",
    "hash_columns",
    "names",
    "sequences",
]
__getattr__ = lazy_names(
    __name__,
    {
        "MF": "mf",
        "Backbone": "backbone",
        "Encoded": "backbone",
        "LightGCN": "lightgcn",
        "SASRec": "sasrec",
        "TwoTower": "two_tower",
        "hash_columns": "features",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
