"""The page of optimisers says what its records say."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

from research.bench.optimisers import convergence
from research.bench.speed import rg_step
from research.pages import optimisers
from research.places import HERE


@pytest.fixture(scope="module")
def study():
    return json.loads(json.dumps({**convergence.run(quick=True), "command": "c d"}))


def test_every_study_has_its_figure():
    page = (HERE.docs / "optimisers.md").read_text(encoding="utf-8")
    for file in (HERE.records / "optimisers").glob("convergence-*.json"):
        assert f"optimisers/{file.stem}.svg" in page
        assert (HERE.docs / "optimisers" / f"{file.stem}.svg").stat().st_size > 10_000


def test_a_study_becomes_two_tables(study):
    text = optimisers.convergence_text(study)
    found = study["runs"][0]["curves"]["RG², Newton-CG"]
    row = next(line for line in text.splitlines() if line.startswith("| RG², Newton-CG |")).split(" | ")
    assert row[-1] == "superlinear |"
    assert row[4] == f"{found['convergence']['last_excess']:.0e}"
    best = max(point["metric"] for point in found["points"])
    assert sum(f"| RG², Newton-CG | 1 | {best:.4f} |" in line for line in text.splitlines()) == 1
    assert all(text.count(f"| {name} |") == 1 + (name in convergence.RG2_NAMES) for name in convergence.NAMES)


def test_steps_become_a_table():
    record = rg_step.run(quick=True, device="cpu")
    record["rows"][-1] |= {"seconds": None, "bytes": None}
    text = optimisers.steps_text(record)
    assert "out of memory" in text
    assert f"| 1,000 | {1000 * record['rows'][0]['seconds']:.1f} ms" in text


def test_the_figure_has_a_line_for_every_split(study):
    pytest.importorskip("altair")
    spec = optimisers.figure(study)
    left, right = (spec["datasets"][panel["data"]["name"]] for panel in spec["hconcat"])
    assert {point["name"] for point in left} <= set(convergence.RG2_NAMES)
    assert {point["name"] for point in right} == set(convergence.NAMES)
    assert all(point["excess"] > 0 for point in left)
    assert len(set(optimisers.COLOURS)) == len(convergence.NAMES)
