"""Losses beside published rows: every row runs, is chosen on validation data, and a file is gone on with."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

from research.bench.quality import beyond_softmax
from research.bench.quality.beyond_softmax import ROWS, describe, run

ROW = "sampled-bsl/lightgcn/in-batch"


def test_the_best_on_validation_data_is_tested_and_the_file_is_gone_on_with(tmp_path):
    file = tmp_path / "rows.json"
    record = run(tmp_path, rows=ROW, epochs=1, device="cpu", quick=True, file=file, log_line=str)
    row = record["rows"][ROW]
    best = max(row["tried"], key=lambda one: one["validation"]["ndcg@20"])
    assert row["chosen"] == best["setting"]
    assert row["chosen"]["options"]["ranks_by"] == "dot"
    assert len(row["tried"]) == 2
    assert 0 < row["test"]["recall@20"] <= 1
    file.write_text(json.dumps({**json.loads(file.read_text()), "rows": {ROW: {**row, "test": "kept"}}}))
    again = run(tmp_path, rows=ROW, epochs=1, device="cpu", quick=True, file=file, log_line=str)
    assert again["rows"][ROW]["test"] == "kept"
    assert "published 0.1892/0.1590" in describe(record)[1]


@pytest.mark.parametrize("name", ROWS)
def test_every_row_is_a_composition_with_known_options(name):
    for setting in beyond_softmax._settings(ROWS[name]):
        beyond_softmax.model_named(name).set_params(**setting)._check()


def test_no_row_begins_when_the_time_is_over(tmp_path):
    assert run(tmp_path, rows="bsl", seconds=-1, quick=True, device="cpu")["rows"] == {}
