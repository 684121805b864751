"""Every model by the name that the command line, tuning and comparisons use."""

from __future__ import annotations

from taylorank import losses
from taylorank.errors import ParameterError
from taylorank.models.distilled import Distilled
from taylorank.models.ease import EASE
from taylorank.models.item_based import ItemKNN
from taylorank.models.popularity import Popularity
from taylorank.models.recommender import Recommender
from taylorank.models.rg import RG2, RGX
from taylorank.models.sampled import SampledRG2, SampledRGX
from taylorank.models.weighted import IALS, WRMF, ReleasedRG
from taylorank.training import Neural
from taylorank.training.composition import is_composition, parts_named

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
    "distilled": Distilled,
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
    (EASE(regularization=200.0, neighbours=None, max_items=None, device='auto'), 'lightgcn')
    """
    if name in MODELS:
        return MODELS[name]()
    if is_composition(name):
        loss, backbone, sampler = parts_named(name)
        return Neural(loss, backbone, sampler, temperature=losses.get(loss).default_temperature)
    raise _unknown(name)


def composition(model: Neural) -> str:
    """Return the name that makes `model`, up to its numbers.

    >>> [composition(model) for model in (Neural("bpr", sampler="dynamic"), Neural("softmax"), Neural("rg2"))]
    ['bpr/mf/dynamic', 'softmax', 'rg2/mf']
    """
    return model.composition


def _unknown(name: str) -> ParameterError:
    return ParameterError(
        f"no model is called {name!r}",
        f"choose from {', '.join(MODELS)}, or loss/backbone/sampler with a loss of {', '.join(losses.names())}",
    )
