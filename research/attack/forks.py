"""Work done in forked processes: one process has imported everything, and each case pays for a fork alone.

The process that forks must never compute itself, since threads (of polars, of BLAS) are not copied by a fork.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from research.attack import Crash, Difference, Fault, Hang
from taylorank.errors import TaylorankError

Report = Callable[[Any], None]
LONGEST = 40.0
PR_SET_PDEATHSIG = 1
SLICE = 0.5
FILE_EVENTS = frozenset(
    "os.rename os.remove os.mkdir os.rmdir os.chmod os.chown os.truncate os.scandir os.listdir tempfile.mkstemp "
    "tempfile.mkdtemp shutil.rmtree fcntl.flock".split()
)


@dataclass(frozen=True)
class Moment:
    """When a process is killed: after so many seconds, or just before its nth step on the file system."""

    seconds: float | None = None
    event: int | None = None


@dataclass
class Ended:
    """How a forked process ended: exit code (negative: the signal), what it reported, and what it printed."""

    code: int
    reports: list[Any] = field(default_factory=list)
    said: str = ""
    seconds: float = 0.0


class Child:
    """A forked process that runs `work(report)` in `folder`; what it prints goes to a file."""

    def __init__(self, work: Callable[[Report], object], folder: Path, *, event: int | None = None) -> None:
        self.said = folder.parent / f"{folder.name}.said"
        self.began = time.monotonic()
        self.end, there = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.end)
            _run_and_exit(work, folder, there, self.said, event)
        os.close(there)
        self.buffer, self.is_over = b"", False

    def poll(self, seconds: float) -> bool:
        """Wait for a report at most so long; return whether the process is over."""
        if select.select([self.end], [], [], max(0.0, seconds))[0]:
            piece = os.read(self.end, 1 << 16)
            self.buffer += piece
            self.is_over = not piece
        return self.is_over

    @property
    def reports(self) -> list[Any]:
        """What was reported so far; a line that was cut off is left out."""
        return [json.loads(line) for line in self.buffer.split(b"\n")[:-1]]

    def wait(self, seconds: float = LONGEST) -> Ended:
        """Wait for the end; a process that does not end is killed, and that is a fault."""
        left = seconds
        while not self.poll(SLICE):
            left -= SLICE  # not by the clock: all of them may have been stopped for a while
            if left <= 0:
                os.kill(self.pid, signal.SIGUSR1)  # it prints where it is
                time.sleep(0.5)
                where = self.kill().said.rpartition("most recent call first")[2]
                raise Hang(f"a process did not end within {seconds:.0f} s; {' '.join(where[:400].split())}")
        return self._ended()

    def wait_until(self, seconds: float) -> None:
        """Wait that long since the start, or until the process is over."""
        while not self.is_over and (left := self.began + seconds - time.monotonic()) > 0:
            self.poll(left)

    def kill(self, number: int = signal.SIGKILL) -> Ended:
        """Send a signal and wait for the end."""
        os.kill(self.pid, number)
        if number == signal.SIGKILL:
            while not self.poll(LONGEST):
                pass
            return self._ended()
        return self.wait()

    def _ended(self) -> Ended:
        os.close(self.end)
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return Ended(code, self.reports, self._text(), time.monotonic() - self.began)

    def _text(self) -> str:
        return self.said.read_text(encoding="utf-8", errors="replace") if self.said.exists() else ""


def _run_and_exit(work: Callable[[Report], object], folder: Path, pipe: int, said: Path, event: int | None) -> None:
    """Run in the forked process; never returns."""
    code = 1
    try:
        _end_with_parent()
        os.chdir(folder)
        handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        sys.stdout, sys.stderr = (open(number, "w", buffering=1, closefd=False) for number in (1, 2))  # noqa: SIM115
        faulthandler.enable(sys.stderr)
        faulthandler.register(signal.SIGUSR1, file=sys.stderr)
        if event is not None:
            sys.addaudithook(_killing_hook(event, str(folder)))
        work(lambda value: _send(pipe, value))
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _end_with_parent() -> None:
    """Have Linux kill this process when the one that forked it ends, so that nothing is left running."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _send(pipe: int, value: Any) -> None:
    os.write(pipe, json.dumps(value).encode() + b"\n")


def _is_step(name: str, arguments: tuple[Any, ...], folder: str) -> bool:
    """Whether what Python announces is a step on the file system; of files that are opened, those in the folder."""
    return name in FILE_EVENTS or (name == "open" and os.path.abspath(str(arguments[0])).startswith(folder))


def _killing_hook(event: int, folder: str) -> Callable[[str, tuple[Any, ...]], None]:
    """Count the steps on files; kill this process just before the nth."""
    count = 0

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if _is_step(name, arguments, folder):
            count += 1
            if count == event:
                os.kill(os.getpid(), signal.SIGKILL)

    return hook


def counted(work: Callable[[Report], object], folder: Path) -> Callable[[Report], None]:
    """Return the same work; at its end it reports how many steps on files it took."""

    def run(report: Report) -> None:
        steps = []
        sys.addaudithook(lambda name, given: steps.append(name) if _is_step(name, given, str(folder)) else None)
        work(report)
        report({"events": len(steps)})

    return run


def killed(work: Callable[[Report], object], folder: Path, moment: Moment) -> Ended:
    """Run the work and kill it at that moment, unless it ends before."""
    child = Child(work, folder, event=moment.event)
    if moment.seconds is None:
        return child.wait()
    child.wait_until(moment.seconds)
    return child.wait() if child.is_over else child.kill()


def done(work: Callable[[Report], object], folder: Path, *, seconds: float = LONGEST) -> list[Any]:
    """Run the work to its end in a forked process; return what it reported, and raise what it raised."""

    def judged(report: Report) -> None:
        try:
            work(report)
        except Fault as fault:
            report({"fault": fault.kind, "text": str(fault)})
        except TaylorankError as error:
            report({"refused": str(error)})

    ended = Child(judged, folder).wait(seconds)
    if ended.code < 0:
        raise Crash(f"a process was ended by signal {-ended.code}; it said {ended.said[-200:]!r}")
    if ended.code > 0:
        raise Difference(f"exit code {ended.code}: {' '.join(ended.said[-250:].split())}")
    for found in ended.reports:
        if isinstance(found, dict) and "fault" in found:
            raise {"crash": Crash, "hang": Hang}.get(found["fault"], Difference)(found["text"])
        if isinstance(found, dict) and "refused" in found:
            raise Difference(f"refused: {found['refused']}")
    return ended.reports
