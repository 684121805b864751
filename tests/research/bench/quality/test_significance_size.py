"""The study of the tests' level: its cases are what they are called, and its record says what was found."""

from __future__ import annotations

import json

import numpy as np
import pytest

from research.bench.quality.significance_size import CASES, describe, differs, drawn, measured
from research.places import HERE


@pytest.mark.parametrize("name", CASES)
def test_models_differ_where_the_case_says_so(name):
    case = CASES[name]
    rng = np.random.default_rng(0)
    means = np.mean([drawn(rng, **case).mean(axis=0) for _ in range(400)], axis=0)
    apart = np.abs(means[:, None] - means)
    truth = np.array([[differs(i, j, **case) for j in range(case["models"])] for i in range(case["models"])])
    assert apart[~truth].max() < 0.004
    assert apart[truth].min(initial=1) > 0.01


def test_equal_models_are_marked_less_often_by_all_pairs():
    found = measured(CASES["17 equal"], 100, 3)["false"]
    assert found["all_pairs"] < found["holm"]


def test_the_record_shows_that_the_level_is_kept():
    record = json.loads((HERE.records / "bench" / "significance_size.json").read_text(encoding="utf-8"))
    noise = 3 * np.sqrt(0.05 * 0.95 / record["repetitions"])
    false = {row["case"]: row["false"] for row in record["cases"]}
    assert max(rates["all_pairs"] for rates in false.values()) < 0.05 + noise
    assert false["17 equal"]["holm"] > 0.05 + noise
    assert all(row["found"]["all_pairs"] > 0.5 for row in record["cases"] if "found" in row)
    assert len(describe(record)) == 1 + len(CASES)
