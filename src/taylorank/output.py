"""Paths as users write them, and files that appear whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from taylorank.errors import DataError, shown
from taylorank.part_files import part_folder, put_folder, remove_leftovers, restore_folder

NOT_HERE = "choose a folder you can write to"
NOT_THERE = "make it, or choose another"
NO_ROOM = "check the folder and free space"
OF_RUST = re.compile(r"\(os error (\d+)\)|\bOs \{ code: (\d+)")  # how libraries in Rust write a system error


def path_of(given: str | os.PathLike[str]) -> Path:
    """Return a path with ~ as the home folder, for reading and for writing; refuse names that no file can have.

    >>> path_of("a/b.csv").as_posix()
    'a/b.csv'
    """
    if not isinstance(given, str | os.PathLike) or isinstance(os.fspath(given), bytes):
        raise DataError(f"{shown(given)} is no file name", "give text or a pathlib.Path")
    text = os.fspath(given)
    if "\0" in text:
        raise DataError(f"{shown(text)} is no file name", "leave out the character NUL")
    try:
        os.fsencode(text)
        return Path(text).expanduser()
    except UnicodeEncodeError:
        raise DataError(f"{shown(text)} is no file name", "leave out what is half a character") from None
    except RuntimeError:
        raise DataError("the home folder of an unknown user", "write the path without ~, or as ./~…") from None


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; move it there only if the block succeeds, and wait until it is on disk.

    A link is followed, and a file that is replaced keeps its mode. A device or a pipe cannot be replaced: what was
    written is then copied into it.

    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> with atomic_path(target) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> target.read_text()
    'whole'
    """
    with _errors_named(path):
        target, before = _place(path)
        if before is not None and not stat.S_ISREG(before.st_mode):
            with _copied_into(target) as temporary:
                yield temporary
            return
        with part_folder(target) as folder:
            temporary = folder / f"part{target.suffix}"
            temporary.touch()
            as_new = temporary.stat()
            yield temporary
            _settle(temporary, before, as_new)
            os.replace(temporary, target)
            _sync(target.parent)


@contextmanager
def _errors_named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise one line in place of a system error, also of one that a library has wrapped in its own."""
    try:
        yield
    except DataError:
        raise
    except BaseException as error:
        reason = _system_reason(error)
        if reason is None:
            raise
        remedy = NOT_HERE if isinstance(error, PermissionError | FileNotFoundError | FileExistsError) else NO_ROOM
        raise DataError(f"cannot write {_shown(path)}: {reason}", remedy) from error


def _system_reason(error: BaseException) -> str | None:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if code := OF_RUST.search(str(error)):
        return os.strerror(int(code[1] or code[2]))
    if type(error).__name__ == "PanicException":  # of polars; none of Exception
        return "a library failed"
    return " ".join(str(error).split()) if isinstance(error, OSError) else None


def _place(path: str | os.PathLike[str]) -> tuple[Path, os.stat_result | None]:
    """Return where to write, links followed, and what stands there now."""
    named = path_of(path)
    try:
        before = os.stat(named)
    except FileNotFoundError:
        before = None
    if before is not None and stat.S_ISDIR(before.st_mode):
        raise DataError(f"{_shown(path)} is a folder", "give the name of a file")
    if before is not None and not stat.S_ISREG(before.st_mode):
        return named, before  # /dev/stdout is a link that leads to no path
    return _in_folder(Path(os.path.realpath(named)), path), before


def _in_folder(target: Path, named: str | os.PathLike[str]) -> Path:
    """Return where to write; refuse a place in a folder that is not there, whose name is most likely misspelled."""
    if not target.parent.is_dir():
        raise DataError(f"cannot write {_shown(named)}: there is no folder {_shown(target.parent)}", NOT_THERE)
    return target


def _shown(path: str | os.PathLike[str]) -> str:
    text = " ".join(os.fspath(path).split("\n"))
    return text if len(text) <= 200 else f"{text[:100]}…{text[-60:]}"


@contextmanager
def _copied_into(target: Path) -> Iterator[Path]:
    handle, name = tempfile.mkstemp(suffix=target.suffix)
    os.close(handle)
    try:
        yield Path(name)
        with open(name, "rb") as source, open(os.open(target, os.O_WRONLY), "wb") as special:
            shutil.copyfileobj(source, special)
    finally:
        Path(name).unlink(missing_ok=True)


def _settle(temporary: Path, before: os.stat_result | None, as_new: os.stat_result) -> None:
    """Give the file the mode and owner of the one it replaces, else those of a new file, and write it to the disk."""
    if before is not None:
        with suppress(OSError):  # only root may give files away
            os.chown(temporary, before.st_uid, before.st_gid)
    temporary.chmod(stat.S_IMODE((before or as_new).st_mode))  # a library may have made another file
    _sync(temporary)


def _sync(path: Path) -> None:
    """Wait until a file, or a folder's list of files, is on the disk; for folders some file systems cannot do it."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        os.close(handle)


def check_place(path: str | os.PathLike[str]) -> None:
    """Find out before the work whether a file can be written to `path`."""
    with _errors_named(path):
        target, before = _place(path)
        if before is not None and not stat.S_ISREG(before.st_mode):
            if not os.access(target, os.W_OK):
                raise DataError(f"cannot write {_shown(path)}: no permission", "choose another file")
            return
        remove_leftovers(target)
        with tempfile.TemporaryFile(dir=target.parent):
            pass


@contextmanager
def output_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make the folder `path` in one that is there, finding out before the work whether it can be written to.

    If the block fails, a folder that was made for it and is still empty goes again.
    """
    with _errors_named(path):
        folder = path_of(path)
        is_new = not folder.exists()
        _in_folder(Path(os.path.realpath(folder)), path)
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    try:
        yield folder
    except BaseException:
        with suppress(OSError):
            if is_new:
                folder.rmdir()
        raise


@contextmanager
def atomic_folder(path: str | os.PathLike[str], *, replaces: str | None = None) -> Iterator[Path]:
    """Yield a temporary folder beside `path`; it takes that name only if the block succeeds.

    A folder that is there is refused, unless it holds a file named `replaces`: then they change places in one step.
    """
    with _errors_named(path):
        target = _in_folder(Path(os.path.realpath(path_of(path))), path)
        restore_folder(target)
        _check_free(target, replaces, path)
        with part_folder(target) as folder:
            temporary = folder / "part"
            temporary.mkdir()
            yield temporary
            for file in (*temporary.rglob("*"), temporary):
                _sync(file)
            _check_free(target, replaces, path)
            put_folder(temporary, target)
            _sync(target.parent)


def _check_free(target: Path, replaces: str | None, named: str | os.PathLike[str]) -> None:
    if not target.exists():
        return
    if replaces is None:
        raise DataError(f"{_shown(named)} is there already", "choose another name, or overwrite it")
    if not (target / replaces).is_file():
        raise DataError(
            f"{_shown(named)} is not what an earlier run wrote", "choose another name, or remove it yourself"
        )
