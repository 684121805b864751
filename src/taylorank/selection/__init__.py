"""Choosing parameters and models on validation data, and comparing them on test data."""

from taylorank.selection.blocks import split_blocks
from taylorank.selection.comparing import CompareProgress, compare, compare_fitted
from taylorank.selection.comparison import Comparison
from taylorank.selection.space import SPACES, Choice, Range
from taylorank.selection.trial import Trial, Tuning
from taylorank.selection.tune import tune

__all__ = [
    "SPACES",
    "Choice",
    "CompareProgress",
    "Comparison",
    "Range",
    "Trial",
    "Tuning",
    "compare",
    "compare_fitted",
    "split_blocks",
    "tune",
]
