"""One sweep of iALS by us, by implicit and by irspack, on one objective and from one start.

    L = w₀ Σ_all o² + Σ_observed (1 − 2 o + o²) + λ (‖P‖² + ‖Q‖²),   w₀ = 0.1, λ = 1

irspack minimises L itself. implicit minimises Σ_observed c (o − 1)² + Σ_rest o² + μ (‖P‖² + ‖Q‖²), which for
c = 1 + 1/w₀ and μ = (1 + w₀) λ / w₀ is (1 + w₀)² L / w₀ of the factors divided by √(1 + w₀), but for a constant: the
same problem in other units, in which all its steps are the same steps. So the loss of all three can be compared.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.bench.speed.timing import blas_threads
from taylorank.data.csr import CSR
from taylorank.kernels import RowSystem, gram, row_solve
from taylorank.kernels.row_solve import Method

UNOBSERVED, REGULARIZATION, STEPS = 0.1, 1.0, 3
METHODS: tuple[Method, ...] = ("cholesky", "cg", "blocks")
Floats = NDArray[Any]
Pair = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class Sweeper:
    """A contender that goes on from its own factors."""

    sweep: Callable[[], object]
    factors: Callable[[], Pair]  # in the units of L


def initial_factors(rows: CSR, width: int) -> Pair:
    """Draw user and item factors of variance 0.01 / K."""
    rng = np.random.default_rng(1)
    scale = np.float32(0.1 / np.sqrt(width))
    users = scale * rng.standard_normal((rows.n_rows, width), dtype=np.float32)
    return users, scale * rng.standard_normal((rows.n_columns, width), dtype=np.float32)


def our_sweepers(rows: CSR, columns: CSR, width: int, *, threads: int) -> dict[str, Sweeper]:
    """Return our sweeps by each method; `columns` is the transpose of `rows`."""

    def sweeper(method: Method) -> Sweeper:
        users, items = initial_factors(rows, width)

        def sweep() -> None:
            solve_into(users, rows, items, method=method, threads=threads)
            solve_into(items, columns, users, method=method, threads=threads)

        return Sweeper(sweep, lambda: (users, items))

    return {f"ours, {method}": sweeper(method) for method in METHODS}


def solve_into(out: Floats, rows: CSR, factors: Floats, *, method: Method, threads: int) -> None:
    """Make one half-sweep: `out` is where it starts and where the result goes."""
    square = gram(factors, num_threads=threads)
    system = RowSystem(rows, square, background=UNOBSERVED, regularization=REGULARIZATION)
    out[:] = row_solve(system, factors, method=method, start=out, steps=STEPS, num_threads=threads)


def implicit_sweepers(rows: CSR, width: int, *, threads: int) -> dict[str, Sweeper]:
    """Return implicit's sweeps, or nothing where it is not installed; BLAS has one thread, as it advises."""
    try:
        als = importlib.import_module("implicit.cpu.als")
    except ImportError:
        return {}
    from scipy import sparse

    confidence = sparse.csr_matrix(rows.to_scipy() * np.float32(1 + 1 / UNOBSERVED))
    transposed = confidence.T.tocsr()
    penalty = (1 + UNOBSERVED) * REGULARIZATION / UNOBSERVED
    unit = np.float32(np.sqrt(1 + UNOBSERVED))

    def sweeper(use_cg: bool) -> Sweeper:
        with blas_threads(1):
            model = als.AlternatingLeastSquares(
                factors=width, regularization=penalty, use_cg=use_cg, num_threads=threads
            )
        users, items = (unit * factors for factors in initial_factors(rows, width))

        def sweep() -> None:
            with blas_threads(1):
                model.solver(confidence, users, items, penalty, num_threads=threads)
                model.solver(transposed, items, users, penalty, num_threads=threads)

        return Sweeper(sweep, lambda: (users / unit, items / unit))

    return {"implicit, cholesky": sweeper(False), "implicit, cg": sweeper(True)}


def irspack_sweepers(rows: CSR, width: int, *, threads: int) -> dict[str, Sweeper]:
    """Return irspack's epochs, or nothing where it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of its own dependencies
            core = importlib.import_module("irspack.recommenders._ials_core")
    except ImportError:
        return {}
    from scipy import sparse

    matrix = sparse.csr_matrix(rows.to_scipy()).copy()  # it takes no read-only arrays

    def sweeper(solver: Any) -> Sweeper:
        model = core.IALSModelConfigBuilder().set_K(width).set_alpha0(UNOBSERVED).set_reg(REGULARIZATION).set_nu(0.0)
        model = model.set_init_stdev(0.1 / np.sqrt(width)).set_loss_type(core.LossType.IALSPP).build()
        trainer = core.IALSTrainer(model, matrix)
        trainer.user, trainer.item = initial_factors(rows, width)
        settings = core.IALSSolverConfigBuilder().set_n_threads(threads).set_solver_type(solver)
        settings = settings.set_max_cg_steps(STEPS).set_ialspp_subspace_dimension(64).set_ialspp_iteration(1).build()
        return Sweeper(partial(trainer.step, settings), lambda: (np.array(trainer.user), np.array(trainer.item)))

    kinds = {"cholesky": core.SolverType.CHOLESKY, "cg": core.SolverType.CG, "blocks": core.SolverType.IALSPP}
    return {f"irspack, {name}": sweeper(solver) for name, solver in kinds.items()}
