"""Stated probabilities against outcomes, on small data."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")

import taylorank as tr
from research.bench import run_benchmark
from research.bench.quality.calibration import LOSSES, ranker_of_loss, stated_and_true


def test_every_loss_has_a_row_with_what_is_stated_and_true():
    record, lines = run_benchmark("calibration", quick=True)
    assert [row["model"] for row in record["rows"]] == ["RG2", "RG2, papers' weights", *LOSSES]
    for row, line in zip(record["rows"], lines, strict=True):
        assert 0 <= row["ece@20"] < 1
        assert row["stated"] == pytest.approx(np.mean([p for p, _ in row["bins"]]), abs=2e-3)
        assert abs(row["stated"] - row["true"]) <= row["ece@20"] + 2e-4  # the error of one bin is the least
        assert f"ece@20 {row['ece@20']:.4f}" in line


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_states_a_distribution_and_its_error_is_that_of_evaluate(name):
    train, valid, test = tr.planted(120, 70, interactions=2500).split(random_state=0)
    model = tr.Neural(name, factors=4, epochs=3, device="cpu").fit(train)
    ranker = ranker_of_loss(model, name)
    np.testing.assert_allclose(ranker.probabilities_of(np.arange(120)).sum(axis=1), 1, rtol=1e-4)
    row = stated_and_true(model, name, test, [train, valid])
    whole = tr.evaluate(SimpleNamespace(ranker=ranker), test, metrics="ece@20", seen=[train, valid])["ece@20"]
    assert row["ece@20"] == pytest.approx(whole, abs=6e-5)
