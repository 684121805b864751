"""iALS on the cluster: both half-sweeps solve their rows where the rows are, with the kernel of one machine.

    P_x = (w₀ QᵀQ + Σ_y r Q_yQ_yᵀ + λ (n_x + w₀ N)^ν I)⁻¹ Σ_y r Q_y        in blocks of users, Q in one file
    Q_y = (w₀ PᵀP + Σ_x r P_xP_xᵀ + λ (n_y + w₀ M)^ν I)⁻¹ Σ_x r P_x        in blocks of items, P in a file per block

Two jobs a sweep, and only K × K sums come back from them. Q of every sweep is in a file: a fit that was interrupted
goes on from the last one, and so are the losses that decide when to stop.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.kernels import RowSystem, gram, nonzero_scores, row_solve
from taylorank.kernels.row_solver import EXACT_UP_TO
from taylorank.kernels.thread_limit import threads
from taylorank.spark.blocks import read_block
from taylorank.spark.folder import Folder
from taylorank.spark.item_blocks import build_item_blocks, item_bounds, read_item_block
from taylorank.spark.prepared import Prepared
from taylorank.spark.session import Batches, map_arrow, numbered, task_threads, to_arrow

SUMS = "number int, gram binary, penalty double, observed double"
SAME_STREAM = 1 << 30  # random numbers that the driver draws to begin where one machine would
CHUNK = 1 << 22
LOSSES = "losses.json"  # after each sweep


@dataclass(frozen=True)
class Weights:
    """The numbers of the objective; see `objectives.weighted`."""

    unobserved: float  # w₀
    regularization: float  # λ
    nu: float
    method: str

    def penalty(self, counts: NDArray[Any], others: int) -> NDArray[np.float64]:
        """λ (n + w₀ · others)^ν."""
        return self.regularization * (counts + self.unobserved * others) ** self.nu

    def solve(self, rows: Any, factors: Any, shared: Any, *, others: int, start: Any) -> NDArray[np.float32]:
        """Solve the rows of one block; `shared` is the Gram matrix of `factors` of all rows of the other side."""
        strengths = 1.0 if rows.weights is None else rows.weights
        system = RowSystem(
            rows,
            shared,
            self.unobserved,
            self.penalty(rows.row_lengths, others),
            weights=strengths,
            targets=strengths,
        )
        method: Any = self.method if start is not None or self.method != "cg" else "cholesky"
        with threads(task_threads()):
            solved: NDArray[np.float32] = row_solve(system, factors, method=method, start=start)
        return solved

    def is_exact(self, rank: int) -> bool:
        """Whether rows are solved exactly, so that they begin from nothing."""
        return self.method == "cholesky" or (self.method == "auto" and rank <= EXACT_UP_TO)


@dataclass(frozen=True)
class UserStep:
    """P of one block of users, given Q in file Q-n; leaves it in P-n-block."""

    folder: Folder
    weights: Weights
    sweep: int
    n_items: int

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """Yield PᵀP of each block."""
        given = self.folder.read_arrays(f"Q-{self.sweep}")
        for number in _numbers(batches):
            rows = read_block(self.folder, number).by_user
            start = None
            if not self.weights.is_exact(given["Q"].shape[1]) and self.sweep:
                start = self.folder.read_arrays(f"P-{self.sweep - 1}-{number}")["P"]
            P = self.weights.solve(rows, given["Q"], given["gram"], others=self.n_items, start=start)
            self.folder.write_arrays(f"P-{self.sweep}-{number}", {"P": P})
            yield _sums(number, gram(P))


@dataclass(frozen=True)
class ItemStep:
    """Q of one block of items, given P in the files P-n-…; leaves it in R-n-block."""

    folder: Folder
    weights: Weights
    sweep: int
    n_users: int
    bounds: tuple[int, ...]

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """Yield one row for each block."""
        for number in _numbers(batches):
            block = read_item_block(self.folder, number)
            P = block.gathered(self.folder, f"P-{self.sweep}")
            shared = self.folder.read_arrays(f"gram-{self.sweep}")["gram"]
            before = self.folder.read_arrays(f"Q-{self.sweep}")["Q"][self.bounds[number] : self.bounds[number + 1]]
            start = None if self.weights.is_exact(P.shape[1]) else before
            Q = self.weights.solve(block.rows, P, shared, others=self.n_users, start=start)
            self.folder.write_arrays(f"R-{self.sweep}-{number}", {"Q": Q})
            yield _sums(number, np.zeros((0, 0)))


@dataclass(frozen=True)
class Losses:
    """Σ_y r (o² − 2 o) + Σ_x λ_x ‖P_x‖² of one block of users, after a sweep."""

    folder: Folder
    weights: Weights
    sweep: int
    n_items: int

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """Yield the sums of each block."""
        Q = self.folder.read_arrays(f"Q-{self.sweep + 1}")["Q"].astype(np.float64)
        for number in _numbers(batches):
            rows = read_block(self.folder, number).by_user
            P = self.folder.read_arrays(f"P-{self.sweep}-{number}")["P"].astype(np.float64)
            o = nonzero_scores(rows, P, item_factors=Q)
            r = 1.0 if rows.weights is None else rows.weights
            penalty = float(self.weights.penalty(rows.row_lengths, self.n_items) @ np.square(P).sum(axis=1))
            yield _sums(number, np.zeros((0, 0)), penalty, float((r * (o * o - 2 * o)).sum()))


def _numbers(batches: Batches) -> Iterator[int]:
    return (value for batch in batches for value in batch.column(0).to_pylist())


def _sums(number: int, matrix: NDArray[np.float64], penalty: float = 0.0, observed: float = 0.0) -> Any:
    import pyarrow as pa

    row: list[tuple[Any, Any]] = [(number, pa.int32()), (matrix.tobytes(), pa.binary())]
    row += [(penalty, pa.float64()), (observed, pa.float64())]
    return pa.record_batch([pa.array([v], kind) for v, kind in row], names=["number", "gram", "penalty", "observed"])


@dataclass(frozen=True, eq=False)
class Sweeps:
    """The result: Q, the number of the last sweep, whose P is in the files P-n-…, and what it took."""

    items: NDArray[np.float32]
    sweep: int
    losses: list[float]
    seconds: list[float]


def sweep_rows(
    data: Prepared, weights: Weights, rank: int, *, sweeps: int, tolerance: float, random_state: int
) -> Sweeps:
    """Run the sweeps; stop as `solvers.sweeps` does when one lowers the loss by ≤ tolerance · (L(0) − L)."""
    bounds = item_bounds(data.counts[1], max(data.ranges, data.blocks))
    build_item_blocks(data, bounds)
    sweep, Q = _begin(data, rank, random_state)
    zero_loss = float(data.counts[0].sum())
    seconds: list[float] = []
    losses: list[float] = data.folder.read_json(LOSSES) if data.folder.has(LOSSES) else []
    while True:
        if tolerance > 0 and len(losses) < sweep:
            losses.append(_loss(data, weights, sweep - 1, Q) + zero_loss)
            data.folder.write_json(LOSSES, losses)
        if sweep >= sweeps or _has_settled(losses, tolerance, zero_loss):
            return Sweeps(Q, sweep, losses, seconds)
        began = time.perf_counter()
        Q = _sweep(data, weights, sweep, Q, bounds)
        sweep += 1
        seconds.append(time.perf_counter() - began)
        for name in data.folder.names():  # of the sweep before
            if name.startswith((f"P-{sweep - 2}-", f"R-{sweep - 1}-", f"Q-{sweep - 2}", f"gram-{sweep - 2}")):
                data.folder.remove(name)


def _has_settled(losses: list[float], tolerance: float, zero_loss: float) -> bool:
    return len(losses) > 1 and losses[-2] - losses[-1] <= tolerance * (zero_loss - losses[-1])


def _begin(data: Prepared, rank: int, random_state: int) -> tuple[int, NDArray[np.float32]]:
    """Return the last sweep whose Q is there, and Q; at first the start that one machine would have."""
    done = [int(name[2:]) for name in data.folder.names() if name.startswith("Q-") and name[2:].isdigit()]
    if done:
        return max(done), np.array(data.folder.read_arrays(f"Q-{max(done)}")["Q"])
    rng = np.random.default_rng(random_state)
    left = data.n_users * rank if data.n_users * rank <= SAME_STREAM else 0
    while left:  # the numbers of P, which come first and are not needed
        left -= len(rng.standard_normal(min(left, CHUNK), dtype=np.float32))
    Q = np.float32(0.1 / np.sqrt(rank)) * rng.standard_normal((data.n_items, rank), dtype=np.float32)
    _write_items(data, 0, Q)
    return 0, Q


def _write_items(data: Prepared, sweep: int, Q: NDArray[np.float32]) -> None:
    data.folder.write_arrays(f"Q-{sweep}", {"Q": Q, "gram": gram(Q)})


def _sweep(
    data: Prepared, weights: Weights, sweep: int, Q: NDArray[np.float32], bounds: list[int]
) -> NDArray[np.float32]:
    folder, session, rank = data.folder, data.session, Q.shape[1]
    users = UserStep(folder, weights, sweep, data.n_items)
    found = to_arrow(map_arrow(numbered(session, data.blocks), users, SUMS)).sort_by("number")
    shared = np.sum([np.frombuffer(part, np.float64).reshape(rank, rank) for part in found["gram"].to_pylist()], axis=0)
    folder.write_arrays(f"gram-{sweep}", {"gram": shared})
    items = ItemStep(folder, weights, sweep, data.n_users, tuple(bounds))
    to_arrow(map_arrow(numbered(session, len(bounds) - 1), items, SUMS))
    Q = np.concatenate([folder.read_arrays(f"R-{sweep}-{number}")["Q"] for number in range(len(bounds) - 1)])
    _write_items(data, sweep + 1, Q)
    return Q


def _loss(data: Prepared, weights: Weights, sweep: int, Q: NDArray[np.float32]) -> float:
    """L − L(0) after a sweep."""
    job = Losses(data.folder, weights, sweep, data.n_items)
    found = to_arrow(map_arrow(numbered(data.session, data.blocks), job, SUMS)).sort_by("number")
    penalty = weights.penalty(data.counts[1], data.n_users) @ np.square(Q, dtype=np.float64).sum(axis=1)
    sums = sum(float(np.sum(found[name].to_numpy())) for name in ("penalty", "observed"))
    shared = data.folder.read_arrays(f"gram-{sweep}")["gram"]
    return sums + float(penalty) + weights.unobserved * float(np.vdot(shared, gram(Q)))


@dataclass(frozen=True)
class SolvedRows:
    """P of the users of a block, from the file that the last sweep left."""

    folder: Folder
    sweep: int

    def __call__(self, number: int) -> NDArray[np.float32]:
        """Return (users, K)."""
        rows: NDArray[np.float32] = self.folder.read_arrays(f"P-{self.sweep - 1}-{number}")["P"]
        return rows
