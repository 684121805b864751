"""The temporary file beside an output: locked while it is written, so that one that a killed process left is known.

`.NAME.xxxxxxxx.part` stands beside NAME. Whoever writes it holds a lock that ends with the process, however that ends.
"""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # not a Unix: nothing is locked, and nothing removed
    fcntl = None  # type: ignore[assignment]

LONGEST_NAME = 200  # bytes of NAME that are kept; file systems allow 255 in all


def open_part(target: Path) -> tuple[int, Path]:
    """Make a locked part file of `target`; return its handle, to be closed at the end, and its path."""
    while True:
        handle, name = tempfile.mkstemp(prefix=_prefix(target), suffix=".part", dir=target.parent)
        if lock(handle) and _is_at(name, handle):
            return handle, Path(name)
        os.close(handle)  # another process took it for a leftover before it was locked


def remove_leftovers(target: Path) -> None:
    """Remove the part files of `target` that nobody is writing."""
    if fcntl is None:
        return
    name = re.compile(re.escape(_prefix(target)) + r"[a-z0-9_]{8}\.part")  # as tempfile makes them
    with suppress(OSError), os.scandir(target.parent) as places:
        for place in places:
            if name.fullmatch(place.name) and place.is_file(follow_symlinks=False):
                _remove_unlocked(place.path)


def lock(handle: int) -> bool:
    """Lock an open file for this process; False if another one holds it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: every file counts as locked
        return True
    return True


def _remove_unlocked(path: str) -> None:
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)
        finally:
            os.close(handle)


def _is_at(name: str, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(name), os.fstat(handle))
    except FileNotFoundError:
        return False


def _prefix(target: Path) -> str:
    name = target.name.encode(errors="surrogateescape")[:LONGEST_NAME].decode(errors="ignore")
    return f".{name}."
