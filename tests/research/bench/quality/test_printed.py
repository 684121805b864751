"""The studies of the printed penalty and of MovieLens 100K, on small data."""

from __future__ import annotations

import json

import numpy as np
import pytest

import taylorank as tr
from research.bench import run_benchmark
from research.bench.quality.printed_penalty import largest_penalty


def test_scores_shrink_with_lambda_and_vanish_at_the_largest():
    record, lines = run_benchmark("printed-penalty", quick=True)
    json.dumps(record)
    found = record["sets"]["planted"]
    sizes = [row["rms score"] for row in found["plain"]]
    assert sizes[0] == pytest.approx(sizes[2], rel=0.02)  # the papers' λ do next to nothing
    assert sizes[-1] < 0.8 * sizes[0]
    assert len(lines) == 1 + len(found["plain"]) + len(found["weighted"])


def test_the_largest_penalty_is_where_the_factors_vanish():
    data = tr.planted(60, 40, interactions=700, seed=1)
    most = largest_penalty(data)
    fitted = [
        tr.RG2.literal(4, regularization=share * most, iterations=400, tolerance=0).fit(data) for share in (0.97, 1.03)
    ]
    below, above = (np.abs(model.user_factors @ model.item_factors.T).max() for model in fitted)
    assert above < 1e-3 * below


def test_models_of_the_small_ratings_have_metrics_and_rg2_a_calibration_error():
    record, lines = run_benchmark("small-ratings", quick=True)
    json.dumps(record)
    assert {"recall@10", "ndcg@10", "ece@20"} <= record["ours"]["RG2"].keys()
    assert "ece@20" not in record["ours"]["WRMF"]
    assert "ece@20" in record["ours"].get("softmax", {"ece@20": 0.0})  # without torch there is none
    assert ("BPR, one draw" in record["ours"]) == ("softmax" in record["ours"])
    assert lines[0].startswith("RecStudio's BPR")
