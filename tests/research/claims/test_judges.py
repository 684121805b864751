"""Rules that allow for noise: what is within it is not decided, and no seed can turn that into a verdict."""

from __future__ import annotations

import pytest

from research.claims.claim import CORRECTED, FAILS, HOLDS, UNDECIDED
from research.claims.family_training import judge_epochs, judge_stated
from research.claims.generalisation import SIZES, judge_fall, printed_term, with_more_data, zero_risk
from research.claims.printed_tables import finding_1, judge_finding_1
from research.claims.sweeps_over_settings import judge_grid


@pytest.mark.parametrize(
    ("saved", "higher", "expected"),
    [
        (4.0, 4.0, HOLDS),
        (4.0, 2.0, UNDECIDED),
        (0.8, 4.0, UNDECIDED),
        (-2.0, -2.0, UNDECIDED),
        (4.0, -4.0, FAILS),
        (-4.0, 4.0, FAILS),
    ],
)
def test_fewer_epochs(saved, higher, expected):
    both = {"softmax": [1.0], "sparsemax": [1.0]}
    numbers = {"peaks": both, "epochs to 95 %": both, "epochs saved": saved, "peak higher": higher}
    assert judge_epochs(numbers).verdict == expected


@pytest.mark.parametrize(
    ("interval", "expected"),
    [([0.9, 1.0, 1.1], HOLDS), ([0.9, 1.1, 1.4], UNDECIDED), ([1.2, 1.4, 1.6], UNDECIDED), ([1.3, 1.5, 1.7], FAILS)],
)
def test_stated_probabilities(interval, expected):
    numbers = {"error": {"softmax": 0.1, "sparsemax": 0.1}, "by set": {"softmax": [0.1]}}
    assert judge_stated({**numbers, "sparsemax over softmax": interval}).verdict == expected


@pytest.mark.parametrize(
    ("gains", "error", "expected"),
    [([0.0, 0.01], 0.001, HOLDS), ([0.0, 0.1], 0.05, UNDECIDED), ([0.3, 0.4], 0.05, FAILS)],
)
def test_the_grid_of_wrmf(gains, error, expected):
    chosen = {"λ": 0.1, "ndcg@10": 0.2}
    searches = [{"papers' grid": chosen, "larger λ": chosen}] * len(gains)
    assert judge_grid({"searches": searches, "gains": gains, "standard error": error}).verdict == expected


def test_the_bound_is_judged_by_its_fall_and_not_by_its_size():
    """Against the risk of zero scores it is small at the size of Electronics, and stays so with more data."""
    numbers = with_more_data(0)
    assert numbers["Electronics"]["term over the risk of zero scores"] == pytest.approx(0.012, abs=0.001)
    assert numbers["ML-1M"]["term over the risk of zero scores"] == pytest.approx(4.2, abs=0.05)
    assert judge_fall(numbers).verdict == CORRECTED
    falling = {name: {**row, "fall as printed": 0.5} for name, row in numbers.items()}
    assert judge_fall(falling).verdict == HOLDS
    neither = {name: {**row, "left with the rate": 1.0} for name, row in numbers.items()}
    assert judge_fall(neither).verdict == FAILS


def test_the_fall_of_the_printed_term_is_that_of_the_term_itself():
    size = (3, 2, 5)
    terms = [printed_term((3, 2, pairs), 1, largest_loss=7.0) for pairs in (5, 500)]
    found = with_more_data(0, sizes={"small": size}, rank=1)["small"]
    assert found["fall as printed"] == pytest.approx(1 - terms[1] / terms[0])
    users, items, pairs = SIZES["ML-1M"]
    assert zero_risk(SIZES["ML-1M"]) == pytest.approx(users * items**2 / pairs - items)


def test_finding_1_names_the_methods_that_the_paper_names():
    numbers = finding_1(0)
    assert set(numbers["least gain, recommendation"]) == {"WRMF", "SM", "RG²", "RG×"}
    assert set(numbers["least gain, links"]) == {"SM", "RG²", "RG×"}
    assert judge_finding_1(numbers).verdict == CORRECTED
    assert judge_finding_1({**numbers, "mean gain of softmax": 0.2}).verdict == FAILS
