"""What the benchmarks of Spark read from event logs and say of their records; no Spark is needed."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace

import pytest

from research.bench.speed import spark, spark_choice, spark_scale
from research.bench.speed.spark_events import half_iterations, shuffled_bytes
from research.bench.speed.spark_session import within
from research.pages import write
from research.places import Places
from taylorank.errors import DataError


def _job(number, name, start, end):
    begin = {"Event": "SparkListenerJobStart", "Job ID": number, "Submission Time": start * 1000}
    stages = [{"Stage ID": number, "Stage Name": name}]
    return [
        begin | {"Stage Infos": stages},
        {"Event": "SparkListenerJobEnd", "Job ID": number, "Completion Time": end * 1000},
    ]


def test_iterations_and_shuffles_of_an_event_log(tmp_path):
    task = {"Event": "SparkListenerTaskEnd", "Task Info": {"Finish Time": 7000}}
    events = [
        *_job(0, "aggregate at ALS.scala:1", 1, 2),
        *_job(1, "count at ALS.scala:2", 11, 12),
        *_job(2, "aggregate at ALS.scala:1", 12, 13),
        task | {"Task Metrics": {"Shuffle Write Metrics": {"Shuffle Bytes Written": 50}}},
    ]
    (tmp_path / "local-1").write_text("\n".join(json.dumps(event) for event in events) + '\n{"Event": "cut o')
    assert half_iterations(tmp_path, 10.0) == [13.0]
    assert shuffled_bytes(tmp_path, 6.0, 8.0) == 50
    assert shuffled_bytes(tmp_path, 8.0, 9.0) == 0


def test_each_rank_has_its_own_best_or_that_of_the_only_rank_tried():
    trials = [
        {"contender": "ours", "rank": rank, "regParam": reg, "ndcg@20": rank * reg * (1 - reg)}
        for rank in (2, 4)
        for reg in (0.1, 0.4)
    ]
    trials += [{"contender": "mllib", "rank": 2, "alpha": a, "regParam": 1.0, "ndcg@20": a} for a in (1.0, 2.0)]
    record = {"trials": trials}
    assert spark_choice.chosen(record, "ours", 4) == {"regParam": 0.4}
    assert spark_choice.chosen(record, "mllib", 8) == {"alpha": 2.0, "regParam": 1.0}
    assert len(spark_choice.describe(record)) == 3


def test_a_better_ranking_in_less_time_is_what_it_says():
    def one(contender, fit, quality, **others):
        rank = {"asked": 8, "factors": 8, "passes": 3, "iterations": 10, "settings": {}, "memory_mb": 1, "lists_s": 1.0}
        return {
            "contender": contender,
            "data": "gowalla",
            "fit_s": fit,
            "ndcg@20": quality,
            "sweep_s": fit,
            **rank,
            **others,
        }

    said = [
        spark.describe({"results": [one("ours", seconds, quality), one("mllib", 10.0, 0.2)]})[-1]
        for seconds, quality in ((5.0, 0.3), (5.0, 0.1), (20.0, 0.3))
    ]
    assert [line.endswith("kept") for line in said] == [True, False, False]
    given_up = {"contender": "mllib", "data": "20", "asked": 8, "factors": 8, "given_up_after_s": 60}
    assert "given up after 60 s" in spark.describe({"results": [given_up]})[0]


def test_a_benchmark_without_chosen_parameters_says_how_to_choose_them(tmp_path):
    assert spark.settings("mllib", "gowalla", 64)["alpha"] in spark_choice.ALPHAS
    assert set(spark.settings("ours", "gowalla", 128)) == {"regParam"}
    assert spark.settings("ours", "gowalla", 0) == {}  # its defaults
    with pytest.raises(DataError, match="spark-choice"):
        spark.settings("mllib", "gowalla", 64, tmp_path)
    with pytest.raises(DataError, match="--data 1"):
        spark.settings("mllib", "20", 64, tmp_path)


def test_a_call_that_takes_too_long_is_cancelled_and_an_error_of_its_own_is_not_hidden():
    errors = pytest.importorskip("pyspark.errors", reason="pyspark is not installed")

    cancelled = threading.Event()
    session = SimpleNamespace(sparkContext=SimpleNamespace(cancelAllJobs=cancelled.set))

    def job():
        assert cancelled.wait(30)
        raise errors.PySparkException("cancelled")

    assert within(0.05, session, job) is None
    assert 0 <= within(30, session, lambda: None) < 30
    with pytest.raises(errors.PySparkException):
        within(30, session, job)  # at once, for it is cancelled already


@pytest.fixture
def record():
    """Times that grow as 2 s + 3 s per million."""
    points = [
        {
            "millions": size, "interactions": size * 1e6, "users": 10, "items": 5, "passes": 4, "columns": 64,
            "fit_s": 2 + 3 * size, "memory_mb": 100 + size, "shuffled_mb": 8 * size, "sums_mb_per_pass": 1,
            "seconds": dict.fromkeys(spark_scale.PARTS, 2 + 3 * size),
        }
        for size in (1.0, 3.0, 10.0)
    ]  # fmt: skip
    return {"cores": 2, "factors": 64, "points": points, "model": spark_scale.fitted(points)}


def test_the_cost_model_finds_the_rates_and_sees_what_is_not_linear(record):
    assert record["model"]["fit"] == {"fixed": 2.0, "per_million": 3.0, "largest_error": 0.0}
    bent = [point | {"fit_s": point["millions"] ** 2} for point in record["points"]]
    assert spark_scale.fitted(bent)["fit"]["largest_error"] > 0.2
    small, large = (spark_scale.projected(record, size, 1e6, 4) for size in (1e9, 2e9))
    assert small["hours"] < large["hours"] < 2 * small["hours"]
    fitted = record["model"]["memory"]["per_million"] * 1000 / 4  # MB more for each machine of four
    assert large["memory_gb"] - small["memory_gb"] == pytest.approx(fitted / 1e3)


def test_the_page_has_what_was_measured_and_marks_what_was_not(record, tmp_path):
    places = Places(tmp_path)
    page, file = places.docs / "spark.md", places.records / "spark/scale.json"
    for folder in (page.parent, file.parent):
        folder.mkdir(parents=True)
    page.write_text("# Page\n\n## Growth\n\n    spark-scale\n\n<!-- found -->\n\n## Limits\n")
    assert not write("spark", places)
    file.write_text(json.dumps(record))
    assert write("spark", places)
    text = page.read_text()
    assert "Linear within 20 %: kept by reading, a pass, users, peak memory, bytes shuffled, the fit." in text
    assert "| 10.0 M | 10 | 32.0 |" in text
    assert "Nothing in the next table was measured" in text
    assert "| 100 billion |" in text
    assert not write("spark", places)
