"""The models of a comparison: names, estimators, and the parameters that tuning may change."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from taylorank import losses
from taylorank.errors import ParameterError
from taylorank.models import RG2, RGX, WRMF, SampledRG2, SampledRGX
from taylorank.models.parameters import settled_params
from taylorank.models.recommender import Recommender
from taylorank.registry import MODELS, model_named
from taylorank.selection import peers
from taylorank.selection.ranges import Choice, Space, read_space
from taylorank.selection.spaces import SPACES, SPACES_BY_MODEL, described

Models = Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True)
class Contender:
    """A model as it is given, unfitted, with the space that tuning searches; no space, no tuning."""

    name: str
    label: str
    estimator: Any
    space: Space

    def fresh(self, **params: Any) -> Any:
        """Return an unfitted copy with some parameters changed; those it does not have are left out."""
        model = copy.deepcopy(self.estimator)
        known = self.params()
        changed = {name: value for name, value in params.items() if name in known}
        return model.set_params(**changed) if changed else model

    def params(self) -> dict[str, Any]:
        """Return the parameters it came with."""
        return dict(self.estimator.get_params()) if hasattr(self.estimator, "get_params") else {}

    def described(self) -> dict[str, Any]:
        """Return the description that the record holds."""
        return {
            "label": self.label,
            "class": type(self.estimator).__name__,
            "params": settled_params(self.estimator) if self.params() else {},
            "space": described(self.space),
        }


@dataclass(frozen=True)
class Variant:
    """A model as the papers have it, with the grid that their appendix names."""

    label: str
    make: Callable[[], Recommender]
    space: Space


_THRESHOLDS = Choice((0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9))
_PRINTED = Choice((0.0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0))
_SAMPLED = {"regularization": _PRINTED, "negatives": Choice((100, 200, 1000))}
# Literal: the printed λ (‖P‖² + ‖Q‖²), the λ grid of Pu et al. 2025, App. B.3, and its numbers of draws for SSM.
# RG: γ = 0, ρ = 1, K = 64, every threshold (the papers' λ grid lies in it). WRMF: α ≤ 8, λ ≤ 0.1, 20 settings.
VARIANTS: dict[str, Variant] = {
    "rg2-paper": Variant("RG2, papers'", RG2.paper, {"regularization": _THRESHOLDS}),
    "rgx-paper": Variant("RGX, papers'", RGX.paper, {"regularization": _THRESHOLDS}),
    "rg2-literal": Variant("RG2, as printed", RG2.literal, {"regularization": _PRINTED}),
    "rgx-literal": Variant("RGX, as printed", RGX.literal, {"regularization": _PRINTED}),
    "sampled-rg2-literal": Variant("SampledRG2, as printed", SampledRG2.literal, _SAMPLED),
    "sampled-rgx-literal": Variant("SampledRGX, as printed", SampledRGX.literal, _SAMPLED),
    "wrmf-paper": Variant(
        "WRMF, papers' grid",
        WRMF,
        {"alpha": Choice((0.5, 1.0, 2.0, 4.0, 8.0)), "regularization": Choice((0.0, 0.001, 0.01, 0.1))},
    ),
}


def known_names() -> list[str]:
    """Return the names that `contenders` takes, besides compositions such as "bpr/lightgcn"."""
    return [*MODELS, *VARIANTS, *peers.PEERS, *(name for name in losses.names() if name not in MODELS)]


def contenders(models: Models, spaces: Mapping[str, Mapping[str, Any]] | None = None) -> list[Contender]:
    """Return the contenders: names of models or peers, estimators, or a mapping from names to either.

    >>> [one.label for one in contenders(["rg2", "popularity"])]
    ['RG2', 'Popularity']
    """
    if not isinstance(models, Sequence | Mapping) or isinstance(models, str | bytes) or not len(models):
        raise ParameterError(f"models={models!r} is no list of models", 'write ["rg2", "popularity"]')
    pairs = models.items() if isinstance(models, Mapping) else [(None, model) for model in models]
    read = {name: read_space(space) for name, space in (spaces or {}).items()}
    found = [_contender(name, model, read) for name, model in pairs]
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"two models are called {twice!r}", "give a mapping with a name for each")
    unknown = sorted(set(read) - set(names))
    if unknown:
        raise ParameterError(f"spaces has {unknown[0]!r}, which is not compared", f"the models are {', '.join(names)}")
    return found


def _contender(name: str | None, model: Any, spaces: Mapping[str, Space]) -> Contender:
    variant = VARIANTS.get(model) if isinstance(model, str) else None
    if variant is not None:
        own = name or model
        return Contender(own, name or variant.label, variant.make(), spaces.get(own, variant.space))
    kind, estimator = _estimator(model)
    composed = getattr(estimator, "composition", None)
    own, label = name or composed or kind, name or composed or type(estimator).__name__
    space = spaces[own] if own in spaces else _default_space(kind, estimator)
    if space and not (hasattr(estimator, "get_params") and hasattr(estimator, "set_params")):
        raise ParameterError(f"{own} cannot be tuned", "give it get_params and set_params, or no space")
    return Contender(own, label, estimator, space)


def _default_space(kind: str, estimator: Any) -> Space:
    if kind in SPACES_BY_MODEL:
        return SPACES_BY_MODEL[kind](estimator)
    return SPACES.get(kind, peers.PEER_SPACES.get(kind, {}))


def _estimator(model: Any) -> tuple[str, Any]:
    """The name under which a model is registered, or else that of its class, and an instance."""
    if isinstance(model, str):
        if model in peers.PEERS:
            return model, peers.peer(model)
        return model, model_named(model)
    estimator = model() if isinstance(model, type) else model
    if not hasattr(estimator, "fit"):
        raise ParameterError(f"{model!r} is no model", "give a name, or an object with fit and scores")
    known = {**MODELS, **peers.PEERS}
    kinds = [name for name, kind in known.items() if type(estimator) is kind]
    return (kinds or [type(estimator).__name__])[0], estimator
