"""Alternating least squares: seconds per sweep, both sides, of RG² and of iALS, against implicit and irspack.

All contenders take turns on the same generated matrix, 32-bit floats, with the same number of threads. A sweep of RG²
is one of `solve_als`, the difference between two of its callbacks, without set-up. It is held against the peers'
conjugate gradients, the fastest they have. A sweep of iALS solves for all users, then for all items, Gram matrices
included and transposes excluded; conjugate gradients make 3 steps everywhere, from the factors of the sweep before.
"Faster" only counts at an equal or lower loss, so the loss of each contender after as many sweeps is beside it:
the exact loss of one objective, from one start (`ials_sweeps`).

    python -m research.bench als --json research/records/bench/als.json
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from research.bench.speed.gather_sum import ITEMS, USERS, long_tailed
from research.bench.speed.ials_sweeps import (
    REGULARIZATION,
    UNOBSERVED,
    Sweeper,
    implicit_sweepers,
    irspack_sweepers,
    our_sweepers,
)
from research.bench.speed.timing import Times, sample_in_turns, timed
from taylorank.data import CSR, Interactions, read_interactions
from taylorank.kernels import aligned_empty, gather_sum
from taylorank.machine import describe_machine
from taylorank.objectives import RG, RG2Objective, rg_objective
from taylorank.objectives.weighted import ials_objective
from taylorank.solvers import AlsSweep, solve_als

METHODS = {"cholesky": "exact", "cg": "conjugate gradients", "blocks": "blocks"}
TARGETS = {64: 12.0, 128: 8.0}  # RG² against the peers' conjugate gradients


def run(*, quick: bool = False, threads: int = 2) -> dict[str, Any]:
    """Time every contender for two widths; `quick` shrinks the data."""
    machine = describe_machine()
    users, items, interactions, repeats = (400, 200, 6_000, 2) if quick else (USERS, ITEMS, 6_600_000, 3)
    rows = long_tailed(interactions, users=users, items=items)
    data = read_interactions(rows.to_scipy())
    cases = [time_case(rows, data, width, repeats=repeats, threads=threads) for width in (64, 128)]
    return {
        "benchmark": "als",
        "interactions": interactions,
        "threads": threads,
        "sweeps": repeats + 1,
        "machine": machine,
        "cases": cases,
    }


def time_case(rows: CSR, data: Interactions, width: int, *, repeats: int, threads: int) -> dict[str, Any]:
    """Time all contenders at one width, then evaluate the loss that each has reached."""
    sweepers = (
        our_sweepers(rows, rows.transpose(), width, threads=threads)
        | implicit_sweepers(rows, width, threads=threads)
        | irspack_sweepers(rows, width, threads=threads)
    )
    objective = rg_of(data)
    rg2 = {"ours, rg2": rg2_sweeps(objective, width), "gather-sums": timed(gather_sums(objective, width, threads))}
    times = sample_in_turns(
        rg2 | {name: timed(contender.sweep) for name, contender in sweepers.items()}, repeats=repeats
    )
    alone = times.pop("gather-sums")
    losses = losses_of(data, sweepers)
    results: dict[str, dict[str, float]] = {}
    for name, time in times.items():
        ours = times[f"ours, {name.rpartition(', ')[2]}"]
        results[name] = time.against(ours) | {"sweeps_timed": len(time.seconds)}
        if name in losses:
            results[name]["loss"] = losses[name]
    return {
        "factors": width,
        "results": results,
        "rg2": rg2_ratios(times),
        "gather_sums": alone.against(times["ours, rg2"]),
    }


def rg_of(data: Interactions) -> RG:
    """RG² of these data, in both orders."""
    objective = rg_objective(RG2Objective, data, proposal_exponent=0.6, context_exponent=1.2)
    assert objective.by_item.nnz == data.nnz  # made on first use: before the clock runs
    return objective


def rg2_sweeps(objective: RG, width: int, *, sweeps: int = 6) -> Callable[[], list[float]]:
    """Return a function that runs `solve_als` and returns the seconds of every sweep but the first."""

    def measure() -> list[float]:
        stamps: list[float] = []

        def note(sweep: AlsSweep) -> None:
            stamps.append(sweep.seconds)

        solve_als(objective, width, penalty=1e-3, sweeps=sweeps, tolerance=0, callback=note)
        return [later - earlier for earlier, later in itertools.pairwise(stamps)]

    return measure


def gather_sums(objective: RG, width: int, threads: int) -> Callable[[], None]:
    """Return the two sparse products of a sweep, without anything else."""
    users, items = (aligned_empty((n, width), np.float32) for n in (objective.by_user.n_rows, objective.by_item.n_rows))
    users[:], items[:] = 1.0, 1.0

    def products() -> None:
        gather_sum(objective.by_user, items, out=users, num_threads=threads)
        gather_sum(objective.by_item, users, out=items, num_threads=threads)
        items[:] = 1.0  # or they would grow with every call

    return products


def rg2_ratios(times: dict[str, Times]) -> dict[str, dict[str, float]]:
    """How many times the seconds of an RG² sweep the peers' fastest sweep takes."""
    ours = times["ours, rg2"]
    return {name: times[name].against(ours) for name in ("implicit, cg", "irspack, cg") if name in times}


def losses_of(data: Interactions, sweepers: dict[str, Sweeper]) -> dict[str, float]:
    """The exact iALS loss of every contender's factors."""
    objective = ials_objective(data, unobserved_weight=UNOBSERVED, regularization=REGULARIZATION, nu=0.0)
    return {name: round(objective.loss(*contender.factors()), 1) for name, contender in sweepers.items()}


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words: seconds and ratios by the fastest sweep of each, medians in brackets."""
    lines = []
    for case in record["cases"]:
        width, results = case["factors"], case["results"]
        peers = "; ".join(f"{name} {_times(ratio)}" for name, ratio in case["rg2"].items())
        own = f"{results['ours, rg2']['min_s']:.3f} s per sweep"
        if "gather_sums" in case:
            own += f", of which two gather-sums {case['gather_sums']['min_s']:.3f} s"
        lines.append(f"K = {width}, RG²: {own}; {peers} (target {TARGETS[width]:g})")
        for method, words in METHODS.items():
            same = {name.partition(",")[0]: r for name, r in results.items() if name.endswith(f", {method}")}
            peers = "; ".join(
                f"{peer} {_times(r)}, loss {_relative(r['loss'], same['ours']['loss'])}"
                for peer, r in same.items()
                if peer != "ours"
            )
            ours = f"{same['ours']['min_s']:.2f} s per sweep, loss {same['ours']['loss']:,.0f}"
            lines.append(f"K = {width}, iALS, {words}: {ours}; {peers}")
    return lines


def _times(result: dict[str, float]) -> str:
    return f"{result['min_times_ours']:.2f} ({result['times_ours']:.2f}) times ours"


def _relative(loss: float, ours: float) -> str:
    share = loss / ours - 1
    return "equal" if abs(share) < 1e-5 else f"{'higher' if share > 0 else 'LOWER'} by {abs(share):.2%}"
