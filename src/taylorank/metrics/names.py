"""Metrics by name, the one place that reads them: "ndcg@10" is NDCG of the first 10 ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taylorank.errors import ParameterError, shown
from taylorank.metrics.calibration import Binning
from taylorank.metrics.catalogue import CATALOGUE_METRICS
from taylorank.metrics.ranked import METRICS

DEFAULT = ("ndcg", "recall", "precision", "map", "mrr", "hit_rate")
CHOOSING = (*DEFAULT, "recall_min", "map_min", "dcg")  # those whose highest mean over users is the best ranking
CALIBRATION: dict[str, Binning] = {"ece": "mass", "ece_width": "width"}
WITH_CUTOFF = (*METRICS, *CATALOGUE_METRICS, *CALIBRATION)
NAMES = (*WITH_CUTOFF, "auc")
LOWER_IS_BETTER = (*CALIBRATION, "gini", "popularity")
MOST = 100_000  # cutoff: lists of thousands of users, padded to it, are held at a time


@dataclass(frozen=True)
class Wanted:
    """One metric; `cutoff` is None for those of the whole ranking, and for a name that is asked for at all cutoffs."""

    name: str
    cutoff: int | None

    @property
    def higher_is_better(self) -> bool:
        """Whether more of it is better."""
        return self.name not in LOWER_IS_BETTER

    @property
    def may_choose(self) -> bool:
        """Whether models may be chosen by it: it measures the quality of a ranking at a cutoff."""
        return self.name in CHOOSING and self.cutoff is not None

    def __str__(self) -> str:
        return self.name if self.cutoff is None else f"{self.name}@{self.cutoff}"


def split_metric(text: str) -> tuple[str, str | None]:
    """Return name and cutoff as they are written, known or not; `parse_metric` checks them.

    >>> split_metric("ndcg@10"), split_metric("regret")
    (('ndcg', '10'), ('regret', None))
    """
    name, at, cutoff = str(text).partition("@")
    return name, cutoff if at else None


def parse_metric(text: str) -> Wanted:
    """Read "name" or "name@cutoff".

    >>> parse_metric("ndcg@10"), parse_metric("auc")
    (Wanted(name='ndcg', cutoff=10), Wanted(name='auc', cutoff=None))
    """
    name, cutoff = split_metric(text)
    if name not in NAMES:
        raise ParameterError(f"no metric is called {name!r}", f"choose from {', '.join(NAMES)}")
    if cutoff is None:
        return Wanted(name, None)
    if name not in WITH_CUTOFF:
        raise ParameterError(f"{text!r} has a cutoff, but {name} is of the whole ranking", f"write {name!r}")
    if not (cutoff.isascii() and cutoff.isdigit() and len(cutoff) < 4000 and int(cutoff) >= 1):
        raise ParameterError(f"{text!r} holds no cutoff ≥ 1", f"write {name}@10")
    return Wanted(name, _bearable(int(cutoff)))


def choosing_metric(text: str) -> Wanted:
    """Read a metric by which models are chosen; refuse others.

    >>> str(choosing_metric("recall@20"))
    'recall@20'
    """
    metric = parse_metric(text)
    if metric.may_choose:
        return metric
    if metric.name in CHOOSING:
        raise ParameterError(f"the metric {text!r} has no cutoff", f"write {metric.name}@10")
    reason = "models are not chosen by" if metric.higher_is_better else "lower is better for"
    raise ParameterError(f"{reason} {metric.name}", f"choose from {', '.join(f'{name}@10' for name in CHOOSING)}")


def wanted_metrics(metrics: str | Sequence[str], k: int | Sequence[int]) -> tuple[Wanted, ...]:
    """Return the wanted metrics, each once, by cutoff: a bare name means all of k, "recall@50" only itself.

    >>> [str(metric) for metric in wanted_metrics(("ndcg", "recall@50", "auc"), (10, 20))]
    ['ndcg@10', 'ndcg@20', 'recall@50', 'auc']
    """
    cutoffs = _cutoffs(k)
    asked = [parse_metric(text) for text in ([metrics] if isinstance(metrics, str) else metrics)]
    if not asked:
        raise ParameterError("no metric is named", f"choose from {', '.join(NAMES)}")
    found = [one for metric in asked for one in _at_cutoffs(metric, cutoffs)]
    found.sort(key=lambda one: (one.cutoff is None, one.cutoff))
    return tuple(dict.fromkeys(found))


def _at_cutoffs(metric: Wanted, cutoffs: list[int]) -> list[Wanted]:
    if metric.cutoff is not None or metric.name not in WITH_CUTOFF:
        return [metric]
    return [Wanted(metric.name, cutoff) for cutoff in cutoffs]


def _cutoffs(k: Any) -> list[int]:
    given = list(k) if isinstance(k, Iterable) and not isinstance(k, str | bytes) else [k]
    whole = all(isinstance(c, int | np.integer) and not isinstance(c, bool) for c in given)
    if not given or not whole or min(given) < 1:
        raise ParameterError(f"k={shown(k)} holds no cutoff ≥ 1", "give one or more, such as (10, 20)")
    return sorted({_bearable(int(c)) for c in given})


def _bearable(cutoff: int) -> int:
    if cutoff > MOST:
        raise ParameterError(f"the cutoff {shown(cutoff)} is more than {MOST:,}", "give a smaller one")
    return cutoff
