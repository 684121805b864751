"""Choosing parameters and models on validation data."""

from taylorank.selection.space import SPACES, Choice, Range
from taylorank.selection.trial import Trial, Tuning
from taylorank.selection.tune import tune

__all__ = ["SPACES", "Choice", "Range", "Trial", "Tuning", "tune"]
