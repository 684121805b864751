"""What is measured in a comparison, and what tuning may cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from taylorank.errors import ParameterError
from taylorank.metrics import parse_metric, wanted_metrics
from taylorank.ranking.protocols import EvaluationProtocol

CUTOFFS = (1, 2, 5, 10, 20, 50, 100)
DEFAULT_TRIALS = 20
POPULARITY_CUTOFF = 10


@dataclass(frozen=True)
class Plan:
    """What every model goes through on every seed."""

    metrics: tuple[str, ...]
    primary: str
    curve: tuple[int, ...]
    popularity_cutoff: int
    trials: int | None
    seconds: float | None

    @property
    def tunes(self) -> bool:
        """Whether there is any budget for tuning."""
        return self.trials != 0 and self.seconds != 0


def make_plan(
    way: EvaluationProtocol,
    *,
    metrics: str | Sequence[str] | None,
    k: int | Sequence[int],
    trials: int | None,
    seconds: float | None,
    n_items: int,
) -> Plan:
    """Return the plan, or say what is wrong with it; the primary metric is the protocol's if it is asked for."""
    if trials is not None and (isinstance(trials, bool) or not isinstance(trials, int) or trials < 0):
        raise ParameterError(f"trials={trials!r} is not a count", "give a whole number ≥ 0; 0 means no tuning")
    if seconds is not None and not seconds > 0:
        raise ParameterError(f"seconds={seconds!r} allows nothing", "give more than 0")
    wanted = [str(one) for one in wanted_metrics(way.metrics if metrics is None else metrics, k)]
    if metrics is None:
        wanted = list(way.metrics)  # in the protocol's order
    primary = way.chooses if way.chooses in wanted else wanted[0]
    curve = tuple(c for c in CUTOFFS if c <= n_items) if parse_metric(primary).cutoff else ()
    budget = DEFAULT_TRIALS if trials is None and seconds is None else trials
    ordered = (primary, *(metric for metric in wanted if metric != primary))
    return Plan(ordered, primary, curve, POPULARITY_CUTOFF, budget, seconds)


def checked_seeds(seeds: Sequence[int]) -> list[int]:
    """Return the seeds as different whole numbers."""
    given = [seeds] if isinstance(seeds, int | np.integer) else list(seeds)
    if not given or len(set(given)) != len(given) or any(int(seed) != seed or seed < 0 for seed in given):
        raise ParameterError(f"seeds={seeds!r}", "give different whole numbers ≥ 0, such as (0, 1, 2)")
    return [int(seed) for seed in given]
