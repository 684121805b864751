"""What a long call is doing: one line on a terminal, lines now and then elsewhere, a callback, and the log.

`progress=None`, the default of calls that may take long, shows a line on a terminal after a moment and nothing
elsewhere; True shows it in any case, False never; a function is called with every `Report`. The outermost call has the
line: what it calls reports into it. Everything also goes to `logging.getLogger("taylorank")`, at the level INFO.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from shutil import get_terminal_size
from typing import Any, TypeVar, cast

log = logging.getLogger("taylorank")

MOMENT = 0.5  # seconds before a terminal shows anything: what is quick stays silent
REFRESH = 0.1  # seconds between two states of a terminal's line
LINES = 10.0  # seconds between two lines where there is no terminal, and between two records of the log

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Report:
    """What a callback receives: what is being done, how far it is, and the seconds since it began."""

    what: str
    text: str
    seconds: float
    done: int | None = None
    total: int | None = None
    unit: str = ""

    def __str__(self) -> str:
        """Return the line that a terminal shows.

        >>> print(Report("fitting RG2", "residual 1e-03", 2.04, done=7, total=50))
        fitting RG2: 7 of 50, residual 1e-03, 2.0 s
        """
        parts = [self._count(), self.text, f"{self.seconds:.1f} s"]
        return f"{self.what}: {', '.join(filter(None, parts))}"

    def _count(self) -> str:
        if self.done is None:
            return ""
        if self.unit == "bytes":
            return f"{self.done / 1e6:,.0f}{f' of {self.total / 1e6:,.0f}' if self.total else ''} MB"
        return f"{self.done:,} of {self.total:,} {self.unit}".rstrip() if self.total else f"step {self.done:,}"


Show = bool | Callable[[Report], object] | None


@dataclass
class Narrator:
    """Tells of one call."""

    what: str
    show: Show = None
    began: float = field(default_factory=time.perf_counter)
    shown: float = 0.0  # when the line was last written, and a record last logged, after `began`
    logged: float = 0.0
    is_open: bool = False  # a line of the terminal is not ended yet

    def report(self, text: str = "", *, done: int | None = None, total: int | None = None, unit: str = "") -> None:
        """Tell how far it is."""
        seconds = time.perf_counter() - self.began
        report = Report(self.what, text, seconds, done, total, unit)
        if seconds - self.logged >= LINES:
            self.logged = seconds
            log.info("%s", report)
        if callable(self.show):
            self.show(report)
        elif self.show is not False:
            self._write(report)

    def _write(self, report: Report) -> None:
        if _is_terminal():
            if report.seconds >= MOMENT and report.seconds - self.shown >= REFRESH:
                self.shown, self.is_open = report.seconds, True
                print(f"\r\x1b[K{str(report)[: _width()]}", end="", file=sys.stderr, flush=True)
        elif self.show and report.seconds - self.shown >= LINES:
            self.shown = report.seconds
            print(report, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Remove the line, and log how long it took."""
        self.clear()
        log.info("%s: %.1f s", self.what, time.perf_counter() - self.began)

    def clear(self) -> None:
        """Remove the line, so that something else can be printed."""
        if self.is_open:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self.is_open = False


_CURRENT: ContextVar[Narrator | None] = ContextVar("_CURRENT", default=None)


def _width() -> int:
    """Return how many characters a line of the terminal takes without wrapping."""
    return get_terminal_size().columns - 1


def _is_terminal() -> bool:
    return bool(getattr(sys.stderr, "isatty", lambda: False)())


@contextmanager
def narrated(what: str, show: Show = None) -> Iterator[Narrator]:
    """Tell of what the block does; inside another such block, into that one's line."""
    outer = _CURRENT.get()
    if outer is not None:
        yield outer
        return
    narrator = Narrator(what, show)
    token = _CURRENT.set(narrator)
    try:
        yield narrator
    finally:
        _CURRENT.reset(token)
        narrator.end()


def report(text: str = "", *, done: int | None = None, total: int | None = None, unit: str = "") -> None:
    """Tell how far the call is that is being made, if somebody listens."""
    narrator = _CURRENT.get()
    if narrator is not None:
        narrator.report(text, done=done, total=total, unit=unit)


def _narrating(doing: str) -> Callable[[Function], Function]:
    """Give a method of a model, which declares `progress`, its line."""

    def told(method: Function) -> Function:
        @wraps(method)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            with narrated(f"{doing} {type(self).__name__}", kwargs.get("progress")):
                return method(self, *args, **kwargs)

        return cast("Function", call)

    return told


narrated_fit = _narrating("fitting")
narrated_update = _narrating("updating")


@contextmanager
def counted(what: str, unit: str, show: Show = None) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a function of (done, total), counted in `unit`; silent inside another call, which has a count."""
    if _CURRENT.get() is not None:
        yield lambda done, total: None
        return
    with narrated(what, show) as narrator:
        yield lambda done, total: narrator.report(done=done, total=total, unit=unit)


@contextmanager
def shown_progress(what: str, *, total: int, show: bool = True) -> Iterator[Callable[[int, str], None]]:
    """Yield a function of (steps done, text) for loops of a known length."""
    with narrated(what, None if show else False) as narrator:
        yield lambda done, text: narrator.report(text, done=done, total=total)
