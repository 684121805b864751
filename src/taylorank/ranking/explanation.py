"""Which items of a user's history contributed to a recommendation.

For given items every model is linear in the history: u_x = Σ_j u_xj over the items j in the history of x, so

    score of y = b_y + Σ_j a_y (u_xj · v_y)

with a, b, v from the score that ranks (for RG² by probability v_y = Q_y, a_y = b_y = q_y). The contribution of j is
a_y u_xj · v_y; for EASE and ItemKNN it is r_j W_jy.

The u_xj are those of an exact fold-in of the history. A stored u_x equals it only where the fit has converged, so the
score explained may differ slightly from that of `recommend`, and is what `fold_in` would give.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.checks import check_whole, typed
from taylorank.data import Ids, Interactions
from taylorank.data.frames import Library, frame_of
from taylorank.data.html import html_table
from taylorank.errors import DataError, ParameterError
from taylorank.ranking.ranker import Rankable, Ranker, ranker_of
from taylorank.ranking.rows import take_rows

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Explanation:
    """score = base + Σ of the contributions of the whole history; `items` are the n largest of them, by id."""

    items: NDArray[Any]
    contributions: Floats
    base: float
    score: float

    def to_frame(self, library: Library | None = None) -> Any:
        """Return items and contributions as a table, by default of the library in use."""
        return frame_of({"item": self.items, "contribution": self.contributions}, library)

    def _repr_html_(self) -> str:
        """Return the contributions for notebooks."""
        rows = [[str(i), f"{c:.4g}"] for i, c in zip(self.items.tolist(), self.contributions.tolist(), strict=True)]
        caption = f"score {self.score:.4g} = base {self.base:.4g} + contributions of the history"
        return html_table(["item", "contribution"], rows, caption=caption)


@typed
def explain(model: Rankable, user: Any, item: Any, *, n: int | None = 10) -> Explanation:
    """Return the contributions to the score of `item` for `user`; see the models' `explain`."""
    if n is not None:
        check_whole(n, "n", remedy="ask for at least one item, or None for all")
    ranker = ranker_of(model)
    row = int(ranker.users.require([user], "user", remedy="for a new user, explain on model.fold_in(history)")[0])
    column = int(ranker.items.require([item], "item")[0])
    if not ranker.seen.nnz:
        raise DataError("this model was saved without the histories of its users", "explain on model.fold_in(history)")
    if ranker.is_cold(np.array([row]))[0]:
        base = float(ranker.popular_scores[column])
        return Explanation(ranker.items.take(np.empty(0, dtype=np.int64)), np.empty(0), base, base)
    history = _history(ranker.seen, row)
    items, contributions, base = contributions_of(ranker, history, column)
    order = np.argsort(-contributions, kind="stable")[:n]
    score = base + float(contributions.sum())
    return Explanation(ranker.items.take(items[order]), contributions[order], base, score)


def _history(seen: Interactions, row: int) -> Interactions:
    """The interactions of one user, by position, over the same items."""
    one = take_rows(seen.by_user, np.array([row]))
    return Interactions(one, Ids(seen.user_ids[row : row + 1]), seen.items)


def contributions_of(ranker: Ranker, history: Interactions, column: int) -> tuple[NDArray[Any], Floats, float]:
    """Return the items of the history, what each adds to the score of `column`, and the score without history."""
    vectors = ranker.vectors
    if ranker.contributions is not None:
        return ranker.contributions(history, column)
    if vectors is None or vectors.fold_in is None:
        raise ParameterError(f"{ranker.name} cannot explain its scores", "explain another model")
    scale = 1.0 if vectors.scales is None else float(vectors.scales[column])
    base = 0.0 if vectors.offsets is None else float(vectors.offsets[column])
    vector = scale * vectors.items.factors[column].astype(np.float64)
    return history.by_user.indices, vectors.fold_in.contributions(history, vector), base
