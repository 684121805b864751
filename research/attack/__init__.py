"""Attacks on the library with bounded time: each tries odd input or an odd moment until its minutes are over.

A module has `attack(seed, folder)`: it makes one case from the seed, tries it, and returns "result" or "refused" (or
"skipped", where the machine does not allow it), or `Seen` with what else is counted. It raises `Difference` for a
result that is not the right one, and `Crash` or `Hang` for a process that it started; any other exception but the
library's own is a fault, and so is a case that ends its own process or does not end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ATTACKS = {
    "parsers": "Mutated files of every format that is read, against Python's csv where it can read them.",
    "kernels": "Native kernels: any shape, stride, type, alignment and index, NaN, 1 to 64 threads, little memory.",
    "numbers": "Every model on one user, one item, power laws, parts apart, strengths of 1e-30 to 1e30, low rank.",
    "parameters": "Every parameter of every model, every option of the commands: wrong types and extreme values.",
    "kills": "SIGKILL at random moments of train, tune, compare, save, export and the server's reload; then again.",
    "driver": "SIGKILL at random moments of the driver of a fit on Spark, ten times in one; then run to the end.",
    "surroundings": "Full disks, read-only folders, too few files or memory, signals, two writers, forks, threads.",
    "server": "Requests made from the server's description, broken HTTP, slow clients, reloads, steady load.",
    "determinism": "The same bits for any number of threads and CPUs, hash seed, block of a file and SIMD level.",
    "gpu": "The same bits when a model is fitted to a GPU again.",
}


@dataclass(frozen=True)
class Seen:
    """What came of a case: the outcome, what to count (such as kills), and what to measure (such as memory)."""

    outcome: str
    counts: Mapping[str, int] = field(default_factory=dict)
    measures: Mapping[str, float] = field(default_factory=dict)


class Fault(Exception):
    """What must not happen; `kind` is the name that it is counted by."""

    kind = "exception"


class Difference(Fault):
    """A result that is not what a plain reader, the definition, or an undisturbed run gives."""

    kind = "difference"


class Crash(Fault):
    """A process that a signal of its own has ended."""

    kind = "crash"


class Hang(Fault):
    """A process that does not end."""

    kind = "hang"
