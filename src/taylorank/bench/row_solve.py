"""Row-solve against implicit and irspack: seconds for one sweep of iALS, both sides, 32-bit floats.

All contenders take turns on the same generated matrix with the same number of threads; a sweep solves for all users,
then for all items, Gram matrices included and transposes excluded. One row's work is the same for all: K×K systems
with a shared Gram matrix and one term per interaction. Conjugate gradients make 3 steps everywhere, from the factors
of the sweep before. implicit calls BLAS from its own threads, so BLAS has one thread while it runs.

    taylorank bench row-solve --json docs/bench/row_solve.json
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.bench.gather_sum import long_tailed
from taylorank.bench.machine import describe_machine
from taylorank.bench.timing import Times, time_in_turns
from taylorank.data.csr import CSR
from taylorank.kernels import RowSystem, row_solve
from taylorank.kernels.row_solve import Method

UNOBSERVED, REGULARIZATION, STEPS = 0.1, 1.0, 3
FAMILIES = {"cholesky": "exact", "cg": "conjugate gradients", "blocks": "blocks"}
Contenders = dict[str, Callable[[], object]]


def run(*, quick: bool = False, threads: int = 2) -> dict[str, Any]:
    """Time every contender for two widths; `quick` shrinks the data."""
    machine = describe_machine()
    interactions, repeats = (60_000, 2) if quick else (6_600_000, 5)
    rows = long_tailed(interactions)
    cases = [time_case(rows, width, repeats=repeats, threads=threads) for width in (64, 128)]
    return {
        "benchmark": "row_solve",
        "interactions": interactions,
        "threads": threads,
        "repeats": repeats,
        "machine": machine,
        "cases": cases,
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Say the results in words."""
    lines = []
    for case in record["cases"]:
        for family, name in FAMILIES.items():
            results = {key.split(",")[0]: r for key, r in case["results"].items() if key.endswith(f", {family}")}
            peers = "; ".join(
                f"{peer} {r['min_times_ours']:.2f} times ours" for peer, r in results.items() if peer != "ours"
            )
            lines.append(f"K = {case['factors']}, {name}: {results['ours']['min_s']:.2f} s per sweep; {peers}")
    return lines


def time_case(rows: CSR, width: int, *, repeats: int, threads: int) -> dict[str, Any]:
    """Time all contenders at one width."""
    contenders = (
        our_contenders(rows, width, threads=threads)
        | implicit_contenders(rows, width, threads=threads)
        | irspack_contenders(rows, width, threads=threads)
    )
    times = time_in_turns(contenders, repeats=repeats)
    results = {name: summary(time, times[f"ours, {name.split(', ')[1]}"]) for name, time in times.items()}
    return {"factors": width, "results": results}


def summary(times: Times, ours: Times) -> dict[str, float]:
    """Return seconds and how many times slower than ours with the same method."""
    return {
        "median_s": round(times.median, 4),
        "min_s": round(times.best, 4),
        "times_ours": round(times.median / ours.median, 3),
        "min_times_ours": round(times.best / ours.best, 3),
    }


def our_contenders(rows: CSR, width: int, *, threads: int) -> Contenders:
    """Return one sweep by each method, each going on from its own factors."""
    columns = rows.transpose()

    def sweep_of(method: Method) -> Callable[[], object]:
        users, items = initial_factors(rows, width)

        def sweep() -> None:
            solve_into(users, rows, items, method=method, threads=threads)
            solve_into(items, columns, users, method=method, threads=threads)

        return sweep

    methods: tuple[Method, ...] = ("cholesky", "cg", "blocks")
    return {f"ours, {method}": sweep_of(method) for method in methods}


def solve_into(out: NDArray[Any], rows: CSR, factors: NDArray[Any], *, method: Method, threads: int) -> None:
    """Make one half-sweep of iALS: `out` is where it starts and where the result goes."""
    system = RowSystem(rows, factors.T @ factors, background=UNOBSERVED, regularization=REGULARIZATION)
    out[:] = row_solve(system, factors, method=method, start=out, steps=STEPS, num_threads=threads)


def initial_factors(rows: CSR, width: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Draw user and item factors of variance 0.01 / K."""
    rng = np.random.default_rng(1)
    scale = np.float32(0.1 / np.sqrt(width))
    users = scale * rng.standard_normal((rows.n_rows, width), dtype=np.float32)
    return users, scale * rng.standard_normal((rows.n_columns, width), dtype=np.float32)


def implicit_contenders(rows: CSR, width: int, *, threads: int) -> Contenders:
    """Return implicit's sweeps, or nothing where it is not installed."""
    try:
        als = importlib.import_module("implicit.cpu.als")
        one_thread = partial(importlib.import_module("threadpoolctl").threadpool_limits, 1, "blas")
    except ImportError:
        return {}
    from scipy import sparse

    confidence = sparse.csr_matrix(rows.to_scipy() * np.float32(2))
    transposed = confidence.T.tocsr()

    def sweep_of(use_cg: bool) -> Callable[[], object]:
        with one_thread():
            model = als.AlternatingLeastSquares(
                factors=width, regularization=REGULARIZATION, use_cg=use_cg, num_threads=threads
            )
        users, items = initial_factors(rows, width)

        def sweep() -> None:
            with one_thread():
                model.solver(confidence, users, items, REGULARIZATION, num_threads=threads)
                model.solver(transposed, items, users, REGULARIZATION, num_threads=threads)

        return sweep

    return {"implicit, cholesky": sweep_of(False), "implicit, cg": sweep_of(True)}


def irspack_contenders(rows: CSR, width: int, *, threads: int) -> Contenders:
    """Return irspack's epochs, or nothing where it is not installed."""
    try:
        core = importlib.import_module("irspack.recommenders._ials_core")
    except ImportError:
        return {}
    from scipy import sparse

    matrix = sparse.csr_matrix(rows.to_scipy())

    def epoch_of(solver: Any) -> Callable[[], object]:
        model = core.IALSModelConfigBuilder().set_K(width).set_alpha0(UNOBSERVED).set_reg(REGULARIZATION).set_nu(0.0)
        model = model.set_init_stdev(0.1 / np.sqrt(width)).set_loss_type(core.LossType.IALSPP).build()
        trainer = core.IALSTrainer(model, matrix)
        settings = core.IALSSolverConfigBuilder().set_n_threads(threads).set_solver_type(solver)
        settings = settings.set_max_cg_steps(STEPS).set_ialspp_subspace_dimension(64).set_ialspp_iteration(1).build()
        return lambda: trainer.step(settings)

    kinds = {"cholesky": core.SolverType.CHOLESKY, "cg": core.SolverType.CG, "blocks": core.SolverType.IALSPP}
    return {f"irspack, {name}": epoch_of(solver) for name, solver in kinds.items()}
