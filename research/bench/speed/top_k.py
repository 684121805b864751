"""Top-20 of all users against NumPy and implicit: seconds for 69,815 users × 9,888 items, seen items left out.

All contenders take turns on the same 32-bit factors with the same number of threads. `GEMM alone` is what the scores
cost by themselves, block by block, without masks or selection; `GEMM and argpartition` is the usual way to rank in
NumPy. implicit's is one call of `recommend` for all users with `filter_already_liked_items`; it runs its own threads
with BLAS on one, as it advises.

    python -m research.bench top-k --json research/records/bench/top_k.json
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.bench.speed.gather_sum import ITEMS, USERS, long_tailed
from research.bench.speed.timing import Times, blas_threads, time_in_turns
from taylorank.data.csr import CSR
from taylorank.kernels import top_k
from taylorank.machine import describe_machine

K_BEST = 20
BLOCK = 4096  # users whose scores a NumPy contender holds at a time; BLAS is slower with fewer
TARGETS = {"implicit": " (target 2)"}
Lists = tuple[NDArray[Any], NDArray[Any]]
Contenders = dict[str, Callable[[], object]]


def run(*, quick: bool = False, threads: int = 2) -> dict[str, Any]:
    """Time every contender at two widths; `quick` shrinks the data."""
    machine = describe_machine()
    repeats = 2 if quick else 5
    seen = long_tailed(20_000, users=2_000, items=1_000) if quick else long_tailed(6_600_000, users=USERS, items=ITEMS)
    cases = [{"factors": width} | time_case(seen, width, repeats=repeats, threads=threads) for width in (64, 128)]
    return {
        "benchmark": "top_k",
        "users": seen.n_rows,
        "items": seen.n_columns,
        "interactions": seen.nnz,
        "k": K_BEST,
        "threads": threads,
        "repeats": repeats,
        "machine": machine,
        "cases": cases,
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words, by the fastest repeat of each contender."""
    lines = []
    for case in record["cases"]:
        results = case["results"]
        ours = results["ours"]
        peers = ", ".join(
            f"{name} {r['min_times_ours']:.2f} times ours{TARGETS.get(name, '')}"
            for name, r in results.items()
            if r is not ours
        )
        speed = f"{ours['min_s']:.2f} s, {ours['gflop_per_s']:.0f} GFLOP/s"
        lines.append(f"top-{record['k']} of {record['users']:,} users, K = {case['factors']}: {speed}; {peers}")
    return lines


def time_case(seen: CSR, width: int, *, repeats: int, threads: int) -> dict[str, Any]:
    """Time all contenders at one width and check that they agree."""
    rng = np.random.default_rng(1)
    users = rng.standard_normal((seen.n_rows, width), dtype=np.float32)
    items = rng.standard_normal((seen.n_columns, width), dtype=np.float32)
    contenders: Contenders = {
        "ours": lambda: top_k(users, items, k=K_BEST, seen=seen, num_threads=threads),
        "GEMM alone": lambda: gemm(users, items, threads=threads),
        "GEMM and argpartition": lambda: numpy_top_k(users, items, seen, threads=threads),
    }
    contenders |= implicit_contender(users, items, seen, threads=threads)
    results: dict[str, Any] = {}
    times = time_in_turns({name: keep_last(call, results, name) for name, call in contenders.items()}, repeats=repeats)
    check_agreement(results)
    operations = 2 * seen.n_rows * seen.n_columns * width
    return {"results": {name: summary(time, times["ours"], operations) for name, time in times.items()}}


def summary(times: Times, ours: Times, operations: int) -> dict[str, float]:
    """Return seconds, how many times slower than ours, and operations of the product per second, at the best."""
    return times.against(ours) | {"gflop_per_s": round(operations / times.best / 1e9, 1)}


def keep_last(call: Callable[[], object], results: dict[str, Any], name: str) -> Callable[[], object]:
    """Return `call` with its latest result kept under `name`."""

    def kept() -> None:
        results[name] = call()

    return kept


def gemm(users: NDArray[np.float32], items: NDArray[np.float32], *, threads: int) -> None:
    """Compute all scores in blocks and keep none."""
    scores = np.empty((BLOCK, len(items)), dtype=np.float32)
    with blas_threads(threads):
        for start in range(0, len(users), BLOCK):
            part = users[start : start + BLOCK]
            np.matmul(part, items.T, out=scores[: len(part)])


def numpy_top_k(users: NDArray[np.float32], items: NDArray[np.float32], seen: CSR, *, threads: int) -> Lists:
    """Rank in blocks: product, mask, argpartition, sort of the best."""
    ids = np.empty((len(users), K_BEST), dtype=np.int64)
    best = np.empty(ids.shape, dtype=np.float32)
    with blas_threads(threads):
        for start in range(0, len(users), BLOCK):
            scores = users[start : start + BLOCK] @ items.T  # (BLOCK, N)
            indptr = seen.indptr[start : start + BLOCK + 1]
            row_of = np.repeat(np.arange(len(scores)), np.diff(indptr))
            scores[row_of, seen.indices[indptr[0] : indptr[-1]]] = -np.inf
            found = np.argpartition(scores, -K_BEST, axis=1)[:, -K_BEST:]
            values = np.take_along_axis(scores, found, axis=1)
            order = np.argsort(-values, axis=1)
            ids[start : start + BLOCK] = np.take_along_axis(found, order, axis=1)
            best[start : start + BLOCK] = np.take_along_axis(values, order, axis=1)
    return ids, best


def implicit_model(users: NDArray[np.float32], items: NDArray[np.float32], *, threads: int) -> Any:
    """Return implicit's model with these factors, or None where it is not installed."""
    try:
        from implicit.cpu.als import AlternatingLeastSquares
    except ImportError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # "OpenBLAS is configured to use 2 threads"
        model = AlternatingLeastSquares(factors=users.shape[1], num_threads=threads)
    model.user_factors, model.item_factors = users, items
    return model


def implicit_contender(
    users: NDArray[np.float32], items: NDArray[np.float32], seen: CSR, *, threads: int
) -> Contenders:
    """Return implicit's recommend for all users, or nothing where it is not installed."""
    from scipy.sparse import csr_matrix

    model = implicit_model(users, items, threads=threads)
    if model is None:
        return {}
    rows, everyone = csr_matrix(seen.to_scipy()), np.arange(len(users))

    def recommend() -> object:
        with blas_threads(1):
            return model.recommend(everyone, rows, N=K_BEST, filter_already_liked_items=True)

    return {"implicit": recommend}


def check_agreement(results: dict[str, Any]) -> None:
    """Raise unless all lists hold the same scores up to rounding, and nearly always the same items."""
    ids, scores = results["ours"]
    for name in results.keys() & {"GEMM and argpartition", "implicit"}:
        np.testing.assert_allclose(results[name][1], scores, rtol=1e-4, atol=1e-4, err_msg=name)
        if (same := float(np.mean(results[name][0] == ids))) < 0.999:  # ties may be broken in other ways
            raise AssertionError(f"{name} has the same item in {same:.1%} of the places only")
