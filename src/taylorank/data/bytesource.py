"""Bytes of a file, decompressed while they are read, as blocks of whole lines of UTF-8 text."""

from __future__ import annotations

import codecs
import gzip
import io
import itertools
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, cast

from taylorank.data.lines import end_of_last_line, lines_in
from taylorank.errors import DataError
from taylorank.output import path_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Progress = Callable[[int, int], None]
BLOCK_BYTES = 1 << 23
LONGEST_LINE = 1 << 24
GZIP, ZSTD, ZIP, PARQUET = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PAR1"


@contextmanager
def open_binary(source: str | os.PathLike[str] | IO[bytes]) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes; a gzip or Zstandard file, recognised by its first bytes, is decompressed."""
    with _opened(source) as raw:
        head = raw.read(4)
        if not isinstance(head, bytes):
            raise _opened_as_text()
        raw.seek(0)
        if head.startswith(GZIP):
            yield cast(IO[bytes], gzip.GzipFile(fileobj=raw))
        elif head == ZSTD:
            yield cast(IO[bytes], zstd.ZstdFile(raw))
        elif head == ZIP:
            raise DataError("a zip archive", "unpack it and give the file inside")
        else:
            yield raw


@contextmanager
def _opened(source: str | os.PathLike[str] | IO[bytes]) -> Iterator[IO[bytes]]:
    if not isinstance(source, str | os.PathLike):
        yield _seekable(source)
        return
    path = path_of(source)
    try:
        if path.is_dir():
            raise DataError("a folder, not a file", "name the file inside")
        file = path.open("rb")
    except FileNotFoundError:
        raise DataError("no such file", "check the path") from None
    except OSError as error:
        raise DataError(f"cannot be opened ({error.strerror})", "check its name and permissions") from None
    with file:
        yield _seekable(file)


def _seekable(file: IO[bytes]) -> IO[bytes]:
    """Return a seekable file of the bytes from the current position on; a pipe is read into memory."""
    can_seek = getattr(file, "seekable", None)
    if can_seek is not None and can_seek() and file.tell() == 0:
        return file
    rest = file.read()
    if not isinstance(rest, bytes):
        raise _opened_as_text()
    return io.BytesIO(rest)


def _opened_as_text() -> DataError:
    return DataError("a file opened as text", 'open it in binary mode: open(path, "rb")')


def read_chunk(file: IO[bytes], size: int) -> bytes:
    """Read up to `size` bytes; a truncated compressed file is an error."""
    try:
        return file.read(size)
    except EOFError:
        raise DataError("the compressed file ends too early", "fetch it again; it is truncated") from None
    except (zlib.error, gzip.BadGzipFile, zstd.ZstdError) as error:
        raise DataError(f"the compressed file is damaged ({error})", "fetch it again") from None


def text_blocks(
    file: IO[bytes], *, edges: bytes, encoding: str | None, fallback: str | None = None, longest: int = LONGEST_LINE
) -> Iterator[bytes]:
    """Yield blocks of whole lines in UTF-8, without byte-order mark, each at least a line long.

    The text is UTF-8 unless `encoding` says otherwise; `fallback` is tried where it turns out not to be. What a line
    is, `lines` says, also about `edges`. A line of more than `longest` bytes is refused before it fills the memory.
    """
    decode = _decoder(encoding or "utf-8", None if encoding else fallback)
    rest = b""
    blocks = 0
    while raw := read_chunk(file, BLOCK_BYTES):
        if not blocks and not rest:
            _check_text(raw, encoding)
        text = decode(raw, final=False)
        if not blocks and not rest:
            text = text.removeprefix(codecs.BOM_UTF8)
        text = rest + text
        cut = end_of_last_line(text, edges)
        if cut:
            blocks += 1
            yield text[:cut]
        rest = text[cut:]
        if len(rest) > longest:
            file.seek(0)
            whole = text_blocks(file, edges=edges, encoding=encoding, fallback=fallback, longest=longest)
            raise _long_line(itertools.islice(whole, blocks), rest, edges, longest)
    rest += decode(b"", final=True)
    if rest:
        yield rest


def _check_text(raw: bytes, encoding: str | None) -> None:
    if encoding is None and (b"\0" in raw[:4096] or raw.startswith(PARQUET)):
        is_wide = raw[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        remedy = "check the file, or pass encoding='utf-16'" if is_wide else "check the file"
        raise DataError("not a text file (it holds binary data)", remedy)


def _long_line(before: Iterator[bytes], line: bytes, edges: bytes, longest: int) -> DataError:
    number = 1 + sum(map(lines_in, before))
    cause = f"line {number:,} is longer than {longest:,} bytes"
    if edges and b'"' in line:
        return DataError(f"{cause}: a quote in it is not closed", 'close it, or pass quote="" if quotes mean nothing')
    return DataError(cause, "check that the file has line breaks")


def _decoder(encoding: str, fallback: str | None) -> Callable[..., bytes]:
    try:
        "a".encode(encoding)  # refuses encodings that are not for text, such as rot13
        decoder = codecs.getincrementaldecoder(encoding)()
    except (LookupError, ValueError, TypeError):
        raise DataError(f"unknown encoding {encoding!r}", "use a name such as utf-8 or latin-1") from None
    is_utf8 = codecs.lookup(encoding).name == "utf-8"

    def decode(raw: bytes, *, final: bool) -> bytes:
        nonlocal decoder
        pending = decoder.getstate()[0]
        if is_utf8 and not pending and raw.isascii():
            return raw
        try:
            return decoder.decode(raw, final).encode()
        except UnicodeError as error:
            if fallback is None:
                is_byte = isinstance(error, UnicodeDecodeError)
                reason = f"byte 0x{error.object[error.start]:02x}" if is_byte else str(error)  # type: ignore[attr-defined]
                raise DataError(
                    f"not {encoding} text ({reason})", 'name its encoding, such as encoding="latin-1"'
                ) from None
            decoder = codecs.getincrementaldecoder(fallback)()
            return decoder.decode(pending + raw, final).encode()

    return decode
