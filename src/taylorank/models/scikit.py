"""What scikit-learn asks of an estimator beyond its parameters: a score, predictions, tags.

Rows of a matrix, or users of `Interactions`, are the samples. A user of a held-out fold is new to the model: the
history is folded in, and what was held back of it has to be found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.data import Interactions, read_interactions
from taylorank.errors import DataError
from taylorank.metrics import choosing_metric
from taylorank.models.histories import over_items
from taylorank.ranking import evaluate

GIVEN = 0.8  # of each history, where nothing else says what is to be found


def score(self: Any, X: Any, y: Any = None, *, metric: str = "ndcg@10", random_state: int = 0) -> float:
    """Return the mean of `metric` over the users of X, each folded in with the history in X and judged by `y`.

    X and `y` are `Interactions` or matrices (users × items) with the same rows. Without `y` a fifth of each history is
    held back at random, the same one for the same `random_state`, and has to be found from the rest.
    """
    wanted = str(choosing_metric(metric))
    history = _histories(self, X)
    if y is None:
        history, truth = history.split((GIVEN, 1 - GIVEN), random_state=random_state)
    else:
        truth = _truth(y, history, self.items)
    if not truth.nnz:
        raise DataError("there is nothing to find", "give users with at least two items, or y")
    return float(evaluate(self.fold_in(history), truth, seen=history, metrics=wanted)[wanted])


def _histories(model: Any, X: Any) -> Interactions:
    """Return X over the items of the model; a matrix must have as many columns."""
    expected = len(model.items)
    if sparse.issparse(X) and X.shape[1] != expected:
        cause = f"X has {X.shape[1]} features, but {type(model).__name__} is expecting {expected} features as input"
        raise DataError(cause, "give the columns of the matrix that was fitted")
    return over_items(read_interactions(X), model.items)


def _truth(y: Any, history: Interactions, items: Any) -> Interactions:
    if not sparse.issparse(y):
        return read_interactions(y)
    if y.shape != (history.n_users, len(items)):
        raise DataError(f"y is {y.shape[0]} × {y.shape[1]}", f"give {history.n_users} rows and {len(items)} columns")
    return Interactions.from_matrix(y, users=history.users, items=items)


def predict(self: Any, X: Any, n: int = 10) -> NDArray[Any]:
    """Return the ids of the n best items for each history in X, (users, n), folded in; short lists are padded."""
    history = _histories(self, X)
    ids: NDArray[Any] = self.fold_in(history).recommend(history.user_ids, n)[0]
    return ids


def sklearn_tags(self: Any) -> Any:
    """Return what scikit-learn needs to know: sparse matrices with values ≥ 0, and no target."""
    from sklearn.utils import InputTags, Tags, TargetTags

    inputs = InputTags(sparse=True, two_d_array=False, positive_only=True)
    tags = Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=inputs)
    tags.non_deterministic = getattr(self, "random_state", 0) is None
    return tags


def columns_seen(self: Any) -> int:
    """The number of columns of the matrix that was fitted, under the name scikit-learn has for it."""
    return int(np.int64(len(self.items)))
