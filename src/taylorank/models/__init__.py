"""What users fit."""

from taylorank.models.distilled import Distilled
from taylorank.models.ease import EASE
from taylorank.models.factor import FactorModel
from taylorank.models.fitting import FitProgress
from taylorank.models.item_based import ItemKNN
from taylorank.models.popularity import Popularity
from taylorank.models.recommender import Recommender
from taylorank.models.rg import RG2, RGX
from taylorank.models.sampled import SampledRG2, SampledRGX
from taylorank.models.storage import load
from taylorank.models.weighted import IALS, WRMF, ReleasedRG
from taylorank.ranking import Explanation

__all__ = [
    "EASE",
    "IALS",
    "RG2",
    "RGX",
    "WRMF",
    "Distilled",
    "Explanation",
    "FactorModel",
    "FitProgress",
    "ItemKNN",
    "Popularity",
    "Recommender",
    "ReleasedRG",
    "SampledRG2",
    "SampledRGX",
    "load",
]
