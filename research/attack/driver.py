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

KILLS = 10  # in one folder, before the fit is run to its end
LONGEST = 240.0  # seconds of one run
ROOT = Path(__file__).parents[2]  # where `research` is found
# Java starts in a part of the time: the classes that it loads are kept from one start to the next, and compiled once.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable"
_known: dict[str, tuple[float, str]] = {}  # seconds of the last fit that ended, and what an undisturbed one gives


def attack(seed: int, folder: Path) -> Seen | str:
    """Kill the driver `KILLS` times in one fit, each time at a random moment of what an undisturbed fit takes."""
    if find_spec("pyspark") is None or (shutil.which("java") is None and "JAVA_HOME" not in os.environ):
        return "skipped"
    rng, place = random.Random(seed), folder / "fit"
    if not _known:
        _known[""] = _undisturbed(folder)
    digest = _known[""][1]
    shutil.rmtree(place, ignore_errors=True)
    kills = sum(_killed(place, rng, digest) for _ in range(KILLS))
    if _whole(place)[1] != digest:
        raise Difference(f"the lists after {kills} kills are others")
    return Seen("result", {"kills of the driver": kills})


def _undisturbed(folder: Path) -> tuple[float, str]:
    """Fit twice, first for the archive of Java's classes; return seconds and digest of the second."""
    classes = folder / "classes.jsa"
    os.environ["JAVA_TOOL_OPTIONS"] = f"{JAVA} -XX:ArchiveClassesAtExit={classes}"
    first = _whole(folder / "undisturbed")[1]
    os.environ["JAVA_TOOL_OPTIONS"] = f"{JAVA} -XX:SharedArchiveFile={classes} -Xshare:auto"
    seconds, digest = _whole(folder / "undisturbed")
    if first != digest:
        raise Difference("two undisturbed fits on Spark give different lists")
    return seconds, digest


def _started(place: Path) -> subprocess.Popen[str]:
    place.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "research.attack.driver_fit", str(place)]
    with _log(place).open("w") as log:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True, cwd=ROOT
        )
    assert process.stdout is not None
    if process.stdout.readline().strip() != "begins":
        os.killpg(process.pid, signal.SIGKILL)
        raise Difference(f"a fit on Spark did not begin, exit code {process.wait()}: {_last_words(place)}")
    return process


def _log(place: Path) -> Path:
    return place.with_suffix(".log")


def _last_words(place: Path) -> str:
    """Return the end of what the last process said, in one line."""
    return " ".join(_log(place).read_text(errors="replace")[-300:].split())


def _killed(place: Path, rng: random.Random, digest: str) -> int:
    """Kill Python alone, or Java with it, at some moment of the fit; return 0 if that had ended, rightly."""
    process = _started(place)
    try:
        said = process.communicate(timeout=rng.random() * _known[""][0])[0]
    except subprocess.TimeoutExpired:
        (os.kill if rng.random() < 0.5 else os.killpg)(process.pid, signal.SIGKILL)
        process.wait()  # and not for Java, which may be there still when the next one begins
        return 1
    seconds, found = _judged(process, said, place)
    if found != digest:
        raise Difference("a fit that ended before it was killed gives other lists")
    _known[""] = seconds, digest
    return 0


def _whole(place: Path) -> tuple[float, str]:
    """Run a fit to its end; return its seconds and the digest of its lists."""
    began, process = time.monotonic(), _started(place)
    try:
        said = process.communicate(timeout=LONGEST)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise Hang(f"a fit on Spark had not ended after {time.monotonic() - began:.0f} s") from None
    return _judged(process, said, place)


def _judged(process: subprocess.Popen[str], said: str, place: Path) -> tuple[float, str]:
    """Return seconds and digest of a fit that has ended."""
    words = dict(line.split() for line in said.splitlines() if line.count(" ") == 1)
    if process.returncode or "digest" not in words:
        raise Difference(f"a fit on Spark failed, exit code {process.returncode}: {_last_words(place)}")
    return float(words["seconds"]), words["digest"]
