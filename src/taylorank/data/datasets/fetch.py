"""Download one file: resumable, checked, and in place only when whole.

The bytes go to TARGET.part; TARGET.part.json holds the validator the server gave for them (entity tag, date of
change, length). A later run asks for the rest with `Range` and `If-Range`, so that the halves of two different
files are never joined (RFC 9110, sections 13.1.5 and 14).
"""

from __future__ import annotations

import http.client
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from taylorank.data.datasets.checksum import mismatch, record_checksum, record_path, recorded_checksum
from taylorank.errors import DataError

Progress = Callable[[int, int | None], None]
"""Called with the bytes done and, if the server states it, the total."""

BLOCK = 1 << 18


@dataclass(frozen=True)
class Validator:
    """What distinguishes one version of a remote file from another."""

    address: str
    etag: str | None
    modified: str | None
    total: int | None

    @property
    def condition(self) -> str | None:
        """The value for `If-Range`: a strong entity tag, else the date of change."""
        strong = self.etag is not None and not self.etag.startswith("W/")
        return self.etag if strong else self.modified

    def allows_resume(self) -> bool:
        """Whether a changed file would be noticed."""
        return self.condition is not None or self.total is not None

    def agrees(self, other: Validator) -> bool:
        """Whether everything that both know is equal."""
        pairs = [(self.etag, other.etag), (self.modified, other.modified), (self.total, other.total)]
        return all(a == b for a, b in pairs if a is not None and b is not None)


def download(
    address: str,
    target: Path,
    *,
    checksum: str | None = None,
    progress: Progress | None = None,
    timeout: float = 30.0,
) -> Path:
    """Fetch `address` to `target`, resuming an earlier attempt where that is safe.

    An interrupted download keeps its part. A wrong file is put aside as TARGET.bad and never used.
    """
    part = target.with_name(f"{target.name}.part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        with _one_at_a_time(part.parent):
            if not target.is_file():
                _fetch(address, part, progress=progress, timeout=timeout)
                _accept(part, target, address=address, checksum=checksum)
    except (HTTPError, URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
        raise _unreachable(address, target, part, error) from error
    except OSError as error:
        cause = f"cannot write {part}: {error.strerror or error}"
        raise DataError(cause, "check the folder and free space, or set TAYLORANK_CACHE") from error
    return target


def _fetch(address: str, part: Path, *, progress: Progress | None, timeout: float) -> None:
    known = _read_validator(part)
    done = part.stat().st_size if part.is_file() else 0
    if not done or known is None or known.address != address or not known.allows_resume():
        done, known = 0, None
    if known is not None and known.total == done:
        return
    response = _open(address, start=done, validator=known, timeout=timeout)
    if response is None:
        response = _open(address, start=0, validator=None, timeout=timeout)
    with response:
        done = done if response.status == 206 else 0
        fresh = _validator_of(address, response)
        if not done:
            part.unlink(missing_ok=True)  # first, so that old bytes never meet the new validator
            _validator_path(part).write_text(json.dumps(asdict(fresh)), "utf-8")
        done = _copy(response, part, done=done, total=fresh.total, progress=progress)
    if fresh.total is not None and done != fresh.total:
        raise ConnectionError(f"the connection broke after {done:,} of {fresh.total:,} bytes")


def _open(address: str, *, start: int, validator: Validator | None, timeout: float) -> Any:
    """Ask for the bytes from `start`; None if that range cannot be had, or not of the same file."""
    headers = {"User-Agent": "taylorank", "Accept-Encoding": "identity"}
    if start and validator is not None:
        headers["Range"] = f"bytes={start}-"
        if validator.condition is not None:
            headers["If-Range"] = validator.condition
    try:
        response = urlopen(Request(address, headers=headers), timeout=timeout)
    except HTTPError as error:
        if error.code == 416 and start:
            error.close()
            return None
        raise
    except URLError:
        raise
    except OSError as error:  # while the answer was awaited
        raise URLError(error) from error
    if response.status == 206 and not _continues(response, start, validator):
        response.close()
        return None
    return response


def _continues(response: Any, start: int, validator: Validator | None) -> bool:
    fits = re.match(rf"bytes {start}-", response.headers.get("Content-Range", "")) is not None
    return fits and validator is not None and validator.agrees(_validator_of(validator.address, response))


def _validator_of(address: str, response: Any) -> Validator:
    headers = response.headers
    length = headers.get("Content-Length")
    if response.status == 206:
        length = headers.get("Content-Range", "").rpartition("/")[2]
    total = int(length) if length and length.isdigit() else None
    return Validator(address, headers.get("ETag"), headers.get("Last-Modified"), total)


def _blocks(response: Any) -> Iterator[bytes]:
    """Yield the body; an error here is one of the network, not of the disk."""
    try:
        while block := response.read(BLOCK):
            yield block
    except OSError as error:
        raise URLError(error) from error


def _copy(response: Any, part: Path, *, done: int, total: int | None, progress: Progress | None) -> int:
    with part.open("ab") as file:
        for block in _blocks(response):
            file.write(block)
            done += len(block)
            if progress is not None:
                progress(done, total)
    return done


def _validator_path(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _read_validator(part: Path) -> Validator | None:
    try:
        return Validator(**json.loads(_validator_path(part).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Let one process at a time download into a folder, where the system has advisory locks; others wait."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _accept(part: Path, target: Path, *, address: str, checksum: str | None) -> None:
    expected = checksum or recorded_checksum(target)
    found = None if expected is None else mismatch(part, expected)
    _validator_path(part).unlink(missing_ok=True)
    if found is not None:
        bad = target.with_name(f"{target.name}.bad")
        os.replace(part, bad)
        since = "" if checksum else f"; if the publisher replaced it, delete {record_path(target)}"
        raise DataError(f"{address} gave {found}, not {expected}; kept as {bad}", f"try again later{since}")
    if expected is None:
        record_checksum(target, part)
    os.replace(part, target)


def _unreachable(address: str, target: Path, part: Path, error: Exception) -> DataError:
    if isinstance(error, HTTPError):
        reason = f"HTTP {error.code} {error.reason}"
        error.close()
    else:
        cause = error.reason if isinstance(error, URLError) else error
        reason = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    again = "run again to resume, or " if part.is_file() else ""
    return DataError(f"cannot download {address}: {reason}", f"{again}get it another way and save it as {target}")
