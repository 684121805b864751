"""Reading in a forked process, where polars would wait forever for threads that a fork does not copy."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="systems that fork")

CODE = """
import multiprocessing, sys
import taylorank as tr
from taylorank.data import Interactions, read_interactions

def attempt(action):
    try:
        return action().nnz
    except Exception as error:
        return f"{type(error).__name__}: {error}"

def work(queue):
    queue.put([attempt(action) for action in ACTIONS])

ACTIONS = (
    lambda: read_interactions("log.csv"),
    lambda: read_interactions("log.parquet"),
    lambda: read_interactions({"user": [1], "item": [2]}),
    lambda: read_interactions([{"user": 1, "item": 2}]),
    lambda: read_interactions([(1, 2)]),
    lambda: tr.planted(9, 9, interactions=30),
    lambda: tr.RG2(factors=2).fit(tr.planted(90, 40, interactions=900)).seen,
    lambda: Interactions.load_npz("log.npz"),
    lambda: exported("shop"),
    lambda: listed("lists.parquet"),
    lambda: values(),
)
data = tr.planted(90, 40, interactions=900)
model = tr.RG2(factors=2).fit(data)

def exported(name):
    model.export("parquet", name)
    return data

def listed(name):
    from taylorank.cli import main
    model.save("model.tr")
    try:
        main(["recommend", "model.tr", "--all", "--out", name, "--quiet"])
    except SystemExit:
        raise ValueError("exit") from None
    return data

def values():
    tr.evaluate(model, data, seen=[], k=5, per_user=True).to_frame()
    return data

if sys.argv[1] == "used":
    for name in ("csv", "parquet"):
        read_interactions(f"log.{name}")
elif sys.argv[1] == "imported":
    import polars
context = multiprocessing.get_context(sys.argv[2])
queue = context.Queue()
process = context.Process(target=work, args=(queue,), daemon=True)
process.start()
print(*queue.get(timeout=60), sep="\\n")
process.join()
"""


def forked(folder, before):
    import polars as pl

    import taylorank as tr

    frame = pl.DataFrame({"user": [1], "item": [2]})
    frame.write_csv(folder / "log.csv")
    frame.write_parquet(folder / "log.parquet")
    tr.read_interactions(frame).save_npz(folder / "log.npz")
    words = [sys.executable, "-c", CODE, before, "fork"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_what_would_wait_forever_is_refused_and_the_rest_works(tmp_path):
    found = forked(tmp_path, "used")
    for line in found[:4]:
        assert line.startswith("DataError: this process was forked"), line
        assert "spawn" in line
    assert found[4:8] == ["1", "30", "900", "1"]
    assert found[8].startswith("DataError: this process was forked")
    assert found[9] == "ValueError: exit"
    assert found[10].startswith("DataError: this process was forked")


def test_all_works_where_polars_had_not_begun(tmp_path):
    assert forked(tmp_path, "imported") == ["1", "1", "1", "1", "1", "30", "900", "1", "900", "900", "900"]
