"""Every model by the name that the command line, tuning and comparisons use."""

from __future__ import annotations

from taylorank.errors import ParameterError
from taylorank.models.item_based import EASE, ItemKNN
from taylorank.models.popularity import Popularity
from taylorank.models.recommender import Recommender
from taylorank.models.rg import RG2, RGX
from taylorank.models.sampled import SampledRG2, SampledRGX
from taylorank.models.weighted import IALS, WRMF, ReleasedRG
from taylorank.training import Neural
from taylorank.training.names import COSINE_LOSSES, LOSS_NAMES

MODELS: dict[str, type[Recommender]] = {
    "rg2": RG2,
    "rgx": RGX,
    "sampled-rg2": SampledRG2,
    "sampled-rgx": SampledRGX,
    "released-rg": ReleasedRG,
    "wrmf": WRMF,
    "ials": IALS,
    "ease": EASE,
    "itemknn": ItemKNN,
    "popularity": Popularity,
    "neural": Neural,
}


def model_class(name: str) -> type[Recommender]:
    """Return the model called `name`.

    >>> model_class("rg2").__name__
    'RG2'
    """
    try:
        return MODELS[name]
    except KeyError:
        raise _unknown(name) from None


def model_named(name: str) -> Recommender:
    """Return an unfitted model: one of `MODELS`, or a composition `loss/backbone/sampler` such as "bpr/lightgcn".

    >>> model_named("ease"), model_named("bpr/lightgcn").backbone
    (EASE(regularization=200.0, max_items=None), 'lightgcn')
    """
    if name in MODELS:
        return MODELS[name]()
    parts = name.split("/")
    if len(parts) <= 3 and parts[0] in LOSS_NAMES:
        loss, backbone, sampler = [*parts, *("mf", "")[len(parts) - 1 :]]
        return Neural(loss, backbone, sampler or None, temperature=1.0 if loss in COSINE_LOSSES else None)
    raise _unknown(name)


def composition(model: Neural) -> str:
    """Return the name that makes `model`, up to its numbers.

    >>> [composition(model) for model in (Neural("bpr", sampler="dynamic"), Neural("softmax"), Neural("rg2"))]
    ['bpr/mf/dynamic', 'softmax', 'rg2/mf']
    """
    parts = [model.loss, model.backbone, model.sampler]
    while parts[-1] in (None, "mf"):
        parts.pop()
    name = "/".join(part for part in parts if part is not None)
    return f"{name}/mf" if name in MODELS else name  # "rg2" alone is the closed form


def _unknown(name: str) -> ParameterError:
    return ParameterError(
        f"no model is called {name!r}",
        f"choose from {', '.join(MODELS)}, or loss/backbone/sampler with a loss of {', '.join(LOSS_NAMES)}",
    )
