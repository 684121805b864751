"""What users fit."""

from taylorank.models.explain import Explanation
from taylorank.models.factor import FactorModel
from taylorank.models.item_based import EASE, ItemKNN
from taylorank.models.popularity import Popularity
from taylorank.models.rg import RG2, RGX
from taylorank.models.storage import load
from taylorank.models.weighted import IALS, WRMF

__all__ = ["EASE", "IALS", "RG2", "RGX", "WRMF", "Explanation", "FactorModel", "ItemKNN", "Popularity", "load"]
