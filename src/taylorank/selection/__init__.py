"""Choosing parameters and models on validation data, and comparing them on test data."""

from taylorank.selection.blocks import split_blocks
from taylorank.selection.comparing import CompareProgress, compare, compare_fitted
from taylorank.selection.comparison import Comparison
from taylorank.selection.diagnosis import Diagnosis, diagnose
from taylorank.selection.spaces import SPACES, Choice, Range
from taylorank.selection.trials import Trial
from taylorank.selection.tuning import Tuning, tune

__all__ = [
    "SPACES",
    "Choice",
    "CompareProgress",
    "Comparison",
    "Diagnosis",
    "Range",
    "Trial",
    "Tuning",
    "compare",
    "compare_fitted",
    "diagnose",
    "split_blocks",
    "tune",
]
