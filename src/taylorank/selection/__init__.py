"""Choosing parameters and models on validation data, and comparing them on test data."""

from taylorank.selection.best import fit_best
from taylorank.selection.blocks import split_blocks
from taylorank.selection.comparing import CompareProgress, compare, compare_fitted
from taylorank.selection.comparison import Comparison
from taylorank.selection.diagnosis import Diagnosis, diagnose
from taylorank.selection.hold_out import HeldBack, hold_back
from taylorank.selection.ranges import Choice, Int, Range
from taylorank.selection.selected import Candidate, Selection
from taylorank.selection.spaces import SPACES
from taylorank.selection.trials import Trial
from taylorank.selection.tuning import Tuning, tune

__all__ = [
    "SPACES",
    "Candidate",
    "Choice",
    "CompareProgress",
    "Comparison",
    "Diagnosis",
    "HeldBack",
    "Int",
    "Range",
    "Selection",
    "Trial",
    "Tuning",
    "compare",
    "compare_fitted",
    "diagnose",
    "fit_best",
    "hold_back",
    "split_blocks",
    "tune",
]
