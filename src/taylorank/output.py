"""Files appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from taylorank.errors import DataError


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; move it there only if the block succeeds.

    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> with atomic_path(target) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> target.read_text()
    'whole'
    """
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror}", "choose a folder you can write to") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes the file private; give it the permissions an ordinary new file would have
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        os.replace(temporary, target)
    except OSError as error:
        raise DataError(
            f"cannot write {target}: {error.strerror or error}", "check the folder and free space"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def check_place(path: str | os.PathLike[str]) -> None:
    """Find out before the work whether a file can be written to `path`."""
    target = Path(path)
    if target.is_dir():
        raise DataError(f"{target} is a folder", "give the name of a file")
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror}", "choose a folder you can write to") from error


@contextmanager
def output_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make the folder `path`, finding out before the work whether it can be written to.

    If the block fails, folders that were made for it and are still empty go again.
    """
    folder = Path(path)
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DataError(f"cannot write to folder {folder}: {error.strerror}", "choose another folder") from error
    try:
        yield folder
    except BaseException:
        with suppress(OSError):
            for place in made:
                place.rmdir()
        raise


@contextmanager
def atomic_folder(path: str | os.PathLike[str], *, replaces: str | None = None) -> Iterator[Path]:
    """Yield a temporary folder beside `path`; it takes that name only if the block succeeds.

    A folder that is there is refused, unless it holds a file named `replaces`: then it gives way at the end.
    """
    target = Path(path)
    _check_free(target, replaces)
    try:
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror}", "choose a folder you can write to") from error
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o777 & ~umask)
        _check_free(target, replaces)
        _move(temporary, target)
    except OSError as error:
        raise DataError(
            f"cannot write {target}: {error.strerror or error}", "check the folder and free space"
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _move(folder: Path, target: Path) -> None:
    """Rename the folder; what has its new name is removed afterwards, or has it back if that fails."""
    if not target.exists():
        os.replace(folder, target)
        return
    old = folder.with_suffix(".old")
    os.replace(target, old)
    try:
        os.replace(folder, target)
    except BaseException:
        os.replace(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _check_free(target: Path, replaces: str | None) -> None:
    if not target.exists():
        return
    if replaces is None:
        raise DataError(f"{target} is there already", "choose another name, or overwrite it")
    if not (target / replaces).is_file():
        raise DataError(f"{target} is not what an earlier run wrote", "choose another name, or remove it yourself")
