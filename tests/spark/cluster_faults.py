"""Fits on a small cluster of processes while executors die and shuffle files vanish; prints what came of each as JSON.

python cluster_faults.py FOLDER
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import taylorank as tr
from taylorank.spark import RG2, reduction

OF_EXECUTORS = b"CoarseGrainedExecutorBackend"


def session_in(folder: Path) -> Any:
    """Two executors with a core each, whose files lie in `folder`."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_WORKER_DIR"] = str(folder / "work")
    os.environ["SPARK_LOCAL_DIRS"] = str(folder / "local")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    settings = {
        "spark.executor.memory": "600m",
        "spark.driver.memory": "600m",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def executors() -> list[int]:
    """The processes of executors that this process has started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command, status = (entry / "cmdline").read_bytes(), (entry / "stat").read_text()
            except OSError:
                continue
            if OF_EXECUTORS in command and status.rsplit(")", 1)[1].split()[0] != "Z" and _is_ours(int(entry.name)):
                found.append(int(entry.name))
    return found


def _is_ours(process: int) -> bool:
    while process > 1:
        if process == os.getpid():
            return True
        try:
            process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            return False
    return False


class Trouble:
    """Does harm once, as soon as it can after the third product of a fit has begun."""

    def __init__(self, harm: Any) -> None:
        self.harm, self.done, self.calls = harm, 0, 0

    def __enter__(self) -> Trouble:
        from taylorank.spark import normal

        self.module, self.whole = normal, normal.sum_by_item

        def watched(*args: Any) -> Any:
            self.calls += 1
            thread = threading.Thread(target=self._try) if self.calls == 3 else None
            if thread is not None:
                thread.start()
            result = self.whole(*args)
            if thread is not None:
                thread.join()
            return result

        normal.sum_by_item = watched
        return self

    def __exit__(self, *error: object) -> None:
        self.module.sum_by_item = self.whole

    def _try(self) -> None:
        end = time.monotonic() + 20
        while not self.done and time.monotonic() < end:
            self.done = self.harm()
            time.sleep(0.002)


def kill_executor() -> int:
    """Kill one executor."""
    process = executors()[0]
    os.kill(process, signal.SIGKILL)
    return 1


def remove_shuffle_files(folder: Path, before: set[Path]) -> int:
    """Remove the outputs of map tasks that were not there before."""
    found = [file for file in (folder / "local").rglob("shuffle_*.data") if file not in before]
    for file in found:
        file.unlink(missing_ok=True)
    return len(found)


def bits(model: Any) -> str:
    """A hash of all item and user vectors."""
    digest = hashlib.sha256(model.files.folder.read_bytes("item_arrays"))
    for row in model.files.users(SESSION).orderBy("user").collect():
        digest.update(repr((row["user"], row["vector"])).encode())
    return digest.hexdigest()


def main(folder: Path) -> None:
    """Fit once in peace, and once with each kind of trouble."""
    global SESSION
    SESSION = session_in(folder)
    data = tr.planted(120, 300, interactions=2500, random_state=8)
    frame = SESSION.createDataFrame(data.to_frame("pyarrow").select(["user", "item"]))
    estimator = RG2(rank=4, numUserBlocks=3)
    reduction.DIRECT = 0  # every sum goes through a shuffle
    found: dict[str, Any] = {"peace": [1, bits(estimator.fit(frame))]}
    before = set((folder / "local").rglob("shuffle_*.data"))
    harms = {"shuffle files": lambda: remove_shuffle_files(folder, before), "executor": kill_executor}
    for name, harm in harms.items():
        before |= set((folder / "local").rglob("shuffle_*.data"))
        with Trouble(harm) as trouble:
            model = estimator.fit(frame)
        found[name] = [trouble.done, bits(model)]
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
