"""One Spark session for all tests, in one process (see conftest.py above); without Java or pyspark they are skipped."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from spark_here import QUICK_JAVA, require_spark

HERE = Path(__file__).parent
if find_spec("pyspark") is None:  # modules that import it are left out; those of Connect say why they are skipped
    collect_ignore_glob = [
        file.name for file in HERE.glob("*.py") if file.name not in ("conftest.py", "spark_here.py", "test_connect.py")
    ]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spark's own warnings are not ours."""
    for item in items:
        if HERE in Path(item.fspath).parents:
            item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    require_spark()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2,4]").appName("taylorank tests")  # a task may fail three times
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": QUICK_JAVA,
        "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than these small jobs
        "spark.driver.host": "127.0.0.1",
        "spark.python.unix.domain.socket.enabled": "true",  # of TCP each job waits 40 ms for an acknowledgement
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "America/New_York",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
