"""Fits on a small cluster of processes while executors die, tasks fail and shuffle files vanish; prints JSON.

python cluster_faults.py FOLDER
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from spark_here import QUICK_JAVA

import taylorank as tr
from taylorank.spark import IALS, RG2, reduction, row_als
from taylorank.spark.session import map_arrow, numbered, slots, task_threads

EXECUTOR = b"CoarseGrainedExecutorBackend"


def session_in(folder: Path) -> Any:
    """Two executors whose files lie in `folder`; a task has the two cores of one."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_WORKER_DIR"] = str(folder / "work")
    os.environ["SPARK_LOCAL_DIRS"] = str(folder / "local")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,2,2048]")
    settings = {
        "spark.task.cpus": "2",
        "spark.default.parallelism": "7",  # says nothing of how many tasks run at a time
        "spark.executor.memory": "2048m",
        "spark.executor.extraJavaOptions": QUICK_JAVA,
        "spark.driver.extraJavaOptions": QUICK_JAVA,
        "spark.driver.memory": "600m",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.codegen.wholeStage": "false",
        "spark.shuffle.io.retryWait": "10ms",
        "spark.driver.host": "127.0.0.1",
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@dataclass(frozen=True)
class Harmful:
    """A function of a task which, the first time that any task has yielded a batch, does harm."""

    whole: Callable[[Any], Iterator[Any]]
    harm: Callable[[], None]
    mark: Path

    def __call__(self, batches: Any) -> Iterator[Any]:
        """Yield what the function yields."""
        for batch in self.whole(batches):
            yield batch
            try:
                with self.mark.open("x") as file:
                    file.write(str(executor()))
            except FileExistsError:
                continue
            self.harm()


def executor() -> int:
    """The process of the executor that runs this task."""
    process = os.getppid()
    while EXECUTOR not in Path(f"/proc/{process}/cmdline").read_bytes():
        process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return process


def kill() -> None:
    """Kill the executor, which ends this task."""
    os.kill(executor(), signal.SIGKILL)
    time.sleep(30)


def fail() -> None:
    """Fail."""
    raise RuntimeError("this task fails once")


def lose_files(folder: Path, before: set[Path]) -> None:
    """Remove what the map tasks of the running shuffle have left; then fail, so that it is read again."""
    found = [file for file in folder.rglob("shuffle_*.data") if file not in before]
    assert found
    for file in found:
        file.unlink()
    fail()


def disturbed(
    fit: Callable[[], Any], module: ModuleType, call: int, harm: Callable[..., None] | None, folder: Path
) -> tuple[Any, int]:
    """Return a fit in which tasks of call number `call` of `map_arrow` in a module do harm, and the number of calls."""
    whole, calls = module.map_arrow, []

    def watched(data: Any, function: Any, schema: Any) -> Any:
        calls.append(1)
        if harm is not None and len(calls) == call:
            own = partial(harm, folder / "local", files_of(folder)) if harm is lose_files else harm
            function = Harmful(function, own, folder / "harm done")
        return whole(data, function, schema)

    module.map_arrow = watched
    try:
        return fit(), len(calls)
    finally:
        module.map_arrow = whole


def files_of(folder: Path) -> set[Path]:
    """Outputs of map tasks."""
    return set((folder / "local").rglob("shuffle_*.data"))


def bits(session: Any, model: Any) -> str:
    """A hash of all item and user vectors."""
    digest = hashlib.sha256(model.files.folder.read_bytes("item_arrays"))
    for row in model.files.users(session).orderBy("user").collect():
        digest.update(repr((row["user"], row["vector"])).encode())
    return digest.hexdigest()


def attempts(session: Any, group: str) -> int:
    """How often the stage of a group of jobs that was tried most was tried."""
    tracker = session.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
    return 1 + max(stage.currentAttemptId for stage in stages if stage is not None)


def threads_of_a_task(batches: Any) -> Iterator[Any]:
    """Yield how many threads kernels may use."""
    import pyarrow as pa

    for _ in batches:
        yield pa.record_batch([pa.array([task_threads()])], names=["threads"])


def main(folder: Path) -> None:
    """Fit once in peace, and once with each kind of trouble."""
    session = session_in(folder)
    data = tr.planted(400, 900, interactions=9000, random_state=8)
    frame = session.createDataFrame(data.to_frame("pyarrow").select(["user", "item"]))
    models = {
        "RG2": (RG2(rank=4, maxIter=2, numUserBlocks=2), reduction),  # as many blocks while an executor is away
        "IALS": (IALS(rank=3, maxIter=2, numUserBlocks=2), row_als),
    }
    reduction.DIRECT = 0  # every sum goes through a shuffle
    threads = map_arrow(numbered(session, 1), threads_of_a_task, "threads long").first()["threads"]
    print(json.dumps({"slots": slots(session), "threads": threads}), flush=True)
    # The last two calls of RG2 are the parts of a product and their sums; those of iALS a half-sweep each.
    troubles = [
        ("RG2", 0, None),
        ("IALS", 0, None),
        ("RG2", -2, fail),
        ("RG2", -1, lose_files),
        ("IALS", -1, fail),
        ("IALS", -2, kill),
        ("RG2", -1, kill),
    ]
    calls = {}
    for number, (name, call, harm) in enumerate(troubles):
        session.sparkContext.setJobGroup(f"fit {number}", "a fit and its trouble")
        (mark := folder / "harm done").unlink(missing_ok=True)
        estimator, module = models[name]
        fit = partial(estimator.fit, frame)
        model, calls[name] = disturbed(fit, module, calls.get(name, 0) + 1 + call, harm, folder)
        found = {"model": name, "harm": harm.__name__ if harm else "", "call": call}
        found |= {"attempts": attempts(session, f"fit {number}"), "bits": bits(session, model)}
        if mark.exists():
            found["is alive"] = Path(f"/proc/{mark.read_text()}/cmdline").exists()
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
