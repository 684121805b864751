"""A fit whose driver kills itself in product number N.

python killed_driver.py FOLDER N
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from planted_frame import frame_of
from spark_here import QUICK_JAVA

import taylorank as tr
from taylorank.spark import RG2, normal

ESTIMATOR = RG2(rank=3, numUserBlocks=2)


def data() -> tr.Interactions:
    """What is fitted."""
    return tr.planted(100, 250, interactions=2000, random_state=8)


def main(folder: Path, number: int) -> None:
    """Fit in `folder`; die in product `number`."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.extraJavaOptions", QUICK_JAVA).config("spark.driver.memory", "600m")
    session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    calls, whole = [], normal.sum_by_item

    def counted(*args: Any) -> Any:
        calls.append(1)
        if len(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(*args)

    normal.sum_by_item = counted
    ESTIMATOR.copy({ESTIMATOR.workDir: str(folder)}).fit(frame_of(session, data()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
