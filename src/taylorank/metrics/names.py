"""Metrics by name: "ndcg@10" is NDCG of the first 10 ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taylorank.errors import ParameterError
from taylorank.metrics.calibration import Binning
from taylorank.metrics.catalogue import CATALOGUE_METRICS
from taylorank.metrics.ranked import METRICS

DEFAULT = ("ndcg", "recall", "precision", "map", "mrr", "hit_rate")
CHOOSING = (*DEFAULT, "recall_min", "map_min", "dcg")  # metrics of which more is better
CALIBRATION: dict[str, Binning] = {"ece": "mass", "ece_width": "width"}
WITH_CUTOFF = (*METRICS, *CATALOGUE_METRICS, *CALIBRATION)
NAMES = (*WITH_CUTOFF, "auc")


@dataclass(frozen=True)
class Wanted:
    """One metric to report; `cutoff` is None for those of the whole ranking."""

    name: str
    cutoff: int | None

    def __str__(self) -> str:
        return self.name if self.cutoff is None else f"{self.name}@{self.cutoff}"


def wanted_metrics(metrics: str | Sequence[str], k: int | Sequence[int]) -> tuple[Wanted, ...]:
    """Return what is asked for, each once, by cutoff: a bare name stands for all of k, "recall@50" for itself.

    >>> [str(metric) for metric in wanted_metrics(("ndcg", "recall@50", "auc"), (10, 20))]
    ['ndcg@10', 'ndcg@20', 'recall@50', 'auc']
    """
    cutoffs = _cutoffs(k)
    asked = [metrics] if isinstance(metrics, str) else list(metrics)
    if not asked:
        raise ParameterError("no metric is named", f"choose from {', '.join(NAMES)}")
    found = [one for text in asked for one in _expanded(str(text), cutoffs)]
    found.sort(key=lambda one: (one.cutoff is None, one.cutoff))
    return tuple(dict.fromkeys(found))


def _expanded(text: str, cutoffs: list[int]) -> list[Wanted]:
    name, at, cutoff = text.partition("@")
    if name not in NAMES:
        raise ParameterError(f"no metric is called {name!r}", f"choose from {', '.join(NAMES)}")
    if name not in WITH_CUTOFF:
        if at:
            raise ParameterError(f"{text!r} has a cutoff, but {name} is of the whole ranking", f"write {name!r}")
        return [Wanted(name, None)]
    if not at:
        return [Wanted(name, c) for c in cutoffs]
    if not (cutoff.isascii() and cutoff.isdigit() and int(cutoff) >= 1):
        raise ParameterError(f"{text!r} holds no cutoff ≥ 1", f"write {name}@10")
    return [Wanted(name, int(cutoff))]


def _cutoffs(k: Any) -> list[int]:
    given = [k] if isinstance(k, int | np.integer) else list(k)
    whole = all(isinstance(c, int | np.integer) and not isinstance(c, bool) for c in given)
    if not given or not whole or min(given) < 1:
        raise ParameterError(f"k={k!r} holds no cutoff ≥ 1", "give one or more, such as (10, 20)")
    return sorted({int(c) for c in given})
