"""Seconds and memory of a step of RG² and of softmax, in small."""

from __future__ import annotations

import json

import pytest

torch = pytest.importorskip("torch")

from research.bench.speed import rg_step  # noqa: E402


def test_steps_are_measured_at_every_size(run, tmp_path):
    record = rg_step.run(quick=True)
    assert [(row["items"], row["kind"]) for row in record["rows"]] == [
        (count, kind) for count in (1000, 4000) for kind in rg_step.KINDS
    ]
    assert all(row["seconds"] > 0 for row in record["rows"])
    assert len(rg_step.describe(record)) == 8
    given = ["--items", "500", "--queries", 8, "--factors", 4, "--json", tmp_path / "s.json"]
    assert run("bench", "rg-step", *given) == 0
    assert json.loads((tmp_path / "s.json").read_text())["queries"] == 8


def test_slow_kind_is_left_out_for_more_items():
    record = rg_step.run(items="500,600", queries=8, factors=4, most_seconds=0.0)
    assert {row["items"] for row in record["rows"]} == {500}


@pytest.mark.parametrize("kind", rg_step.KINDS)
def test_step_leaves_gradients_of_both_sides(kind):
    U, V = (torch.randn(rows, 4, requires_grad=True) for rows in (8, 50))
    rg_step.make_step(kind, U, V, torch.Generator().manual_seed(0))()
    assert U.grad.abs().sum() > 0
    assert V.grad.to_dense().abs().sum() > 0
