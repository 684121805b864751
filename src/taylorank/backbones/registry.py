"""Every backbone by its name, with what is declared about it; torch is not needed to read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from taylorank.checks import check_name
from taylorank.data import Interactions
from taylorank.torch_extra import import_with_torch

if TYPE_CHECKING:
    from taylorank.backbones.backbone import Backbone


@dataclass(frozen=True)
class RegisteredBackbone:
    """What others ask about a backbone. Calling it, or `build`, makes one, which needs torch."""

    name: str
    formula: str
    reference: str
    class_at: str = field(repr=False)  # "module:name" within this package
    options: Mapping[str, Any]  # with their defaults
    takes: Literal["users", "sequences"] = "users"  # what a query is made of
    has_sparse_gradients: bool = False  # on request, where vectors are looked up by number
    begins_at_factors: bool = False  # training can start from the vectors of another model

    @property
    def cls(self) -> type[Backbone]:
        """The class; needs torch."""
        kind: type[Backbone] = import_with_torch(f"taylorank.backbones.{self.class_at}")
        return kind

    def __call__(self, **arguments: Any) -> Backbone:
        """Make the backbone: n_users, n_items, factors, and its options."""
        return self.cls(**arguments)

    def build(self, data: Interactions, factors: int, **options: Any) -> Backbone:
        """Make the backbone of `data`, which gives the counts and whatever structure the backbone needs."""
        return self.cls.build(data, factors, **options)


_LIST = (
    RegisteredBackbone(
        "mf",
        "o_xy = P_x · Q_y + b_y + a_x",
        "Koren, Bell, Volinsky 2009",
        "mf:MF",
        options={"item_bias": False, "user_bias": False, "std": 0.1},
        has_sparse_gradients=True,
        begins_at_factors=True,
    ),
    RegisteredBackbone(
        "lightgcn",
        "o_xy = P_x · Q_y,  [P; Q] = (E + A E + … + A^L E) / (L + 1)",
        "He et al. 2020",
        "lightgcn:LightGCN",
        options={"layers": 3, "ranks_by": "similarity", "std": 0.1},
        begins_at_factors=True,
    ),
    RegisteredBackbone(
        "sasrec",
        "o_xy = h_x · Q_y,  h_x the last state of a causal transformer over the history of x",
        "Kang, McAuley 2018",
        "sasrec:SASRec",
        options={"length": 50, "blocks": 2, "heads": 1, "hidden": None, "dropout": 0.2, "std": 0.02},
        takes="sequences",
    ),
    RegisteredBackbone(
        "two-tower",
        "o_xy = f(x) · g(y),  f and g multilayer perceptrons over ids and side features",
        "Covington, Adams, Sargin 2016",
        "two_tower:TwoTower",
        options={
            **{"user_features": None, "item_features": None, "id_dropout": None},
            **{"hidden": (128,), "activation": "gelu", "std": 0.1},
        },
    ),
)
BACKBONES = {backbone.name: backbone for backbone in _LIST}


def names() -> tuple[str, ...]:
    """Return the names of all backbones."""
    return tuple(BACKBONES)


def get(name: str) -> RegisteredBackbone:
    """Return what is registered for the backbone called `name`.

    >>> get("sasrec").takes
    'sequences'
    """
    return check_name(name, BACKBONES, "backbone")
