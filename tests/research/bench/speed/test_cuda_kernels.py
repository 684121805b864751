"""The benchmark of tensor kernels, in small and on the CPU: every stage runs, and a failing one stops no other."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

from research.bench.speed import cuda_kernels


def test_every_stage_finds_the_exact_result():
    lines = []
    record = cuda_kernels.run(quick=True, device="cpu", log_line=lines.append)
    assert {row["stage"] for row in record["rows"]} == set(cuda_kernels.STAGES)
    assert not any("error" in row for row in record["rows"])
    for row in record["rows"]:
        if "distance" in row:
            assert row["distance"] < (0.1 if row.get("method") == "cg" else 1e-5)
        assert row.get("same_bits", True)
        assert row.get("equal_lists", 1.0) == 1.0
    assert [json.loads(line) for line in lines]
    assert len(cuda_kernels.describe(record)) == len(record["rows"])


def test_a_stage_that_fails_leaves_its_error_and_the_next_runs():
    record = cuda_kernels.run(quick=True, device="cpu", stages="nonsense,copy")
    first, second = record["rows"]
    assert "nonsense" in first["error"]
    assert second["gb_per_s"] > 0
