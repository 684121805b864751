"""Time and quality against rank, on small data."""

from __future__ import annotations

from research.bench import run_benchmark


def test_every_rank_and_every_budget_has_its_row():
    record, lines = run_benchmark("rank-budget", quick=True)
    assert [(row["model"], row["K"]) for row in record["rows"]] == [
        ("RG2", 4), ("IALS", 4), ("RG2", 8), ("IALS", 8), ("EASE", None)
    ]  # fmt: skip
    assert [row["model"] for row in record["tuned"]] == ["RG2", "IALS", "EASE"]
    assert all(0 < row["test"] < 1 and row["fits"] >= 1 for row in record["tuned"])
    assert len(lines) == 8
