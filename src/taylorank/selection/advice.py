"""Advice for the next search, from a finished one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.models.recommender import Recommender
from taylorank.selection.diagnosis import LARGE, SMALL
from taylorank.selection.ranges import Choice, Range, Space
from taylorank.selection.study import GRACE
from taylorank.selection.trials import Trial

BINS = 4
EDGE = 0.03  # of a range, from its end
LOGIT_USERS = 500


def advise(
    space: Space,
    best: dict[str, Any],
    trials: Sequence[Trial],
    model: Recommender | None,
    *,
    random_state: int = 0,
    largest: int | None = None,
) -> list[str]:
    """Return lines of advice: parameters that mattered, values at an edge, the Taylor expansion, failed trials.

    `largest` is the largest rank that the data has, beyond which there is nothing to search.
    """
    lines = _importance_lines(space, trials)
    inner = {name: part for name, part in space.items() if name != "factors" or best[name] != largest}
    lines += [line for name, part in inner.items() if (line := edge_line(name, part, best[name]))]
    if model is not None and hasattr(model, "proposal_") and hasattr(model, "item_factors_"):
        lines.append(taylor_line(model, random_state=random_state))
    failed = [trial for trial in trials if trial.status == "failed"]
    if failed:
        lines.append(f"{len(failed)} of {len(trials)} trials failed; the first: {failed[0].note}")
    return lines


def budget_lines(unfinished: Sequence[str], *, overrun: float, seconds: float | None) -> list[str]:
    """Return what the budget left open, and by how much it was overrun.

    >>> budget_lines(["rank 1024 was not tried"], overrun=30.0, seconds=20.0)
    ['inconclusive: rank 1024 was not tried', 'took 50 s, 30 s more than its budget of 20 s']
    """
    lines = [f"inconclusive: {what}" for what in unfinished]
    if seconds is not None and overrun > GRACE * seconds:
        lines.append(f"took {seconds + overrun:.3g} s, {overrun:.3g} s more than its budget of {seconds:g} s")
    return lines


def _importance_lines(space: Space, trials: Sequence[Trial]) -> list[str]:
    """Return the line about which parameters mattered most over the trials."""
    shares = importance(space, trials)
    if not shares:
        return []
    percents = [f"{name} {100 * share:.0f} %" for name, share in sorted(shares.items(), key=lambda pair: -pair[1])]
    return [f"share of the variance of the value that each parameter explains alone: {', '.join(percents)}"]


def importance(space: Space, trials: Sequence[Trial]) -> dict[str, float]:
    """Return Σ_g n_g (mean_g − mean)² / Σ (value − mean)² for each parameter, g its values or quarters of its range.

    Only the trials judged on the same users are compared: the most frequent number of users.
    """
    complete = [trial for trial in trials if trial.status == "complete"]
    usual = Counter(trial.users for trial in complete).most_common(1)
    common = [trial for trial in complete if trial.users == usual[0][0]]
    values = np.array([trial.value for trial in common], dtype=np.float64)
    if len(values) < 2 * BINS or not np.ptp(values) > 0:
        return {}
    return {
        name: explained(np.array([_bin(part, trial.params[name]) for trial in common]), values)
        for name, part in space.items()
        if len({repr(trial.params[name]) for trial in common}) > 1
    }


def explained(groups: NDArray[Any], values: NDArray[np.float64]) -> float:
    """Return the share of the variance that lies between groups.

    >>> explained(np.array([0, 0, 1, 1]), np.array([1.0, 1.0, 3.0, 3.0]))
    1.0
    """
    mean = values.mean()
    between = sum(np.sum(groups == g) * (values[groups == g].mean() - mean) ** 2 for g in np.unique(groups))
    return float(between / np.sum((values - mean) ** 2))


def _bin(part: Range | Choice, value: Any) -> int:
    if isinstance(part, Choice):
        return part.values.index(value) if value in part.values else -1
    return min(int(BINS * part.share(value)), BINS - 1)


def edge_line(name: str, part: Range | Choice, value: Any) -> str:
    """Return a line if the best value is the first or last of those allowed, unless that is 0, the least possible."""
    if isinstance(part, Choice):
        numbers = [v for v in part.values if isinstance(v, int | float) and not isinstance(v, bool)]
        if len(numbers) < 2 or len(numbers) < len(part.values):
            return ""
        low, high, share = min(numbers), max(numbers), (value - min(numbers)) / (max(numbers) - min(numbers))
        margin = 0.0
    else:
        low, high, share, margin = part.low, part.high, part.share(value), EDGE
    if low == high or not (share <= margin or share >= 1 - margin) or (share <= margin and low == 0):
        return ""
    end, way = ("lower", f"below {low:g}") if share <= margin else ("upper", f"above {high:g}")
    return f"{name} = {value:g} is at the {end} edge of what was tried; search {way} too"


def taylor_line(model: Any, *, random_state: int) -> str:
    """Return a line on the size of the scores o: the expansion of softmax holds where |o| is well below 1."""
    users = np.random.default_rng(random_state).permutation(len(model.users))[:LOGIT_USERS]
    mean = float(np.abs(model.user_factors[users] @ model.item_factors.T).mean())
    verdict = (
        "the Taylor regime holds (|o| well below 1)"
        if mean < SMALL
        else "the Taylor regime holds only roughly (|o| below 1)"
        if mean < LARGE
        else "outside the Taylor regime (|o| ≥ 1): read the scores as a ranking, not as logits"
    )
    return f"mean |o| over all items is {mean:.2g}: {verdict}"
