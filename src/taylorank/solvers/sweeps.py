"""What solvers that go sweep by sweep share: a state that can be kept, and when to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from taylorank.kernels.arrays import to_numpy

Floats = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SweepState:
    """All that the next sweep depends on, so that a fit can be taken up again to the same bits."""

    sweep: int
    arrays: dict[str, Floats]
    last_loss: float = float("inf")


@dataclass(frozen=True, eq=False)
class AlsSweep:
    """What a callback receives after each sweep; return True from it to stop. Loss and factors cost on first use."""

    sweep: int
    arrays: dict[str, Floats]
    loss_of: Callable[[], float]
    factors_of: Callable[[bool], tuple[Floats, Floats]]  # True: it may use up the solver's own arrays
    seconds: float = 0.0

    @cached_property
    def loss(self) -> float:
        """The loss after this sweep."""
        return self.loss_of()

    @cached_property
    def factors(self) -> tuple[Floats, Floats]:
        """(P, Q)."""
        return self.factors_of(False)

    def last_factors(self) -> tuple[Floats, Floats]:
        """(P, Q) where no sweep follows: in the memory of the solver."""
        return self.factors if "factors" in self.__dict__ else self.factors_of(True)

    @property
    def user_factors(self) -> Floats:
        """P, (M, K)."""
        return self.factors[0]

    @property
    def item_factors(self) -> Floats:
        """Q, (N, K)."""
        return self.factors[1]

    def state(self, *, with_loss: bool) -> SweepState:
        """Return what `start` of a solver takes to go on from here."""
        arrays = {name: to_numpy(array) for name, array in self.arrays.items()}
        return SweepState(self.sweep, arrays, self.loss if with_loss else float("inf"))


def run_sweeps(
    sweeps: Iterator[AlsSweep],
    *,
    most: int,
    tolerance: float,
    zero_loss: float,
    last_loss: float = float("inf"),
    callback: Callable[[AlsSweep], object] | None = None,
    keep: Callable[[AlsSweep], object] | None = None,
) -> tuple[Floats, Floats]:
    """Return (P, Q) of the last sweep.

    Stops after sweep number `most`, when `callback` returns True, or when a sweep lowers the loss L by ≤
    `tolerance` · (L(0) − L), L(0) = `zero_loss` being that of zero factors: on sparse data most of L(0) remains at the
    optimum, so a decrease relative to L itself would stop too early. With tolerance 0 all sweeps run.
    `keep` receives every sweep but the last: a fit that is taken up from any of these ends at the same one.
    """
    began = time.perf_counter()
    while True:
        sweep = next(sweeps)
        sweep = replace(sweep, seconds=time.perf_counter() - began)
        if (callback is not None and callback(sweep)) or sweep.sweep >= most:
            return sweep.last_factors()
        if tolerance > 0:
            if last_loss - sweep.loss <= tolerance * (zero_loss - sweep.loss):
                return sweep.last_factors()
            last_loss = sweep.loss
        if keep is not None:
            keep(sweep)
        del sweep  # or its factors would stay until the next ones are complete
