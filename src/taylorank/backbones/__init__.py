"""Backbones: what turns users, graphs, sequences and features into vectors whose inner product is the score.

>>> names()
('mf', 'lightgcn', 'sasrec', 'two-tower')
>>> get("mf").__name__
'MF'
"""

from taylorank.torch_extra import require_torch

require_torch()

from taylorank.backbones.backbone import Backbone, Encoded  # noqa: E402
from taylorank.backbones.features import hash_columns  # noqa: E402
from taylorank.backbones.lightgcn import LightGCN  # noqa: E402
from taylorank.backbones.mf import MF  # noqa: E402
from taylorank.backbones.registry import BACKBONES, get, names  # noqa: E402
from taylorank.backbones.sasrec import SASRec  # noqa: E402
from taylorank.backbones.sequences import sequences  # noqa: E402
from taylorank.backbones.two_tower import TwoTower  # noqa: E402

__all__ = [
    "BACKBONES",
    "MF",
    "Backbone",
    "Encoded",
    "LightGCN",
    "SASRec",
    "TwoTower",
    "get",
    "hash_columns",
    "names",
    "sequences",
]
