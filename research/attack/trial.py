"""Cases tried in a process of their own, so that one that crashes or hangs is counted and the next is tried."""

from __future__ import annotations

import faulthandler
import importlib
import multiprocessing
import os
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from research.attack import Fault, Seen
from taylorank.errors import TaylorankError, in_one_line

SECONDS_OF_A_CASE = 60.0
SECONDS_OF = {"driver": 900.0}  # where it is not that: such a case starts Java a dozen times
SLICE = 0.5
SECONDS_BETWEEN = 60.0  # reports on the figures so far
FEWEST = 20  # cases, before what they count is taken for all that is counted
MEMORY = 6 << 30  # bytes of data, which what is only reserved does not count in
FAULTS = ("crash", "hang", "exception", "difference")
OUTCOMES = ("result", "refused", "skipped", *FAULTS)


@dataclass
class Tally:
    """How many cases were tried, what came of them, and the faults with the seeds that make them again."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    parts: Counter[str] = field(default_factory=Counter)
    measures: dict[str, dict[str, float]] = field(default_factory=dict)

    def add(self, seed: int, seen: Seen | str, what: str = "") -> None:
        """Count one case."""
        seen = Seen(seen) if isinstance(seen, str) else seen
        self.counts[seen.outcome] += 1
        self.parts.update(seen.counts)
        for name, value in seen.measures.items():
            known = self.measures.setdefault(name, {"first": value, "highest": value})
            known |= {"highest": max(known["highest"], value), "last": value}
        if seen.outcome in FAULTS:
            self.faults.append({"seed": seed, "fault": seen.outcome, "what": what})

    def is_in_vain(self) -> bool:
        """Whether this machine does not allow what the cases need."""
        return self.counts["skipped"] == self.counts.total() >= FEWEST

    def has_all(self, until: int | None) -> bool:
        """Whether each part was counted `until` times."""
        if until is None or self.counts.total() < FEWEST:
            return False
        return bool(self.parts) and min(self.parts.values()) >= until

    def record(self) -> dict[str, Any]:
        """Return the tally, ready for JSON."""
        counts = {name: self.counts[name] for name in OUTCOMES}
        record = {"tried": self.counts.total() - self.counts["skipped"], **counts, "seconds": round(self.seconds, 1)}
        more = {"parts": dict(sorted(self.parts.items())), "measures": self.measures}
        return {**record, **{name: value for name, value in more.items() if value}, "faults": self.faults}


def run_attack(
    name: str,
    *,
    seconds: float,
    first_seed: int = 0,
    most: int | None = None,
    until: int | None = None,
    so_far: Callable[[Tally], object] = lambda _: None,
) -> Tally:
    """Try cases of the attack until the time is over, or `most` of them, or until all that it counts is at `until`.

    It ends as well where all of the first cases are skipped.

    `so_far` is given the figures once in a minute, so that an attack of hours can be interrupted.
    """
    tally, seed, told = Tally(), first_seed, time.monotonic()
    worker: Worker | None = None
    try:
        while tally.seconds < seconds and (most is None or seed - first_seed < most):
            if tally.has_all(until) or tally.is_in_vain():
                break
            if time.monotonic() - told > SECONDS_BETWEEN:
                told = time.monotonic()
                so_far(tally)
            began = time.monotonic()
            worker = worker or Worker(name)
            seen, what = worker.tried(seed)
            tally.add(seed, seen, what)
            tally.seconds += min(time.monotonic() - began, worker.longest)  # it may have been stopped for a while
            if seen.outcome in ("crash", "hang"):
                worker.end()
                worker = None
            seed += 1
    finally:
        if worker is not None:
            worker.end()
    return tally


class Worker:
    """A process that tries the cases of one attack, one after the other."""

    def __init__(self, name: str) -> None:
        context = multiprocessing.get_context("spawn")
        self.here, there = context.Pipe()
        self.longest = SECONDS_OF.get(name, SECONDS_OF_A_CASE)
        self.folder = tempfile.TemporaryDirectory(prefix="attack-", ignore_cleanup_errors=True)
        self.process = context.Process(target=_work, args=(name, there, self.folder.name), daemon=True)
        self.process.start()
        there.close()

    def tried(self, seed: int) -> tuple[Seen, str]:
        """Return what came of a case, and if it is a fault, in words."""
        try:
            self.here.send(seed)
            slices = max(1, round(self.longest / SLICE))  # not by the clock: all may have been stopped for a while
            if not any(self.here.poll(min(SLICE, self.longest)) for _ in range(slices)):
                return Seen("hang"), f"no answer after {self.longest:g} s"
            answer: tuple[Seen, str] = self.here.recv()
            return answer
        except (EOFError, OSError):
            self.process.join(10)
            return Seen("crash"), f"the process ended with {self.process.exitcode}"

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.here.close()
        self.folder.cleanup()


def _work(name: str, parent: Connection, folder: str) -> None:
    warnings.simplefilter("ignore")
    faulthandler.enable()  # where a crash was, in the log
    _limit_memory(name)
    attack = importlib.import_module(f"research.attack.{name}").attack
    os.chdir(folder)
    while True:
        try:
            seed = parent.recv()
        except EOFError:
            return
        parent.send(one_case(attack, seed, Path(folder)))


def one_case(attack: Any, seed: int, folder: Path) -> tuple[Seen, str]:
    """Try one case; return what came of it, and if it is a fault, in words."""
    try:
        found = attack(seed, folder)
        return (Seen(found) if isinstance(found, str) else found), ""
    except TaylorankError as error:
        return (Seen("refused"), "") if "\n" not in str(error) else (Seen("exception"), "an error of several lines")
    except Fault as fault:
        return Seen(fault.kind), str(fault)[:500]
    except BaseException as error:  # a panic of a library is none of Exception
        return Seen("exception"), in_one_line(error)[:500]


def is_sanitized() -> bool:
    """Whether this process runs under a sanitizer, which reserves terabytes of addresses for itself."""
    return "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ


def _limit_memory(name: str) -> None:
    if is_sanitized() or name == "gpu":  # where the driver reserves what it may never use
        return
    try:
        import resource
    except ImportError:  # not a Unix
        return
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
