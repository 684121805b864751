"""A model that `fit_best` found, with what it needs to compare it and to fit it again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from taylorank.metrics import bootstrap_means, percentile_interval
from taylorank.metrics.judged import Values
from taylorank.models.recommender import Recommender
from taylorank.selection.selected import Candidate, Interval

LEVEL = 0.95
DOUBT = 1.96  # standard errors of a mean over users


def mean_interval(values: Values, random_state: int) -> Interval:
    """Return a bootstrap interval of the mean over users."""
    column = values[:, None]
    means = bootstrap_means(column, np.ones_like(column), random_state=random_state)
    low, high = percentile_interval(means, LEVEL).ravel().tolist()
    return low, high


@dataclass(eq=False)
class Found:
    """A candidate with its model, and the seconds to fit it to all data and to judge it.

    Each of `looks` has the values of all users on one part held back, NaN for those who were not judged.
    """

    candidate: Candidate
    model: Recommender
    looks: tuple[Values, ...]
    refit: float
    judging: float
    steps: int | None = None
    largest: int = 0  # of the ranks that were tried

    @property
    def value(self) -> float:
        """The metric on validation data: the mean of its values on the parts held back."""
        assert self.candidate.mean is not None
        return self.candidate.mean

    def ahead_of(self, other: Found) -> Values:
        """Return each user's mean advantage on the parts that both were judged on."""
        pairs = zip(self.looks, other.looks, strict=False)
        differences = np.array([mine - theirs for mine, theirs in pairs])  # (parts, users)
        judged = ~np.isnan(differences)
        users = judged.any(axis=0)
        means: Values = np.nansum(differences[:, users], axis=0) / judged[:, users].sum(axis=0)
        return means

    def is_clearly_ahead_of(self, other: Found) -> bool:
        """Whether the mean advantage is beyond what chance makes of equals."""
        differences = self.ahead_of(other)
        return bool(differences.mean() > DOUBT * differences.std() / np.sqrt(len(differences)))

    def looked_at(self, values: Values, *, random_state: int = 0) -> Found:
        """Return the same with the values of one more part."""
        looks, further = (*self.looks, values), (*self.candidate.further, float(np.nanmean(values)))
        every = np.array(looks)  # (parts, users)
        judged = ~np.isnan(every)
        users = judged.any(axis=0)
        of_users = np.nansum(every[:, users], axis=0) / judged[:, users].sum(axis=0)
        candidate = replace(self.candidate, further=further, interval=mean_interval(of_users, random_state))
        return replace(self, candidate=candidate, looks=looks)

    def or_better(self, other: Found) -> Found:
        """Return the better of two searches for one model, with the settings and seconds of both."""
        better, one, two = max(self, other, key=lambda found: found.value), self.candidate, other.candidate
        tried, seconds = one.settings + two.settings, round(one.seconds + two.seconds, 2)
        return replace(better, candidate=replace(better.candidate, settings=tried, seconds=seconds))
