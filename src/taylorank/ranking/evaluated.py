"""The result of an evaluation: means, with users, intervals and counts behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data.frames import Library, frame_of
from taylorank.data.html import html_table
from taylorank.errors import ParameterError


@dataclass(frozen=True)
class EvaluatedUsers:
    """Who counts in the means, and who does not.

    Parameters
    ----------
    evaluated
        Users with test items whom the model knows: the means are over them.
    without_items, unknown
        Users left out: no test items; not known to the model.
    unknown_items
        Test interactions of the evaluated users with items that the model does not know. They count as misses.
    hidden_items
        Test interactions of the evaluated users that are in `seen`: hidden from the ranking, they count as misses.
    """

    evaluated: int
    without_items: int
    unknown: int
    unknown_items: int
    hidden_items: int = 0

    @property
    def skipped(self) -> dict[str, int]:
        """How many users are left out, by reason."""
        return {"no test items": self.without_items, "unknown to the model": self.unknown}


class Evaluation(dict[str, float]):
    """{"ndcg@10": mean over users, …}: a dictionary, and more.

    Parameters
    ----------
    means
        The value of each metric.
    users
        How many users were evaluated and how many left out, and why.
    per_user, user_ids
        With `per_user=True`: metric → value of each evaluated user, and their ids. A value that is not defined for a
        user (such as AUC where every candidate is relevant) is NaN and left out of the mean.
    intervals
        With `confidence=…`: metric → (low, high), by bootstrap over users. Metrics of all lists together have none.
    """

    def __init__(
        self,
        means: Mapping[str, float],
        *,
        users: EvaluatedUsers,
        user_ids: NDArray[Any] | None = None,
        per_user: Mapping[str, NDArray[np.float64]] | None = None,
        intervals: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        super().__init__(means)
        self.users = users
        self.user_ids = user_ids
        self.per_user = dict(per_user or {})
        self.intervals = dict(intervals or {})

    def to_frame(self, library: Library | None = None) -> Any:
        """Return the values of every user as a table (of the library in use): user, then one column per metric."""
        if self.user_ids is None:
            raise ParameterError("values per user were not kept", "evaluate with per_user=True")
        return frame_of({"user": self.user_ids, **self.per_user}, library)

    def __str__(self) -> str:
        """Return a line for each metric, four digits of it, and how many users are behind them.

        >>> users = EvaluatedUsers(evaluated=1200, without_items=0, unknown=0, unknown_items=0)
        >>> print(Evaluation({"ndcg@10": 0.12344, "recall@10": 0.2}, users=users, intervals={"ndcg@10": (0.11, 0.13)}))
        ndcg@10    0.1234  0.1100 – 0.1300
        recall@10  0.2000
        1,200 users evaluated
        """
        width = max((len(row[0]) for row in self._rows()), default=0)
        lines = [f"{row[0]:<{width}}  {'  '.join(row[1:])}".rstrip() for row in self._rows()]
        return "\n".join([*lines, self._caption()])

    def _repr_html_(self) -> str:
        """Return the means and intervals for notebooks."""
        head = ["metric", "mean", *(["interval"] if self.intervals else [])]
        return html_table(head, self._rows(), caption=self._caption())

    def _rows(self) -> list[list[str]]:
        """Return name and mean of each metric, and its interval or nothing where some have one."""
        rows = []
        for name, value in self.items():
            low, high = self.intervals.get(name, (None, None))
            interval = f"{low:.4f} – {high:.4f}" if low is not None else ""
            rows.append([name, f"{value:.4f}", *([interval] if self.intervals else [])])
        return rows

    def _caption(self) -> str:
        return f"{self.users.evaluated:,} users evaluated"
