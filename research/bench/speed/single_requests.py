"""One request at a time against implicit: CPU milliseconds on 105,000 users × 340,000 items, K = 128.

What a server asks of a model: the ten best items of a known user, of a new user given twenty items, ten similar items,
and what carried a recommendation. Factors are random and the same for all contenders; each request is of another user
or item, and contenders take turns. CPU time counts, so that threads buy nothing; BLAS has one thread, as implicit's
authors advise. A batch of 2,000 users is timed by the clock, with all threads.

    python -m research.bench single-requests --json research/records/bench/single_requests.json
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.bench.speed.gather_sum import long_tailed
from research.bench.speed.timing import Times, blas_threads, sample_in_turns, timed
from research.bench.speed.top_k import implicit_model
from taylorank.data import Ids, Interactions
from taylorank.machine import describe_machine
from taylorank.models import IALS, RG2

USERS, ITEMS, INTERACTIONS, FACTORS = 105_000, 340_000, 5_000_000, 128
N_BEST, HISTORY, BATCH = 10, 20, 2_000
TARGET_MS = 20.0
Request = Callable[[int], object]


def run(*, quick: bool = False, threads: int = 2) -> dict[str, Any]:
    """Time every kind of request; `quick` shrinks the data."""
    machine = describe_machine()
    size = (2_000, 3_000, 40_000) if quick else (USERS, ITEMS, INTERACTIONS)
    repeats = 3 if quick else 25
    rows = long_tailed(size[2], users=size[0], items=size[1])
    data = Interactions(rows, Ids(range(rows.n_rows)), Ids(range(rows.n_columns)))
    contenders = _contenders(data, threads)
    kinds = {}
    for kind in ("recommend", "new user", "similar items", "explain"):
        requests = {name: _cpu_seconds(of[kind]) for name, of in contenders.items()}
        with blas_threads(1):
            kinds[kind] = _summary(sample_in_turns(requests, repeats=repeats))
    batches = {name: timed(lambda of=of: of["batch"](0)) for name, of in contenders.items()}  # type: ignore[misc]
    kinds[f"batch of {BATCH:,} users, by the clock"] = _summary(sample_in_turns(batches, repeats=3))
    return {
        "benchmark": "single_requests",
        "users": data.n_users,
        "items": data.n_items,
        "interactions": data.nnz,
        "factors": FACTORS,
        "threads": threads,
        "repeats": repeats,
        "machine": machine,
        "requests": kinds,
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Say the median of each contender in milliseconds."""
    lines = [f"{record['users']:,} users × {record['items']:,} items, K = {record['factors']}: median milliseconds"]
    for kind, found in record["requests"].items():
        lines.append(f"{kind}: " + ", ".join(f"{name} {value['median_ms']:.1f}" for name, value in found.items()))
    return lines


def _contenders(data: Interactions, threads: int) -> dict[str, dict[str, Request]]:
    rng = np.random.default_rng(1)
    P, Q = (rng.standard_normal((n, FACTORS), dtype=np.float32) / np.float32(8) for n in (data.n_users, data.n_items))
    histories = [rng.choice(data.n_items, HISTORY, replace=False) for _ in range(100)]
    found = {
        name: _ours(model, data, P, Q, histories) for name, model in (("RG2", RG2(FACTORS)), ("IALS", IALS(FACTORS)))
    }
    return found | _implicit(data, P, Q, histories, threads)


def _ours(
    model: Any, data: Interactions, P: NDArray[np.float32], Q: NDArray[np.float32], histories: list[NDArray[np.int64]]
) -> dict[str, Request]:
    model.train_, model.user_factors_, model.item_factors_ = data, P, Q
    if isinstance(model, RG2):
        q = np.maximum(data.item_popularity, 1) ** model.proposal_exponent
        model.proposal_, model.penalty_, model.mean_context_ = q / q.sum(), 1e-3, 50.0
    new = [[(0, int(item)) for item in history] for history in histories]
    return {
        "recommend": lambda i: model.recommend([_user(i, data)], N_BEST),
        "new user": lambda i: model.fold_in(new[i % len(new)]).recommend([0], N_BEST),
        "similar items": lambda i: model.similar_items([_item(i, data)], N_BEST),
        "explain": lambda i: model.explain(_user(i, data), _item(i, data), N_BEST),
        "batch": lambda i: model.recommend(np.arange(min(BATCH, data.n_users)), N_BEST),
    }


def _implicit(
    data: Interactions,
    P: NDArray[np.float32],
    Q: NDArray[np.float32],
    histories: list[NDArray[np.int64]],
    threads: int,
) -> dict[str, dict[str, Request]]:
    """implicit with the same factors, or nothing where it is not installed."""
    from scipy.sparse import csr_matrix

    model = implicit_model(P, Q, threads=threads)
    if model is None:
        return {}
    met = csr_matrix(data.matrix)
    new = [csr_matrix((np.ones(HISTORY), ([0] * HISTORY, items)), shape=(1, data.n_items)) for items in histories]
    everyone = np.arange(min(BATCH, data.n_users))

    def batch(i: int) -> object:
        with blas_threads(1):
            return model.recommend(everyone, met[everyone], N=N_BEST)

    requests: dict[str, Request] = {
        "recommend": lambda i: model.recommend(_user(i, data), met[_user(i, data)], N=N_BEST),
        "new user": lambda i: model.recommend(0, new[i % len(new)], N=N_BEST, recalculate_user=True),
        "similar items": lambda i: model.similar_items(_item(i, data), N=N_BEST + 1),
        "explain": lambda i: model.explain(_user(i, data), met, _item(i, data), N=N_BEST),
        "batch": batch,
    }
    return {"implicit": requests}


def _user(i: int, data: Interactions) -> int:
    return (7919 * i) % data.n_users


def _item(i: int, data: Interactions) -> int:
    return (104_729 * i) % data.n_items


def _cpu_seconds(request: Request) -> Callable[[], list[float]]:
    """Return a function that makes the next request and returns its CPU seconds."""
    count = iter(range(1_000_000))

    def measure() -> list[float]:
        number, start = next(count), time.process_time()
        request(number)
        return [time.process_time() - start]

    return measure


def _summary(times: dict[str, Times]) -> dict[str, Any]:
    return {
        name: {"median_ms": round(1e3 * time.median, 3), "least_ms": round(1e3 * time.best, 3)}
        for name, time in times.items()
    }
