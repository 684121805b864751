"""What a model must do to be ranked, evaluated and compared."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Ids, Interactions


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
