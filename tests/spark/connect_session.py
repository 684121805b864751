"""Fits, lists and files by a client of Spark Connect, beside a fit on one machine; prints what came of it as JSON.

python connect_session.py FOLDER
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from spark_here import QUICK_JAVA

import taylorank as tr
from taylorank.spark import IALS, RG2, RG2Model, evaluate, from_local, tune

JAVA = (
    "--conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=2 --driver-memory 600m "
    f'--conf spark.python.unix.domain.socket.enabled=true --driver-java-options "{QUICK_JAVA}" pyspark-shell'
)


def main(folder: Path) -> None:
    """Do once what there is."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_SUBMIT_ARGS": JAVA}
    from planted_frame import agreement, frame_of, lists_of
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote("local[2]").getOrCreate()
    data = tr.planted(100, 250, interactions=2000, random_state=8)
    frame = frame_of(session, data)
    model = RG2(rank=4, regParam=0.2).fit(frame)
    found: dict[str, Any] = {"session": type(session).__module__, "blocks": model.facts["blocks"]}
    found["agreement"] = agreement(tr.RG2(4, regularization=0.2).fit(data), lists_of(model.recommendForAllUsers(5)), 5)
    found["rows"] = model.transform(frame).count()
    found["ndcg"] = evaluate(model, frame, k=5, metrics="ndcg", seen=None)["ndcg@5"]
    for _ in range(2):
        model.write().overwrite().save(str(folder / "model"))
    loaded = RG2Model.load(str(folder / "model"))
    found["same"] = sorted(map(repr, loaded.itemFactors.collect())) == sorted(map(repr, model.itemFactors.collect()))
    found["items"] = loaded.recommendForAllItems(2).count()
    found["factors"] = loaded.to_local().user_factors.shape
    found["path"] = len(list(model.path([2, 4], [0.2])))
    found["tuned"] = tune(RG2(rank=4), frame, frame.limit(50), metric="ndcg@5", ranks=[2, 4], regParams=[0.2]).fits
    some = frame.select("user").distinct().limit(3)
    found["some"] = from_local(loaded.to_local(), session).recommendForUserSubset(some, 2).count()
    found["ials"] = IALS(rank=2, maxIter=1).fit(frame).facts["sweeps"]
    print(json.dumps(found))
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
