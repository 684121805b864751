"""Claims about time, judged by numbers made here: each part of a statement can fail alone."""

from __future__ import annotations

import pytest

from research.claims.claim import FAILS, HOLDS
from research.claims.speed import judge_cost, judge_first_order

EXACT, SAMPLED = ("softmax", "sparsemax"), ("sampled-softmax-all", "nce")
NAMES = (*EXACT, *SAMPLED, "rg2")


@pytest.mark.parametrize(
    ("exact", "by_items", "by_draws", "expected"),
    [(1.0, 0.1, 1.0, HOLDS), (0.5, 0.1, 1.0, FAILS), (1.0, 0.9, 1.0, FAILS), (1.0, 0.1, 0.5, FAILS)],
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


@pytest.mark.parametrize(("seconds", "expected"), [(3.1, HOLDS), (2.9, FAILS), (0.5, FAILS)])
def test_speed_persists_or_not(seconds, expected):
    """RG² takes a second; nothing between holding and failing is left."""
    times = {"rg2": 1.0, "softmax": seconds, "sampled-softmax-all": 9.0}
    numbers = {"target": 0.2, **{name: {"peak": 0.3, "seconds to target": time} for name, time in times.items()}}
    assert judge_first_order(numbers).verdict == expected
