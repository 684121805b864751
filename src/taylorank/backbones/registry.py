"""Every backbone by its name."""

from __future__ import annotations

from taylorank.backbones.backbone import Backbone
from taylorank.backbones.lightgcn import LightGCN
from taylorank.backbones.mf import MF
from taylorank.backbones.sasrec import SASRec
from taylorank.backbones.two_tower import TwoTower
from taylorank.errors import ParameterError

BACKBONES: dict[str, type[Backbone]] = {"mf": MF, "lightgcn": LightGCN, "sasrec": SASRec, "two-tower": TwoTower}


def names() -> tuple[str, ...]:
    """Return the names of all backbones."""
    return tuple(BACKBONES)


def get(name: str) -> type[Backbone]:
    """Return the class of the backbone called `name`."""
    try:
        return BACKBONES[name]
    except (KeyError, TypeError):  # a list is no key
        raise ParameterError(f"no backbone is called {name!r}", f"choose from {', '.join(BACKBONES)}") from None
