"""Alternating least squares where weights vary by cell: a K × K system for every row, P given Q, then Q given P.

An objective states the systems of its rows (`user_system`, `item_system`); see `objectives.weighted` for their form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR
from taylorank.kernels import RowSystem, row_solve
from taylorank.kernels.arrays import like
from taylorank.kernels.row_solver import EXACT_UP_TO
from taylorank.objectives.weighted import ItemSums
from taylorank.solvers.needs import Declared, check_allowed
from taylorank.solvers.sweeps import AlsSweep, SweepState, run_sweeps

Floats = NDArray[Any]
Method = Literal["auto", "cholesky", "cg", "blocks"]


class RowObjective(Declared, Protocol):
    """What this solver needs of an objective."""

    @property
    def by_user(self) -> CSR:
        """The observed pairs."""
        ...

    @property
    def constant(self) -> float:
        """The loss of zero factors."""
        ...

    def on(self, device: str | None) -> RowObjective:
        """The same objective with its pairs on a device of torch; None: as it is."""
        ...

    def prepare(self) -> None:
        """Make what all sweeps need, before the factors take their room."""
        ...

    def item_sums(self, item_factors: Floats) -> ItemSums:
        """The sums over all items that the systems of the users need."""
        ...

    def user_system(self, item_factors: Floats, sums: ItemSums | None = None) -> RowSystem:
        """The systems of all P_x, given Q."""
        ...

    def item_system(self, user_factors: Floats, start: Floats | None = None) -> RowSystem:
        """The systems of all Q_y, given P; `start` is Q before."""
        ...

    def loss(self, user_factors: Floats, item_factors: Floats) -> float:
        """The loss, exactly."""
        ...


def solve_row_als(
    objective: RowObjective,
    factors: int,
    *,
    sweeps: int = 16,
    tolerance: float = 0.0,
    method: Method = "auto",
    start: tuple[Floats, Floats] | SweepState | None = None,
    random_state: int = 0,
    callback: Callable[[AlsSweep], object] | None = None,
    keep: Callable[[AlsSweep], object] | None = None,
    device: str | None = None,
) -> tuple[Floats, Floats]:
    """Return (P, Q) after at most `sweeps` sweeps (see `run_sweeps` for when it stops).

    `start` is (P, Q) to begin from, or the state of an earlier sweep to go on from; if None N(0, 0.1/√K), as Rendle
    et al. do. `device` is a device of torch to compute on, and where the result stays; None: NumPy.
    """
    check_allowed(objective, "row_als")
    objective = objective.on(device)
    objective.prepare()
    done, last = (start.sweep, start.last_loss) if isinstance(start, SweepState) else (0, np.inf)
    P, Q = _begin(objective.by_user, factors, start, random_state)
    if device is not None:
        P, Q = (like(objective.by_user.indices, part, dtype="float32") for part in (P, Q))
    return run_sweeps(
        iterate(objective, P, Q, method=method, done=done),
        most=sweeps,
        tolerance=tolerance,
        zero_loss=objective.constant,
        last_loss=last,
        callback=callback,
        keep=keep,
    )


def iterate(
    objective: RowObjective, P: Floats, Q: Floats, *, method: Method = "auto", done: int = 0
) -> Iterator[AlsSweep]:
    """Yield sweep after sweep, without end."""
    exact = method == "cholesky" or (method == "auto" and Q.shape[1] <= EXACT_UP_TO)
    before: Floats | None = P
    del P
    while True:
        begin, before = (None if exact else before), None  # exact rows begin from nothing: room for the new ones
        P = row_solve(objective.user_system(Q), Q, method=method, start=begin)
        Q = row_solve(objective.item_system(P, Q), P, method=method, start=Q)
        before = P
        done += 1
        yield AlsSweep(done, {"P": P, "Q": Q}, partial(objective.loss, P, Q), partial(_pair, P, Q))
        del P, begin


def _pair(P: Floats, Q: Floats, _: bool) -> tuple[Floats, Floats]:
    return P, Q


def _begin(
    rows: CSR, factors: int, start: tuple[Floats, Floats] | SweepState | None, random_state: int
) -> tuple[Floats, Floats]:
    if isinstance(start, SweepState):
        return start.arrays["P"], start.arrays["Q"]
    return start or _random(rows, factors, random_state)


def _random(rows: CSR, factors: int, random_state: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(random_state)
    scale = np.float32(0.1 / np.sqrt(factors))
    P = rng.standard_normal((rows.n_rows, factors), dtype=np.float32)
    P *= scale
    return P, scale * rng.standard_normal((rows.n_columns, factors), dtype=np.float32)
