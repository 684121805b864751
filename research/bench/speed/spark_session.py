"""A local Spark session for benchmarks, and the peak memory of it: driver, Java and Python workers together."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def local_session(*, cores: int = 2, memory: str = "6g", log: Path | None = None) -> Any:
    """Return Spark on so many cores of this machine; its event log goes to the folder `log`."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{cores}]").appName("taylorank benchmark")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": memory,
        "spark.driver.maxResultSize": "4g",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(2 * cores),
    }
    if log is not None:
        settings |= {"spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file://{log}"}
        settings |= {"spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "false"}
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def within(limit: float, session: Any, call: Callable[[], Any]) -> float | None:
    """Return the seconds of a call; None if it took more than `limit`: then its jobs are cancelled."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    ended = threading.Event()

    def cancel() -> None:
        wait = limit
        while not ended.wait(wait):  # again, for the call may start a job just after
            session.sparkContext.cancelAllJobs()
            wait = 1.0

    watch = threading.Thread(target=cancel, daemon=True)
    began = time.perf_counter()
    watch.start()
    try:
        call()
    except (Py4JError, PySparkException):
        if time.perf_counter() - began < limit:
            raise
        return None
    finally:
        ended.set()
        watch.join()
    return time.perf_counter() - began


class PeakMemory:
    """The largest sum of resident memory (shared pages counted once) of this process and all that it started."""

    def __init__(self, every: float = 0.2) -> None:
        self.every, self.megabytes, self._ended = every, 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.is_set():
            self.megabytes = max(self.megabytes, tree_megabytes(os.getpid()))
            time.sleep(self.every)


def tree_megabytes(root: int) -> float:
    """Return the proportional memory of a process and its descendants."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
    total = 0.0
    for process in parents:
        if _descends(process, root, parents):
            try:
                lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            except OSError:
                continue
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
    return total


def _descends(process: int, root: int, parents: dict[int, int]) -> bool:
    while process > 1:
        if process == root:
            return True
        process = parents.get(process, 0)
    return False
