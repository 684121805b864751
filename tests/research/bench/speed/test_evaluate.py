from __future__ import annotations

from research.bench import run_benchmark
from research.bench.speed import evaluate


def test_the_benchmark_runs_and_its_contenders_agree():
    record, lines = run_benchmark("evaluate", quick=True)
    assert [case["factors"] for case in record["cases"]] == [64, 128]
    assert len(lines) == 2
    for case in record["cases"]:
        assert {"ours", "our top-k alone", "GEMM and argpartition"} <= set(case["results"])
        assert 0 < case["metrics"]["ndcg@20"] < 1
        assert set(case["metrics"]) == {f"{name}@20" for name in evaluate.METRICS}
