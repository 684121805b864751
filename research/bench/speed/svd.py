"""Which method finds the leading singular triplets when the spectrum is flat? Seconds until every residual is small.

The matrix is S' of RG² on Gowalla with γ = 0.8 and ρ = 1.2, where σ₂₅₆ / σ₁ is 0.4. Every contender gets it as the same
products, on the same threads, and stops when it believes that ‖Sᵀu − σv‖ ≤ 10⁻⁵ σ₁ for each of its K triplets. What it
returns is then checked: residuals of both sides from the vectors themselves, and their orthogonality. Each runs in a
process of its own, for its peak memory, and is stopped after 20 s. Passes are products with SᵀS of K columns.

- `lanczos`: ours on a CPU, block Lanczos with thick restarts and locking (`solvers.lanczos`);
- `filtered`: ours on a GPU, subspace iteration with Chebyshev filters (`solvers.filtered`);
- `subspace`: randomized subspace iteration, the Rayleigh-Ritz step after every fifth product;
- `arpack`, `propack`: SciPy's `svds`, implicitly restarted Lanczos and Lanczos bidiagonalisation, one vector at a time.
  ARPACK measures a residual against its own eigenvalue, so it gets the tolerance that means the same for the
  smallest kept triplet.

    python -m research.bench svd --json research/records/bench/svd.json
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import linalg as sparse_linalg

from research.bench.speed.gowalla import save_gowalla
from research.bench.speed.process import forget_peak, in_own_process, peak_mb, resident_mb, return_memory
from taylorank.data import Interactions
from taylorank.machine import describe_machine
from taylorank.objectives import RG2Objective, rg_objective
from taylorank.solvers import filtered as filtered_method
from taylorank.solvers.centred import CentredMatrix
from taylorank.solvers.filtered import orthonormal, rayleigh_ritz
from taylorank.solvers.spectral import scaled_matrix
from taylorank.solvers.svd import Wanted, truncated_svd

TOLERANCE, LIMIT_S = 1e-5, 20.0
Triplets = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # u, σ, v


class TimeUp(Exception):
    """A contender has used up its seconds."""


class Clocked(CentredMatrix):
    """Counts columns of products and raises `TimeUp` after the deadline."""

    columns = 0.0
    deadline = np.inf

    @property
    def transposed(self) -> CentredMatrix:
        """Sᵀ, counted on."""
        other = plain(self).transposed
        return Clocked(other.by_row, other.by_column, other.left, other.right, other.unit)

    def apply(self, block: NDArray[Any]) -> NDArray[Any]:
        """S X."""
        return self._counted(CentredMatrix.apply, block)

    def apply_transposed(self, block: NDArray[Any]) -> NDArray[Any]:
        """Sᵀ Y."""
        return self._counted(CentredMatrix.apply_transposed, block)

    def apply_both(self, block: NDArray[Any]) -> NDArray[Any]:
        """SᵀS X, which counts twice."""
        return self.apply_transposed(self.apply(block))

    def _counted(self, product: Callable[[CentredMatrix, NDArray[Any]], NDArray[Any]], block: Any) -> NDArray[Any]:
        if time.perf_counter() > type(self).deadline:
            raise TimeUp
        type(self).columns += 0.5 * block.shape[1]
        return product(plain(self), block)


def plain(matrix: CentredMatrix) -> CentredMatrix:
    """The same matrix, not counted."""
    return CentredMatrix(matrix.by_row, matrix.by_column, matrix.left, matrix.right, matrix.unit)


def lanczos(matrix: CentredMatrix, count: int) -> Triplets:
    """Block Lanczos with thick restarts and locking."""
    svd = truncated_svd(matrix, count, tolerance=TOLERANCE)
    return svd.left, svd.values, svd.right


def filtered(matrix: CentredMatrix, count: int) -> Triplets:
    """Chebyshev filters, as on a GPU."""
    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.transposed
    svd = filtered_method.solve(tall, Wanted(count, TOLERANCE, None, None, 0, None))
    return (svd.left, svd.values, svd.right) if tall is matrix else (svd.right, svd.values, svd.left)


def subspace(matrix: CentredMatrix, count: int) -> Triplets:
    """Randomized subspace iteration with an eighth more columns than wanted."""
    width = min(count + max(16, count // 8), matrix.shape[1])
    noise = np.random.default_rng(0).standard_normal((matrix.shape[1], width))
    block = orthonormal(noise.astype(matrix.left.dtype))
    while True:
        for _ in range(4):
            block = orthonormal(matrix.apply_transposed(matrix.apply(block)))
        ritz = rayleigh_ritz(matrix, block)
        if float(ritz.residuals[:count].max()) <= TOLERANCE:
            values = np.sqrt(ritz.squares[:count])
            return matrix.apply(ritz.right[:, :count].copy()) / values, values, ritz.right[:, :count]
        block = ritz.right


def scipy_svds(matrix: CentredMatrix, count: int, *, solver: str, tolerance: float) -> Triplets:
    """SciPy's, by single vectors."""

    def columns(array: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(array.reshape(len(array), -1), dtype=matrix.left.dtype)

    operator = sparse_linalg.LinearOperator(
        matrix.shape,
        matvec=lambda x: matrix.apply(columns(x)).ravel(),
        rmatvec=lambda y: matrix.apply_transposed(columns(y)).ravel(),
        matmat=lambda x: matrix.apply(columns(x)),
        rmatmat=lambda y: matrix.apply_transposed(columns(y)),
        dtype=matrix.left.dtype,
    )
    root = float(np.sqrt(tolerance))  # svds squares what it is given
    u, values, vt = sparse_linalg.svds(operator, count, tol=root, solver=solver, rng=0)
    order = np.argsort(-values)
    return u[:, order], values[order], vt[order].T


def arpack(matrix: CentredMatrix, count: int) -> Triplets:
    """‖Av − θv‖ ≤ tol · θ is ‖Sᵀu − σv‖ ≤ tol · σ; σ_K from a rough factorisation, which is not counted."""
    rough = truncated_svd(plain(matrix), count, tolerance=1e-3).values
    _start(matrix)
    return scipy_svds(matrix, count, solver="arpack", tolerance=TOLERANCE * float(rough[0] / rough[-1]))


def propack(matrix: CentredMatrix, count: int) -> Triplets:
    """Its tolerance is relative to the largest singular value."""
    return scipy_svds(matrix, count, solver="propack", tolerance=TOLERANCE)


CONTENDERS = {f.__name__: f for f in (lanczos, filtered, subspace, arpack, propack)}


def run(*, quick: bool = False) -> dict[str, Any]:
    """Run every contender at every size; `quick` uses small data."""
    machine = describe_machine()
    sizes = (16,) if quick else (64, 256, 768)
    with tempfile.TemporaryDirectory(prefix="taylorank-bench-") as folder:
        path = Path(folder) / "data.npz"
        words = save_gowalla(path, quick=quick)
        cases = [
            {
                "factors": count,
                "results": {name: in_own_process(__name__, name, str(count), str(path)) for name in CONTENDERS},
            }
            for count in sizes
        ]
    return {
        "benchmark": "svd",
        "data": words,
        "tolerance": TOLERANCE,
        "limit_s": LIMIT_S,
        "machine": machine,
        "cases": cases,
    }


def measure(name: str, size: str, path: str) -> dict[str, Any]:
    """Run one contender in this process and check what it returns."""
    count = int(size)
    data = Interactions.load_npz(path)
    objective = rg_objective(RG2Objective, data, proposal_exponent=0.8, context_exponent=1.2)
    matrix = scaled_matrix(objective)
    clocked = Clocked(matrix.by_row, matrix.by_column, matrix.left, matrix.right)
    truncated_svd(matrix, 4, max_passes=2)  # BLAS and the allocator take theirs
    return_memory()
    forget_peak()
    before = resident_mb()
    began = _start(clocked)
    try:
        triplets = CONTENDERS[name](clocked, count)
    except Exception:
        if time.perf_counter() < Clocked.deadline:
            raise  # else it is TimeUp, or what PROPACK makes of it
        return {"finished": False, "seconds": LIMIT_S, "passes": round(Clocked.columns / count, 1)}
    seconds = time.perf_counter() - max(began, Clocked.deadline - LIMIT_S)
    passes, peak = Clocked.columns / count, peak_mb() - before
    factors_mb = (len(triplets[0]) + len(triplets[2])) * count * 4 / 2**20
    return {
        "finished": True,
        "seconds": round(seconds, 3),
        "passes": round(passes, 1),
        "peak_mb": round(peak, 1),
        "times_factors": round(peak / factors_mb, 2),
        **check(matrix, triplets),
    }


def _start(matrix: CentredMatrix) -> float:
    """Start the clock, and the count of columns."""
    Clocked.columns, began = 0.0, time.perf_counter()
    Clocked.deadline = began + LIMIT_S
    return began


def check(matrix: CentredMatrix, triplets: Triplets) -> dict[str, float]:
    """Return the largest residual of either side over σ₁, and the largest error of orthonormality."""
    u, values, v = (np.ascontiguousarray(part, dtype=matrix.left.dtype) for part in triplets)
    errors = (matrix.apply(v) - u * values, matrix.apply_transposed(u) - v * values)
    residual = max(float(np.linalg.norm(error, axis=0).max()) for error in errors) / float(values[0])
    skew = max(float(np.abs(part.T @ part - np.eye(len(values))).max()) for part in (u, v))
    return {"residual": float(f"{residual:.2g}"), "orthonormality": float(f"{skew:.2g}")}


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words; a contender that is done but not as accurate as it thinks is marked."""
    lines = []
    for case in record["cases"]:
        ours = case["results"]["lanczos"]
        for name, result in case["results"].items():
            lines.append(f"K = {case['factors']}, {name}: {_result_text(result, ours, record)}")
    return lines


def _result_text(result: dict[str, Any], ours: dict[str, Any], record: dict[str, Any]) -> str:
    if not result["finished"]:
        return f"not within {record['limit_s']:.0f} s ({result['passes']:.0f} passes)"
    wrong = ", INACCURATE" if result["residual"] > 1.5 * record["tolerance"] else ""
    times = "" if result is ours else f", {result['seconds'] / ours['seconds']:.2f} times ours"
    return (
        f"{result['seconds']:.2f} s{times}; {result['passes']:.1f} passes, residual {result['residual']:.1e}{wrong}, "
        f"memory {result['times_factors']:.1f} times the factors"
    )
