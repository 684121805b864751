"""A client of Spark Connect has what any other session has."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from spark_here import require_spark

from taylorank.errors import ParameterError

PARTS = ("grpc", "grpc_status", "google.rpc", "zstandard")


def _has_connect() -> bool:
    try:
        return all(find_spec(part) is not None for part in PARTS)
    except ModuleNotFoundError:
        return False


def test_fits_lists_and_files_by_a_client(tmp_path):
    require_spark()
    if not _has_connect():
        pytest.skip("Spark Connect is not installed: pip install 'pyspark[connect]'")
    script = Path(__file__).with_name("connect_session.py")
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, timeout=580)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert "connect" in found["session"]
    assert found["blocks"] == 2  # tasks at a time, not the 200 partitions of a shuffle
    same, error = found["agreement"]
    assert same >= 0.98
    assert error < 1e-2  # vectors of close singular values, of so few data
    assert found["same"]
    assert found["rows"] == 2000
    assert found["ndcg"] > 0
    assert found["items"] > 200
    assert found["factors"] == [100, 4]
    assert found["ials"] == 1
    assert (found["path"], found["tuned"], found["some"]) == (2, 1, 3)


def test_a_client_of_another_machine_is_told_to_set_a_folder():
    pytest.importorskip("pyspark")
    from taylorank.spark.session import work_folder

    class Remote(SimpleNamespace):
        """Looks like a client of Connect."""

    Remote.__module__ = "pyspark.sql.connect.session"
    session = Remote(client=SimpleNamespace(host="spark.example"))
    with pytest.raises(ParameterError, match="workDir") as error:
        work_folder(session, "")
    assert "\n" not in str(error.value)
    assert work_folder(session, "/mnt/shared")[0].address == "/mnt/shared"


def test_a_cluster_has_the_folder_of_hadoop_or_of_the_environment(monkeypatch):
    pytest.importorskip("pyspark")
    from taylorank.spark.session import work_folder

    def cluster(system):
        own = SimpleNamespace(hadoopConfiguration=lambda: {"fs.defaultFS": system})
        conf = {"spark.master": "yarn"}
        return SimpleNamespace(conf=conf, _sc=SimpleNamespace(_jsc=own))

    found, is_temporary = work_folder(cluster("hdfs://name"), "")
    assert found.address.startswith("hdfs://name/tmp/taylorank-")
    assert is_temporary
    with pytest.raises(ParameterError, match="TAYLORANK_SPARK_DIR"):
        work_folder(cluster("file:///"), "")
    monkeypatch.setenv("TAYLORANK_SPARK_DIR", "/mnt/shared")
    assert work_folder(cluster("file:///"), "")[0].address.startswith("/mnt/shared/tmp/taylorank-")


def test_two_fits_at_once_leave_the_session_as_it_was():
    pytest.importorskip("pyspark")
    from taylorank.spark.reduction import RECORDS, records_per_batch

    values = {RECORDS: "10000"}
    session = SimpleNamespace(conf=SimpleNamespace(get=values.get, set=values.__setitem__))
    one, other = (records_per_batch(session, 8) for _ in range(2))
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert values == {RECORDS: "8"}  # the other goes on
    other.__exit__(None, None, None)
    assert values == {RECORDS: "10000"}


def test_executors_that_are_added_when_there_is_work_count():
    pytest.importorskip("pyspark")
    from taylorank.spark.session import slots

    def cluster(**settings):
        java = SimpleNamespace(
            maxNumConcurrentTasks=lambda _: 1,
            resourceProfileManager=lambda: SimpleNamespace(defaultResourceProfile=lambda: None),
        )
        context = SimpleNamespace(_jsc=SimpleNamespace(sc=lambda: java), defaultParallelism=6)
        return SimpleNamespace(
            conf={f"spark.{name.replace('_', '.')}": value for name, value in settings.items()}, _sc=context
        )

    assert slots(cluster()) == 1
    grows = {"dynamicAllocation_enabled": "true", "executor_cores": "8", "task_cpus": "4"}
    assert slots(cluster(**grows, dynamicAllocation_maxExecutors="50")) == 100
    assert slots(cluster(**grows | {"task_cpus": "2"})) == 3  # without a limit: what Spark counts on
    closed = cluster(task_cpus="2")
    closed._sc._jsc = None
    assert slots(closed) == 3
