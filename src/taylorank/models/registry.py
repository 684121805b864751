"""Every model by the name that the command line, tuning and comparisons use."""

from __future__ import annotations

from taylorank.errors import ParameterError
from taylorank.models.item_based import EASE, ItemKNN
from taylorank.models.popularity import Popularity
from taylorank.models.recommender import Recommender
from taylorank.models.rg import RG2, RGX
from taylorank.models.sampled import SampledRG2, SampledRGX
from taylorank.models.weighted import IALS, WRMF, ReleasedRG

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
}


def model_class(name: str) -> type[Recommender]:
    """Return the model called `name`.

    >>> model_class("rg2").__name__
    'RG2'
    """
    try:
        return MODELS[name]
    except KeyError:
        raise ParameterError(f"no model is called {name!r}", f"choose from {', '.join(MODELS)}") from None
