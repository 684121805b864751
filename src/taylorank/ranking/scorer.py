"""What a model must do to be ranked, evaluated and compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Ids, Interactions

ScoresOf = Callable[[NDArray[np.int64]], NDArray[Any]]


class Scorer(Protocol):
    """A fitted model: scores of all items for a block of users, by position in its own id spaces."""

    @property
    def users(self) -> Ids:
        """The users it knows."""
        ...

    @property
    def items(self) -> Ids:
        """The items it ranks."""
        ...

    @property
    def seen(self) -> Interactions:
        """The data it was trained on, which recommendations leave out."""
        ...

    def scores(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return (len(users), n_items) scores; higher ranks first."""
        ...


def ranks_by_products(model: Scorer) -> bool:
    """Whether inner products of `model.export_factors()` rank as its scores do."""
    return hasattr(model, "export_factors") and bool(getattr(model, "ranks_by_products", True))


def scores_of(model: Scorer) -> ScoresOf:
    """Return what scores a block of users; factors are exported once, not once per block."""
    if not ranks_by_products(model):
        return model.scores
    of_users, of_items = model.export_factors()  # type: ignore[attr-defined]

    def products(users: NDArray[np.int64]) -> NDArray[Any]:
        with np.errstate(invalid="ignore", over="ignore"):  # whoever asks looks for what is not a number
            scores: NDArray[Any] = of_users[users] @ of_items.T
        return scores

    return products
