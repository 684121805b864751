"""A fit on Spark in a process of its own: says when it begins, how long it took, and what came of it.

python -m research.attack.driver_fit FOLDER
"""

from __future__ import annotations

import hashlib
import os
import sys
import time


def main(folder: str) -> None:
    """Fit in `folder`, going on from what is there; print a digest of every list with its scores."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    import taylorank as tr
    from taylorank.spark import RG2

    settings = {"spark.ui.enabled": "false", "spark.driver.memory": "600m", "spark.sql.shuffle.partitions": "1"}
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    data = tr.planted(100, 250, interactions=2000, random_state=8)
    frame = session.createDataFrame(data.to_frame("pyarrow").select(["user", "item"]))
    frame.count()
    print("begins", flush=True)
    began = time.monotonic()
    model = RG2(rank=3, numUserBlocks=2, workDir=folder).fit(frame)
    lists = sorted(map(repr, model.recommendForAllUsers(5).collect()))
    print(f"seconds {time.monotonic() - began:.3f}", flush=True)
    print(f"digest {hashlib.sha256(''.join(lists).encode()).hexdigest()}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
