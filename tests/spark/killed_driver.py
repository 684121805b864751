"""A fit whose driver kills itself in product number N; with N = 0 it is taken up, and compared with an undisturbed one.

python killed_driver.py FOLDER N
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import taylorank as tr
from taylorank.spark import RG2, normal


def main(folder: Path, number: int) -> None:
    """Fit in `folder`; die in product `number`."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.memory", "600m").config("spark.sql.shuffle.partitions", "1").getOrCreate()
    data = tr.planted(100, 250, interactions=2000, random_state=8)
    frame = session.createDataFrame(data.to_frame("pyarrow").select(["user", "item"]))
    estimator, calls, whole = RG2(rank=3, numUserBlocks=2), [], normal.sum_by_item

    def counted(*args: Any) -> Any:
        calls.append(1)
        if len(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(*args)

    normal.sum_by_item = counted
    model = estimator.copy({estimator.workDir: str(folder)}).fit(frame)
    taken_up = len(calls)
    known = estimator.fit(frame)
    lists = [sorted(map(repr, one.recommendForAllUsers(5).collect())) for one in (model, known)]
    print(json.dumps({"products": taken_up, "all products": len(calls) - taken_up, "same": lists[0] == lists[1]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
