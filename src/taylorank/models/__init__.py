"""What users fit."""

from taylorank.models.factor import FactorModel
from taylorank.models.item_based import EASE, ItemKNN
from taylorank.models.popularity import Popularity
from taylorank.models.rg import RG2, RGX
from taylorank.models.storage import load

__all__ = ["EASE", "RG2", "RGX", "FactorModel", "ItemKNN", "Popularity", "load"]
