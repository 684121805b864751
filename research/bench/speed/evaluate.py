"""Evaluating all users over the full ranking: seconds on 69,815 users × 9,888 items, against implicit and bare NumPy.

A tenth of each user's interactions is the test, the rest is seen. All contenders take turns on the same 32-bit
factors with the same number of threads. `ours` reports eight metrics at k = 20; implicit's `ranking_metrics_at_k`
four, and those that both define alike must agree. `GEMM and argpartition` only ranks, in blocks of NumPy; `our top-k
alone` is the kernel without any metric.

    python -m research.bench evaluate --json research/records/bench/evaluate.json
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from research.bench.speed.gather_sum import long_tailed
from research.bench.speed.timing import blas_threads, time_in_turns, times_ours
from research.bench.speed.top_k import K_BEST, Contenders, implicit_model, keep_last, numpy_top_k
from taylorank.data import Interactions
from taylorank.kernels import ItemVectors, top_k
from taylorank.machine import describe_machine
from taylorank.metrics import DEFAULT
from taylorank.ranking import Ranker, Vectors, evaluate

METRICS = (*DEFAULT, "map_min", "precision_min")
SAME = {"ndcg": "ndcg", "map": "map_min", "precision": "precision_min"}  # implicit's name → ours


def run(*, quick: bool = False, threads: int = 2) -> dict[str, Any]:
    """Time every contender at two widths; `quick` shrinks the data."""
    machine = describe_machine()
    rows = long_tailed(20_000, users=2_000, items=1_000) if quick else long_tailed(6_600_000)
    train, test = Interactions.from_matrix(rows.to_scipy()).split((0.9, 0.1), random_state=0)
    repeats = 2 if quick else 5
    cases = [{"factors": width} | time_case(train, test, width, repeats, threads) for width in (64, 128)]
    return {
        "benchmark": "evaluate",
        "users": train.n_users,
        "items": train.n_items,
        "seen": train.nnz,
        "test": test.nnz,
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
        ours = case["results"]["ours"]
        others = [name for name in case["results"] if name != "ours"]
        peers = times_ours(case["results"], others, key="min_times_ours")
        lines.append(f"{record['users']:,} users, K = {case['factors']}: {ours['min_s']:.2f} s; {peers}")
    return lines


def time_case(train: Interactions, test: Interactions, width: int, repeats: int, threads: int) -> dict[str, Any]:
    """Time all contenders at one width and check that they agree."""
    model = smooth_factors(train, width)
    P, Q = exported(model)
    contenders: Contenders = {
        "ours": lambda: evaluate(model, test, k=K_BEST, metrics=METRICS, num_threads=threads),
        "our top-k alone": lambda: top_k(P, Q, k=K_BEST, seen=train.by_user, num_threads=threads),
        "GEMM and argpartition": lambda: numpy_top_k(P, Q, train.by_user, threads=threads),
    }
    contenders |= implicit_contender(model, test, threads=threads)
    results: dict[str, Any] = {}
    times = time_in_turns({name: keep_last(call, results, name) for name, call in contenders.items()}, repeats=repeats)
    check_agreement(results)
    return {
        "metrics": results["ours"],
        "results": {name: time.against(times["ours"]) for name, time in times.items()},
    }


def exported(model: Ranker) -> tuple[Any, Any]:
    """Return the vectors of users and items."""
    assert model.vectors is not None
    return model.vectors.export()


def smooth_factors(train: Interactions, width: int) -> Ranker:
    """Random item vectors with popularity in front, users as the mean of theirs: lists have hits without a fit."""
    Q = np.random.default_rng(1).standard_normal((train.n_items, width), dtype=np.float32)
    Q[:, 0] = np.log1p(np.bincount(train.by_user.indices, minlength=train.n_items))
    lengths = np.maximum(train.by_user.row_lengths, 1).astype(np.float32)
    P = (train.matrix @ Q) / lengths[:, None]
    vectors = Vectors(np.ascontiguousarray(P, dtype=np.float32), ItemVectors(Q))
    return Ranker(train.users, train.items, train, vectors=vectors)


def implicit_contender(model: Ranker, test: Interactions, *, threads: int) -> Contenders:
    """Return implicit's evaluation, or nothing where it is not installed."""
    peer = implicit_model(*exported(model), threads=threads)
    if peer is None:
        return {}
    from implicit.evaluation import ranking_metrics_at_k
    from scipy.sparse import csr_matrix

    seen, wanted = (csr_matrix(part.matrix, copy=True) for part in (model.seen, test))

    def ranking_metrics() -> object:
        with blas_threads(1):
            return ranking_metrics_at_k(peer, seen, wanted, K=K_BEST, show_progress=False, num_threads=threads)

    call: Callable[[], object] = ranking_metrics
    return {"implicit": call}


def check_agreement(results: dict[str, Any]) -> None:
    """Raise unless implicit has the same metrics; ranks may differ where scores are equal up to rounding."""
    for theirs, ours in SAME.items():
        if "implicit" in results:
            expected = results["ours"][f"{ours}@{K_BEST}"]
            np.testing.assert_allclose(results["implicit"][theirs], expected, rtol=1e-3, err_msg=theirs)
