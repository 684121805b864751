"""The driver of a fit on Spark killed at random moments, several times over, then run to the end: the same bits."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from research.attack import Difference, Hang, Seen

KILLS = 2  # in one folder, before the fit is run to its end
LONGEST = 50.0  # seconds of one run
_known: dict[str, tuple[float, str]] = {}  # seconds and digest of an undisturbed fit


def attack(seed: int, folder: Path) -> Seen | str:
    """Kill the driver `KILLS` times in one fit, each time at a random moment of what an undisturbed fit takes."""
    if find_spec("pyspark") is None or (shutil.which("java") is None and "JAVA_HOME" not in os.environ):
        return "skipped"
    rng, place = random.Random(seed), folder / "fit"
    if not _known:
        _known[""] = _whole(folder / "undisturbed")
    seconds, digest = _known[""]
    shutil.rmtree(place, ignore_errors=True)
    kills = sum(_killed(place, rng.random() * seconds) for _ in range(KILLS))
    if _whole(place)[1] != digest:
        raise Difference(f"the lists after {kills} kills are others")
    return Seen("result", {"kills of the driver": kills})


def _started(place: Path) -> subprocess.Popen[str]:
    place.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "research.attack.driver_fit", str(place)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    if process.stdout.readline().strip() != "begins":
        process.kill()
        raise Difference(f"a fit on Spark did not begin, exit code {process.wait()}")
    return process


def _killed(place: Path, after: float) -> int:
    """Kill the driver some seconds after its fit has begun; 0 if that had ended."""
    process = _started(place)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    return int(process.wait() == -signal.SIGKILL)


def _whole(place: Path) -> tuple[float, str]:
    """Run a fit to its end; return its seconds and the digest of its lists."""
    began, process = time.monotonic(), _started(place)
    try:
        said = process.communicate(timeout=LONGEST)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise Hang(f"a fit on Spark had not ended after {time.monotonic() - began:.0f} s") from None
    words = dict(line.split() for line in said.splitlines() if line.count(" ") == 1)
    if process.returncode or "digest" not in words:
        raise Difference(f"a fit on Spark failed, exit code {process.returncode}")
    return float(words["seconds"]), words["digest"]
