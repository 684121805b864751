"""A model that `fit_best` found, with what it needs to compare it and to fit it again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from taylorank.metrics.judged import Values
from taylorank.models.recommender import Recommender
from taylorank.selection.selected import Candidate


@dataclass(eq=False)
class Found:
    """A candidate with its model, each user's values, and the seconds to fit it to all data and to judge it."""

    candidate: Candidate
    model: Recommender
    values: Values
    refit: float
    judging: float
    steps: int | None = None
    largest: int = 0  # of the ranks that were tried

    @property
    def value(self) -> float:
        """The metric on validation data."""
        assert self.candidate.value is not None
        return self.candidate.value

    def or_better(self, other: Found) -> Found:
        """Return the better of two searches for one model, with the settings and seconds of both."""
        better, one, two = max(self, other, key=lambda found: found.value), self.candidate, other.candidate
        tried, seconds = one.settings + two.settings, round(one.seconds + two.seconds, 2)
        return replace(better, candidate=replace(better.candidate, settings=tried, seconds=seconds))
