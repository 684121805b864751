"""What Spark's event log tells of a session: when each job ended, and how many bytes tasks left for shuffles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

GRAM = "aggregate at ALS.scala"  # MLlib: a job before each half of an iteration, waits for the half before


def events(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield all events in the logs of a folder; a line that is still being written is left out."""
    for file in sorted(path for path in folder.iterdir() if path.is_file()):
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue


def half_iterations(folder: Path, since: float) -> list[float]:
    """Return when, in seconds since 1970, each Gram matrix of MLlib's ALS was there, after `since`."""
    wanted, ends = set(), []
    for event in events(folder):
        if event["Event"] == "SparkListenerJobStart" and event["Submission Time"] / 1000 >= since:
            stages = sorted(event["Stage Infos"], key=lambda stage: stage["Stage ID"])
            if stages and GRAM in stages[-1]["Stage Name"]:
                wanted.add(event["Job ID"])
        elif event["Event"] == "SparkListenerJobEnd" and event["Job ID"] in wanted:
            ends.append(event["Completion Time"] / 1000)
    return ends


def shuffled_bytes(folder: Path, since: float, until: float) -> int:
    """Return how many bytes tasks that ended in this time wrote for shuffles."""
    total = 0
    for event in events(folder):
        if event["Event"] == "SparkListenerTaskEnd" and since <= event["Task Info"]["Finish Time"] / 1000 <= until:
            metrics = event.get("Task Metrics") or {}
            total += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    return total
