"""Claims about cost and time, judged by numbers made here: each part of a statement can fail alone."""

from __future__ import annotations

import pytest

from research.claims.claim import CORRECTED, FAILS, HOLDS
from research.claims.speed import judge_first_order, judge_time
from research.claims.step_cost import cost_of_steps, judge_cost
from research.claims.sweep_cost import counted_sweeps, misfit

EXACT, SAMPLED = ("softmax", "sparsemax"), ("sampled-softmax-all", "nce")
NAMES = (*EXACT, *SAMPLED, "rg2")


@pytest.mark.parametrize(
    ("exact", "by_items", "by_draws", "expected"),
    [(1.0, 0.1, 1.0, HOLDS), (0.5, 0.1, 1.0, FAILS), (1.0, 0.3, 1.0, FAILS), (1.0, 0.1, 0.5, FAILS)],
)
@pytest.mark.parametrize("one", range(2))
def test_cost_of_a_step(exact, by_items, by_draws, expected, one):
    """It is enough that one of both exact, or one of both sampled losses, costs something else."""
    items = {**dict.fromkeys(EXACT, 1.0), **dict.fromkeys(SAMPLED, 0.1), "rg2": 1.0}
    items |= {EXACT[one]: exact, SAMPLED[one]: by_items}
    numbers = {
        "items": [4000, 8000],
        **{name: [1.0, 2.0] for name in NAMES},
        "exponents in the items": items,
        "exponents in the draws": {**dict.fromkeys(SAMPLED, 1.0), SAMPLED[one]: by_draws},
    }
    assert judge_cost(numbers).verdict == expected


def test_counted_costs_are_the_same_in_every_run():
    pytest.importorskip("torch")
    assert cost_of_steps(0) == cost_of_steps(1)


def test_counts_of_a_sweep_do_not_depend_on_who_runs_it():
    assert counted_sweeps(0) == counted_sweeps(0)


def test_a_formula_is_found_in_counts_made_of_it():
    sizes = [[100, 50, 900, 8], [100, 50, 900, 64], [400, 50, 900, 16], [100, 50, 4000, 16]]
    rows = [
        {"users, items, interactions, rank": size, "fewest": 2.0 * size[2] * size[3] ** 2 + 150 * size[3] ** 3}
        for size in sizes
    ]
    rows[2]["fewest"] += 300 * 16**3  # four hundred users
    assert misfit("|D|K² + (M + N)K³", rows) < 1e-9
    assert misfit("|D|K + (M + N)K² + K³", rows) > 0.15


@pytest.mark.parametrize(("times", "expected"), [(1.5, FAILS), (4.0, HOLDS), (5.1, CORRECTED)])
def test_three_to_five_times(times, expected):
    numbers = {"target ndcg@10": 0.2, "seconds of ALS": 1.0, "seconds of softmax": times, "times faster": times}
    assert judge_time({**numbers, "seconds of the whole spectral fit": 1.0}).verdict == expected


@pytest.mark.parametrize(("seconds", "expected"), [(3.1, HOLDS), (2.9, FAILS), (0.5, FAILS)])
def test_speed_persists_or_not(seconds, expected):
    """RG² takes a second; nothing between holding and failing is left."""
    times = {"rg2": 1.0, "softmax": seconds, "sampled-softmax-all": 9.0}
    numbers = {"target": 0.2, **{name: {"peak": 0.3, "seconds to target": time} for name, time in times.items()}}
    assert judge_first_order(numbers).verdict == expected
