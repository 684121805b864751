"""Every benchmark of the closed-form core runs on small data, and its record says what it should."""

from __future__ import annotations

import json

import numpy as np
import pytest

from research.bench import run_benchmark
from research.bench.speed import growth
from research.bench.speed.gather_sum import long_tailed
from research.bench.speed.ials_sweeps import initial_factors, our_sweepers
from research.bench.speed.process import peak_mb, resident_mb, return_memory
from research.bench.speed.timing import sample_in_turns


def quick(name):
    record, lines = run_benchmark(name, quick=True)
    assert lines
    assert "cpu" in record["machine"]
    json.dumps(record)
    return record, lines


def test_sweeps_have_times_and_the_losses_of_exact_solvers_are_equal():
    record, lines = quick("als")
    for case in record["cases"]:
        results = case["results"]
        assert results["ours, rg2"]["min_s"] > 0
        assert {"ours, cholesky", "ours, cg", "ours, blocks"} <= results.keys()
        exact = [result["loss"] for name, result in results.items() if name.endswith("cholesky")]
        np.testing.assert_allclose(exact, exact[0], rtol=1e-4)  # one objective, one start, one number of sweeps
        assert results["ours, cg"]["loss"] == pytest.approx(exact[0], rel=0.1)
    assert lines[0].startswith("K = 64, RG²")
    assert "target 12" in lines[0]


def test_growth_times_every_size():
    record, _ = quick("growth")
    assert [p["interactions"] for p in record["points"]] == [1000 * n for n in growth.MILLIONS]
    assert record["growth"]["rg2"]["tenfold"].keys() == {"1,000", "2,000", "5,000"}


@pytest.mark.parametrize(("power", "linear"), [(1.0, True), (1.03, True), (1.06, False), (2.0, False)])
def test_growth_is_judged_by_what_tenfold_data_cost(power, linear):
    found = growth.growth_of([(n, 1e-9 * n**power) for n in (1, 2, 10, 20)])
    assert found["slope"] == pytest.approx(power, abs=1e-3)
    assert found["linear"] is linear
    assert found["largest_ratio"] == pytest.approx(20 ** (power - 1), rel=1e-2)


def test_larger_matrices_are_the_smallest_over_again():
    base = long_tailed(300, users=20, items=30)
    thrice = growth.repeated(base, 3).to_scipy().toarray()
    np.testing.assert_array_equal(thrice, np.vstack([base.to_scipy().toarray()] * 3))


def test_memory_counts_at_least_the_factors():
    record, lines = quick("memory")
    assert [r["fit"] for r in record["results"]] == ["rg2-als", "ials", "rg2-spectral"]
    for result in record["results"]:
        assert result["total_mb"] >= result["input_mb"]
        assert 0 < result["factors_mb"] < 10
    assert all("target" in line for line in lines)


def test_peaks_are_seen():
    return_memory()
    before = resident_mb()
    held = np.ones(8 << 20)  # 64 MiB
    assert peak_mb() >= before + 60
    assert resident_mb() >= before + 60
    assert held[-1] == 1


def test_every_svd_is_as_accurate_as_it_says():
    record, _ = quick("svd")
    for case in record["cases"]:
        for name, result in case["results"].items():
            assert result["finished"], name
            slack = 10 if name in ("arpack", "propack") else 1.2  # SciPy's stop by estimates of their own
            assert result["residual"] <= slack * record["tolerance"], name
            assert result["orthonormality"] <= 1e-3, name
            assert result["passes"] > 0, name


@pytest.mark.parametrize("name", ["gather-sum", "top-k"])
def test_kernels_agree_with_their_peers(name):
    record, _ = quick(name)
    for case in record["cases"]:
        assert case["results"]["ours"]["times_ours"] == 1
        assert len(case["results"]) > 2


def test_contenders_start_alike_and_go_on_from_their_own_factors():
    rows = long_tailed(600, users=40, items=30)
    contender = our_sweepers(rows, rows.transpose(), 4, threads=1)["ours, cholesky"]
    start = [factors.copy() for factors in contender.factors()]
    np.testing.assert_array_equal(start[1], initial_factors(rows, 4)[1])
    contender.sweep()
    assert not np.array_equal(start[0], contender.factors()[0])


def test_turns_are_taken():
    calls = []
    sampled = {name: (lambda name=name: calls.append(name) or [1.0, 2.0]) for name in "ab"}
    times = sample_in_turns(sampled, repeats=2)
    assert calls == list("ababab")
    assert times["a"].seconds == (1.0, 2.0, 1.0, 2.0)
    assert times["a"].against(times["b"])["times_ours"] == 1


def test_single_requests_of_every_kind_have_times():
    record, lines = quick("single-requests")
    assert {"recommend", "new user", "similar items", "explain"} <= record["requests"].keys()
    for found in record["requests"].values():
        assert {"RG2", "IALS"} <= found.keys()
        assert all(value["median_ms"] > 0 for value in found.values())
    assert lines[1].startswith("recommend: RG2 ")


@pytest.mark.filterwarnings("ignore:builtin type .* has no __module__ attribute:DeprecationWarning")  # SWIG in faiss
def test_stores_have_recall_time_and_size_or_say_what_is_missing():
    record, lines = quick("stores")
    assert list(record["models"]) == ["RG2, 32", "student, 8"]
    large, small = (
        {(row["kind"], row["index"]): row for row in model["stores"]} for model in record["models"].values()
    )
    assert len(large) == len(small) == 4
    assert all(row["measured"]["recall"] > 0.9 for row in large.values() if "missing" not in row)
    assert small["parquet", "exact"]["bytes"] < large["parquet", "exact"]["bytes"]
    assert sum("ms per query" in line or "pip install" in line for line in lines) == 8


def test_new_users_of_a_student_are_timed_and_compared():
    record, lines = quick("student-fold-in")
    assert record["together"]["ms_a_user"] > 0
    assert record["alone"]["users"] == 100
    assert record["agreement"]["common_items"] > 0.5
    for who, target in (("teacher", 22), ("student", 120)):
        found = record[who]
        (line,) = (line for line in lines if line.startswith(f"{who} of {found['factors']} numbers"))
        assert f"{found['fit_s']:.1f} s (target {target})" in line
        assert f"recall@20 {found['recall@20']:.4f}, NDCG@20 {found['ndcg@20']:.4f}" in line
        assert 0 < found["ndcg@20"] < 1
