"""The temporary folder beside an output: locked while it is used, so that one that a killed process left is known.

`.NAME.xxxxxxxx.part` stands beside NAME; a file is written inside it, for libraries may replace the file that they are
given by another, which would not be locked. Whoever uses the folder holds a lock that ends with the process, however
that ends. A folder takes the place of another in one step where the system can, so that a kill never leaves none.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # not a Unix: nothing is locked, and nothing removed
    fcntl = None  # type: ignore[assignment]

AT_FDCWD, RENAME_EXCHANGE = -100, 2  # of Linux
LONGEST_NAME = 200  # bytes of NAME that are kept; file systems allow 255 in all


@contextmanager
def part_folder(target: Path) -> Iterator[Path]:
    """Yield a locked folder beside `target`, which goes at the end; remove those that nobody uses any more."""
    remove_leftovers(target)
    folder, handle = _locked_folder(target)
    try:
        yield folder
    finally:
        if handle is not None:
            os.close(handle)  # ends the lock
        shutil.rmtree(folder, ignore_errors=True)


def _locked_folder(target: Path) -> tuple[Path, int | None]:
    while True:
        name = tempfile.mkdtemp(prefix=_prefix(target), suffix=".part", dir=target.parent)
        if fcntl is None:
            return Path(name), None
        with suppress(FileNotFoundError):  # another process took it for a leftover before it was locked
            handle = os.open(name, os.O_RDONLY)
            if lock(handle) and _is_at(name, handle):
                return Path(name), handle
            os.close(handle)


def remove_leftovers(target: Path) -> None:
    """Remove the part files and folders of `target` that nobody is writing."""
    if fcntl is None:
        return
    name = re.compile(re.escape(_prefix(target)) + r"[a-z0-9_]{8}\.part")  # as tempfile makes them
    with suppress(OSError), os.scandir(target.parent) as places:
        for place in places:
            if name.fullmatch(place.name) and not place.is_symlink():
                _remove_unlocked(place)


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


def _remove_unlocked(place: os.DirEntry[str]) -> None:
    if not (place.is_dir() or place.is_file()):
        return
    with suppress(OSError):
        handle = os.open(place.path, os.O_RDONLY if place.is_dir() else os.O_RDWR)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if place.is_dir():
                shutil.rmtree(place.path, ignore_errors=True)
            else:
                os.unlink(place.path)
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


def put_folder(folder: Path, target: Path) -> None:
    """Rename `folder` to `target`; a folder that is there becomes `folder`.

    Where two names cannot be exchanged in one step, the old folder is called .NAME.old for a moment, and
    `restore_folder` gives it its name back after a kill in that moment.
    """
    if not target.exists():
        os.replace(folder, target)
    elif not _exchanged(folder, target):
        old = _aside(target)
        os.replace(target, old)
        try:
            os.replace(folder, target)
        except BaseException:
            os.replace(old, target)
            raise
        os.replace(old, folder)


def restore_folder(target: Path) -> None:
    """Give a folder that a killed process has moved aside its name back, if nothing has taken it."""
    if _aside(target).is_dir() and not target.exists():
        os.replace(_aside(target), target)


def _aside(target: Path) -> Path:
    return target.with_name(f"{_prefix(target)}old")


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two names; False where the system or the file system cannot."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None) if os.name == "posix" else None
    if rename is None:
        return False
    return bool(rename(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0)
