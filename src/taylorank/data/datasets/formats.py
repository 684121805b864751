"""Loaders for the formats that public data sets come in: archives, JSON lines, split text files, Parquet.

A loader takes the files of a data set and the options of `read_interactions`, and returns the interactions.
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from taylorank.data.datasets.registry import Loader
from taylorank.data.interactions import Interactions
from taylorank.errors import DataError

if TYPE_CHECKING:
    import polars as pl

BLOCK = 1 << 24


def zip_member(member: str, **layout: Any) -> Loader:
    """Read one table inside a zip archive, or taken out of it; `layout` describes it as `read_interactions` does."""

    def load(paths: tuple[Path, ...], options: Mapping[str, Any]) -> Interactions:
        from taylorank.data.read import read_interactions

        if paths[0].suffix != ".zip":
            return read_interactions(paths[0], **{**options, **layout})
        with (
            intact(paths[0]),
            zipfile.ZipFile(paths[0]) as archive,
            archive.open(_member(archive, member)) as file,
        ):
            return read_interactions(file, **{**options, **layout})

    return load


def json_lines(columns: Mapping[str, str]) -> Loader:
    """Read gzipped JSON, one object per line; `columns` maps the fields to user, item, rating, timestamp."""

    def load(paths: tuple[Path, ...], options: Mapping[str, Any]) -> Interactions:
        import polars as pl

        from taylorank.data.read import read_interactions

        kinds = {"rating": pl.Float32, "timestamp": pl.Int64}
        schema = {field: kinds.get(column, pl.String) for field, column in columns.items()}

        def parse(block: bytes) -> pl.DataFrame:
            return pl.read_ndjson(io.BytesIO(block), schema=schema).rename(dict(columns))

        return read_interactions(parse_blocks(paths[0], parse), **options)

    return load


def adjacency_files(paths: tuple[Path, ...], options: Mapping[str, Any]) -> Interactions:
    """Read several files of lines "user item item …" as one set."""
    from taylorank.data.read import read_interactions

    parts = []
    for path in paths:
        with intact(path):
            parts.append(read_interactions(path, format="adjacency"))
    return join(parts, options)


def parquet_files(paths: tuple[Path, ...], options: Mapping[str, Any]) -> Interactions:
    """Read Parquet files with the columns that the options name, as one set."""
    from taylorank.data.read import read_interactions

    if len(paths) > 1:
        return join([parquet_files((path,), options) for path in paths], options)
    with intact(paths[0]):
        return read_interactions(paths[0], format="parquet", **options)


def join(parts: list[Interactions], options: Mapping[str, Any]) -> Interactions:
    """Return the interactions of all parts as one set."""
    if len(parts) == 1:
        return parts[0]
    import polars as pl

    from taylorank.data.read import read_interactions

    frame = pl.concat([part.to_frame().select("user", "item") for part in parts])
    return read_interactions(frame, **options)


def parse_blocks(path: Path, parse: Callable[[bytes], pl.DataFrame]) -> pl.DataFrame:
    """Parse a gzipped text file some megabytes at a time, so that only the parsed columns stay in memory."""
    import polars as pl

    with unzipped(path) as file:
        frames = [parse(block) for block in line_blocks(file)]
        if not frames:
            raise DataError(f"{path} is empty", "delete it, so that it is downloaded again")
        return pl.concat(frames)


def line_blocks(file: IO[bytes], *, size: int = BLOCK) -> Iterator[bytes]:
    """Cut a stream into blocks of about `size` bytes that end where a line ends."""
    rest = b""
    while data := file.read(size):
        cut = data.rfind(b"\n") + 1
        if not cut:
            rest += data
            continue
        yield rest + data[:cut]
        rest = data[cut:]
    if rest.strip():
        yield rest


@contextmanager
def unzipped(path: Path) -> Iterator[IO[bytes]]:
    """Open a gzipped file, or one that was unpacked; damage that shows while it is read is reported as such."""
    with intact(path), gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        yield cast(IO[bytes], file)


@contextmanager
def intact(path: Path) -> Iterator[None]:
    """Report a truncated or corrupt file as one clear error, whichever library notices it."""
    import polars as pl

    damage = (
        zipfile.BadZipFile,
        gzip.BadGzipFile,
        zlib.error,
        EOFError,
        UnicodeDecodeError,
        pl.exceptions.PolarsError,
    )
    try:
        yield
    except DataError as error:
        if str(path) in error.cause:
            raise
        raise DataError(f"{path}: {error.cause}", error.remedy) from error
    except damage as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise DataError(f"{path} is damaged ({reason})", "delete it and get it again") from error
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}", "check the file") from error


def _member(archive: zipfile.ZipFile, name: str) -> str:
    """Return the member of that file name, in whatever folder the archive has it."""
    found = [member for member in archive.namelist() if member.rpartition("/")[2] == name]
    if not found:
        raise DataError(f"{archive.filename} holds no {name}", "delete it and get it again")
    return min(found, key=lambda member: (member.count("/"), member))
