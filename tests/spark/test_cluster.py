"""A cluster of processes that loses executors, tasks and files fits the same bits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from spark_here import require_spark


def test_what_is_lost_in_a_running_stage_changes_no_bit(tmp_path):
    require_spark()
    script = Path(__file__).with_name("cluster_faults.py")
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr[-3000:]
    cluster, *fits = (json.loads(line) for line in done.stdout.splitlines())
    assert cluster == {"slots": 2, "threads": 2}  # two executors, and a task has both cores of one
    for name in ("RG2", "IALS"):
        assert len({fit["bits"] for fit in fits if fit["model"] == name}) == 1
    in_peace = [fit for fit in fits if not fit["harm"]]
    assert [fit["attempts"] for fit in in_peace] == [1, 1]
    assert not any("is alive" in fit for fit in in_peace)
    for fit in (fit for fit in fits if fit["harm"]):
        assert fit["is alive"] == (fit["harm"] != "kill"), fit  # so the harm was done
        if fit["model"] == "RG2" and fit["call"] == -1:
            assert fit["attempts"] > 1  # what was lost with a file or an executor was computed again
