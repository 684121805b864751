"""Interactions: which user with which item, how strongly, and when. The one data type of the library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taylorank.checks import typed
from taylorank.data.csr import CSR, Weights, freeze, indptr_of
from taylorank.data.ids import Ids
from taylorank.data.steps import Step
from taylorank.data.truth import Truth
from taylorank.deprecation import also_named

if TYPE_CHECKING:
    from taylorank.data.split import HeldOut

Duplicates = Literal["last", "sum", "max"]


@dataclass(frozen=True, eq=False, repr=False)
class Interactions:
    """A sparse matrix R of strengths r_xy ≥ 0 (users × items) with original ids and, optionally, times.

    Immutable: cleaning and splitting return new objects. Parts of one split share their id spaces, so position
    17 is the same user in all of them.

    >>> data = Interactions.from_arrays(["ann", "ann", "bob"], ["tea", "milk", "tea"])
    >>> data
    Interactions(2 users × 2 items, 3 interactions, density 75 %)
      from arrays → 2 users × 2 items, 3 interactions
    >>> data.matrix.toarray()
    array([[1., 1.],
           [0., 1.]], dtype=float32)
    """

    by_user: CSR
    users: Ids
    items: Ids
    timestamps: NDArray[Any] | None = None
    steps: tuple[Step, ...] = ()
    truth: Truth | None = None

    @classmethod
    def from_arrays(
        cls,
        users: Sequence[Any] | NDArray[Any],
        items: Sequence[Any] | NDArray[Any],
        *,
        strengths: Sequence[float] | NDArray[Any] | None = None,
        timestamps: Sequence[Any] | NDArray[Any] | None = None,
        duplicates: Duplicates = "last",
    ) -> Interactions:
        """Build from columns of equal length; repeated pairs are merged as `read_interactions` says."""
        from taylorank.data.assemble import from_columns

        return from_columns(users, items, strengths, timestamps, duplicates=duplicates, action="from arrays")

    @classmethod
    def from_positions(
        cls,
        users: tuple[Ids, NDArray[np.int32]],
        items: tuple[Ids, NDArray[np.int32]],
        *,
        strengths: Weights | None = None,
        timestamps: NDArray[Any] | None = None,
    ) -> Interactions:
        """Build over given id spaces: (ids, position of each row) for users and for items."""
        from taylorank.data.assemble import from_positions

        return from_positions(users, items, strengths, timestamps)

    @classmethod
    @typed
    def from_matrix(cls, matrix: Any, *, users: Ids | None = None, items: Ids | None = None) -> Interactions:
        """Build from a SciPy sparse matrix (users × items); ids are row and column numbers unless given."""
        from taylorank.data.assemble import from_matrix

        return from_matrix(matrix, users=users, items=items)

    @property
    def n_users(self) -> int:
        """How many users the id space holds, those without interactions included."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """How many items the id space holds, those without interactions included."""
        return len(self.items)

    @property
    def shape(self) -> tuple[int, int]:
        """(n_users, n_items)."""
        return self.n_users, self.n_items

    def __getitem__(self, users: Any) -> Interactions:
        """Return some users by row number, as a matrix is indexed: `data[:100]`, `data[[3, 5]]`, `data[mask]`."""
        from taylorank.data.some_users import users_at

        return users_at(self, users)

    @property
    def nnz(self) -> int:
        """How many distinct (user, item) pairs there are."""
        return self.by_user.nnz

    @property
    def density(self) -> float:
        """nnz / (n_users · n_items)."""
        cells = self.n_users * self.n_items
        return self.nnz / cells if cells else 0.0

    @property
    def user_ids(self) -> NDArray[Any]:
        """The original user ids, in the order of the rows."""
        return self.users.values

    @property
    def item_ids(self) -> NDArray[Any]:
        """The original item ids, in the order of the columns."""
        return self.items.values

    @property
    def is_binary(self) -> bool:
        """Whether every strength is 1."""
        return self.by_user.weights is None

    @property
    def strengths(self) -> Weights:
        """r_xy of each interaction, by user; takes no memory when all are 1."""
        if self.by_user.weights is None:
            return np.broadcast_to(np.float32(1), (self.nnz,))
        return self.by_user.weights

    @cached_property
    def item_popularity(self) -> NDArray[np.float64]:
        """Σ_x r_xy of every item, (n_items,)."""
        weights = None if self.is_binary else self.strengths.astype(np.float64)
        counts = np.bincount(self.by_user.indices, weights, minlength=self.n_items)
        return freeze(counts.astype(np.float64))

    @cached_property
    def typical_strength(self) -> float:
        """The median strength, the unit in which models measure popularity; 1 where all are 1, or there are none."""
        return 1.0 if self.is_binary or not self.nnz else float(np.median(self.strengths))

    @cached_property
    def relative_popularity(self) -> NDArray[np.float64]:
        """Σ_x r_xy of every item over the typical strength: how many typical interactions it has, (n_items,)."""
        return freeze(self.item_popularity / self.typical_strength)

    @cached_property
    def by_item(self) -> CSR:
        """The same strengths by item: rows are items, columns users."""
        return self.by_user.transpose()

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """R as a SciPy CSR array, users × items, float32."""
        return self.by_user.to_scipy()

    def items_of(self, user: int | str) -> NDArray[Any]:
        """Return the ids of the items that one user interacted with."""
        row = int(self.users.require([user], "user")[0])
        start, stop = self.by_user.indptr[row : row + 2]
        return self.items.take(self.by_user.indices[start:stop])

    @typed
    def to_frame(self, library: Literal["polars", "pandas", "pyarrow"] = "polars") -> Any:
        """Return the interactions as a table: user, item, strength and, if known, timestamp."""
        from taylorank.data.tables import interactions_table

        return interactions_table(self, library)

    def _repr_html_(self) -> str:
        """Return sizes, spreads and the record of cleaning for notebooks."""
        from taylorank.data.html import data_html

        return data_html(self)

    @typed
    def core(self, k: int | None = None, *, users: int | None = None, items: int | None = None) -> Interactions:
        """Keep the largest part where every user and every item has at least k interactions (k-core).

        `core(k)` asks the same of both sides; `core(users=a, items=b)` asks a of users and b of items.
        """
        from taylorank.data.clean import core

        return core(self, k, users=users, items=items)

    @also_named(seed="random_state")
    @typed
    def split(
        self, ratios: Sequence[float] = (0.8, 0.1, 0.1), *, random_state: int = 0, seed: int = 0
    ) -> tuple[Interactions, ...]:
        """Split each user's interactions at random by `ratios`: (train, valid, test) or (train, test).

        `seed` is the older name of `random_state`.
        """
        from taylorank.data.split import split

        return split(self, ratios, random_state=random_state)

    @also_named(seed="random_state")
    @typed
    def split_last(
        self, *, valid: int = 1, test: int = 1, random_state: int = 0, seed: int = 0
    ) -> tuple[Interactions, Interactions, Interactions]:
        """Keep each user's last interactions for test and those before them for validation.

        `seed` is the older name of `random_state`, which orders interactions of the same moment.
        """
        from taylorank.data.split import split_last

        return split_last(self, valid=valid, test=test, random_state=random_state)

    @typed
    def split_time(
        self, ratios: Sequence[float] = (0.8, 0.1, 0.1), *, at: Sequence[Any] | None = None
    ) -> tuple[Interactions, ...]:
        """Cut the whole log at moments in time: `at`, or those that leave about `ratios` in each part."""
        from taylorank.data.split import split_time

        return split_time(self, ratios, at=at)

    @also_named(seed="random_state")
    @typed
    def split_users(
        self,
        ratios: Sequence[float] = (0.8, 0.1, 0.1),
        *,
        fold_in: float = 0.8,
        random_state: int = 0,
        seed: int = 0,
    ) -> tuple[Interactions, HeldOut, HeldOut]:
        """Hold out whole users; the model is given `fold_in` of their history and has to predict the rest.

        `seed` is the older name of `random_state`.
        """
        from taylorank.data.split import split_users

        return split_users(self, ratios, fold_in=fold_in, random_state=random_state)

    def select(self, keep: NDArray[np.bool_], action: str) -> Interactions:
        """Return the interactions where `keep` is true, over the same id spaces."""
        old = self.by_user
        weights = None if old.weights is None else freeze(old.weights[keep])
        rows = CSR(freeze(indptr_of(keep, old.indptr)), freeze(old.indices[keep]), weights, old.n_columns)
        times = None if self.timestamps is None else freeze(self.timestamps[keep])
        return replace(self, by_user=rows, timestamps=times).with_step(action)

    def with_step(self, action: str) -> Interactions:
        """Return the same data with one more line in its record."""
        step = Step(action, self.n_users, self.n_items, self.nnz)
        return replace(self, steps=(*self.steps, step))

    def save_npz(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one .npz file (NumPy alone reads it; no pickle), atomically."""
        from taylorank.data.storage import save_npz

        save_npz(self, path)

    @staticmethod
    def load_npz(path: str | os.PathLike[str]) -> Interactions:
        """Read what `save_npz` wrote; a damaged or foreign file is refused."""
        from taylorank.data.storage import load_npz

        return load_npz(path)

    def __len__(self) -> int:
        return self.nnz

    def __eq__(self, other: object) -> bool:
        """Same ids, pairs, strengths and times; how they came about does not matter."""
        if not isinstance(other, Interactions):
            return NotImplemented
        return (
            self.users == other.users
            and self.items == other.items
            and np.array_equal(self.by_user.indptr, other.by_user.indptr)
            and np.array_equal(self.by_user.indices, other.by_user.indices)
            and np.array_equal(self.strengths, other.strengths)
            and _same_times(self.timestamps, other.timestamps)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        facts = [
            f"{self.n_users:,} users × {self.n_items:,} items",
            f"{self.nnz:,} interactions",
            f"density {100 * self.density:.3g} %",
        ]
        facts += [] if self.is_binary else ["strengths"]
        facts += [] if self.timestamps is None else ["timestamps"]
        return "\n  ".join([f"Interactions({', '.join(facts)})", *map(str, self.steps)])


def _same_times(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    return np.array_equal(a, b) if a is not None and b is not None else a is b
