"""Gather-sum against SciPy and PyTorch (MKL): seconds for P[x, :] = Σ_{y ∈ row x} Q[y, :], 32-bit floats.

All contenders take turns on the same arrays with the same number of threads (SciPy has one). Factors start on
a cache line, as PyTorch's own do, except for `ours, plain array`. PyTorch and ours write into a given array.
`sequential` is our kernel on the same row lengths with indices that count upwards: what is left when no
access is random. `plain C loop` is what a compiler makes of the obvious three loops, on the same threads. Gathered
bytes are those of the rows of Q; most come from caches, so they may exceed the memory bandwidth, which plain copies
measure.

    python -m research.bench gather-sum --json research/records/bench/gather_sum.json
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.bench.speed.roofline import copy_gb_per_s, plain_loop
from research.bench.speed.timing import Times, time_in_turns, times_ours
from taylorank.data.csr import CSR
from taylorank.kernels import aligned_empty, gather_sum
from taylorank.machine import describe_machine

USERS, ITEMS = 69_815, 9_888
Contenders = dict[str, Callable[[], object]]


def run(*, quick: bool = False, threads: int = 2) -> dict[str, Any]:
    """Time every contender for two sizes, two widths and both directions; `quick` shrinks the data."""
    machine = describe_machine()
    sizes, repeats = ((60_000,), 3) if quick else ((6_600_000, 8_200_000), 15)
    cases = []
    for interactions in sizes:
        by_user = long_tailed(interactions)
        for direction, rows in (("by user", by_user), ("by item", by_user.transpose())):
            for width in (64, 128):
                case = {"interactions": interactions, "direction": direction, "factors": width}
                cases.append(case | time_case(rows, width, repeats=repeats, threads=threads))
    return {
        "benchmark": "gather_sum",
        "threads": threads,
        "copy_gb_per_s": copy_gb_per_s(threads=threads, megabytes=16 if quick else 512),
        "repeats": repeats,
        "machine": machine,
        "cases": cases,
    }


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    lines = []
    for case in record["cases"]:
        ours = case["results"]["ours"]
        peers = times_ours(case["results"], ("scipy", "torch (MKL)", "plain C loop"), key="times_ours")
        size = f"{case['interactions'] / 1e6:.1f} M, {case['direction']}, K = {case['factors']}"
        lines.append(f"{size}: {1000 * ours['median_s']:.1f} ms, {ours['gathered_gb_per_s']:.0f} GB/s; {peers}")
    if "copy_gb_per_s" in record:
        lines.append(f"plain copies read and write {record['copy_gb_per_s']:.0f} GB/s of memory")
    return lines


def long_tailed(interactions: int, *, users: int = USERS, items: int = ITEMS, seed: int = 0) -> CSR:
    """Draw distinct pairs; popularity falls as (rank + c)^-γ for users (γ = 0.6) and items (γ = 0.9)."""
    rng = np.random.default_rng(seed)
    user_steps = np.cumsum(rng.permutation((np.arange(users) + 50.0) ** -0.6))
    item_steps = np.cumsum(rng.permutation((np.arange(items) + 20.0) ** -0.9))
    pairs = np.empty(0, dtype=np.int64)  # user · items + item
    while len(pairs) < interactions:
        count = int(1.5 * (interactions - len(pairs))) + 1000
        user = np.searchsorted(user_steps, rng.random(count) * user_steps[-1], side="right")
        item = np.searchsorted(item_steps, rng.random(count) * item_steps[-1], side="right")
        pairs = np.union1d(pairs, user * items + item)
    pairs = np.sort(rng.choice(pairs, interactions, replace=False, shuffle=False))
    lengths = np.bincount(pairs // items, minlength=users)
    return CSR(np.concatenate([[0], np.cumsum(lengths)]), (pairs % items).astype(np.int32), None, items)


def time_case(rows: CSR, width: int, *, repeats: int, threads: int) -> dict[str, Any]:
    """Time all contenders on one matrix and check that they agree."""
    values = np.random.default_rng(1).standard_normal((rows.n_columns, width), dtype=np.float32)
    factors = aligned_empty(values.shape, values.dtype)
    factors[:] = values
    contenders = our_contenders(rows, factors, values, threads=threads)
    contenders |= {"scipy": scipy_contender(rows, factors)} | torch_contender(rows, factors, threads=threads)
    contenders |= plain_loop(rows, factors, threads=threads)
    check_agreement(contenders)
    times = time_in_turns(contenders, repeats=repeats)
    gathered = 4 * rows.nnz * width  # bytes of Q that every contender reads
    return {"results": {name: summary(time, times["ours"], gathered) for name, time in times.items()}}


def summary(times: Times, ours: Times, gathered: int) -> dict[str, float]:
    """Return seconds, how many times slower than ours, and gathered bytes per second, at the median."""
    return times.against(ours) | {"gathered_gb_per_s": round(gathered / times.median / 1e9, 1)}


def our_contenders(rows: CSR, factors: NDArray[Any], plain: NDArray[Any], *, threads: int) -> Contenders:
    """Return our kernel without weights, with weights, on an unaligned array, and on sequential indices."""
    out = aligned_empty((rows.n_rows, factors.shape[1]), factors.dtype)
    ones = np.ones(rows.nnz, dtype=np.float32)
    counting = replace(rows, indices=np.arange(rows.nnz, dtype=np.int32) % np.int32(rows.n_columns))
    return {
        "ours": lambda: gather_sum(rows, factors, out=out, num_threads=threads),
        "ours, weighted": lambda: gather_sum(rows, factors, weights=ones, out=out, num_threads=threads),
        "ours, plain array": lambda: gather_sum(rows, plain, out=out, num_threads=threads),
        "sequential": lambda: gather_sum(counting, factors, out=out, num_threads=threads),
    }


def scipy_contender(rows: CSR, factors: NDArray[Any]) -> Callable[[], object]:
    """Return SciPy's CSR @ dense; it has one thread and no output argument."""
    matrix = rows.to_scipy()
    return lambda: matrix @ factors


def torch_contender(rows: CSR, factors: NDArray[Any], *, threads: int) -> Contenders:
    """Return PyTorch's CSR @ dense, which is MKL's, or nothing where PyTorch is not installed."""
    try:
        import torch
    except ImportError:
        return {}
    indptr, indices = torch.from_numpy(rows.indptr.astype(np.int32)), torch.from_numpy(rows.indices.copy())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "Sparse CSR tensor support is in beta state"
        shape = (rows.n_rows, rows.n_columns)
        matrix = torch.sparse_csr_tensor(indptr, indices, torch.ones(rows.nnz), size=shape)
    dense = torch.from_numpy(factors)
    out = torch.empty(rows.n_rows, factors.shape[1])

    def product() -> object:
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            return torch.mm(matrix, dense, out=out)
        finally:
            torch.set_num_threads(before)

    return {"torch (MKL)": product}


def check_agreement(contenders: Contenders) -> None:
    """Raise unless all contenders, apart from `sequential`, return the same matrix up to rounding."""
    expected = np.asarray(contenders["scipy"]())
    for name, call in contenders.items():
        if name != "sequential":
            np.testing.assert_allclose(np.asarray(call()), expected, rtol=1e-3, atol=2e-2, err_msg=name)
