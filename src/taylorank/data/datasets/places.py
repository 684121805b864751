"""Where the files of a data set are: data folders first, then the cache, then a download into the cache."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from taylorank.data.datasets.checksum import mismatch, record_checksum, recorded_checksum
from taylorank.data.datasets.fetch import Progress, download
from taylorank.data.datasets.registry import Dataset, File
from taylorank.errors import DataError

PACKAGED = Path(__file__).parent / "packaged"


@dataclass(frozen=True)
class Located:
    """The files of one data set: the official ones, or the same data as Parquet."""

    paths: tuple[Path, ...]
    is_parquet: bool


def cache_folder() -> Path:
    """Return `TAYLORANK_CACHE`, else `$XDG_CACHE_HOME/taylorank`, else `~/.cache/taylorank`."""
    if own := os.environ.get("TAYLORANK_CACHE"):
        return Path(own).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "taylorank"


def data_folders() -> list[Path]:
    """Return the folders that `TAYLORANK_DATA` names, in the order they are searched; the cache is not among them."""
    named = os.environ.get("TAYLORANK_DATA", "").split(os.pathsep)
    return list(dict.fromkeys(Path(name).expanduser() for name in named if name))


def present(dataset: Dataset) -> Located | None:
    """Find the files of a data set without opening or downloading any."""
    if dataset.packaged is not None:
        return Located((PACKAGED / dataset.packaged,), is_parquet=False)
    for folder in [*data_folders(), cache_folder()]:
        for located in _candidates(dataset, folder):
            if all(path.is_file() for path in located.paths):
                return located
    return None


def locate(dataset: Dataset, *, progress: Progress | None = None) -> Located:
    """Find the files of a data set, or download them into the cache; refuse those with a wrong checksum."""
    located = present(dataset)
    if located is not None:
        if not located.is_parquet and dataset.packaged is None:
            _verify(dataset, located.paths)
        return located
    if not dataset.files:
        wanted, places = " and ".join(dataset.parquet_names), map(str, [*data_folders(), cache_folder()])
        remedy = f"set TAYLORANK_DATA to the folder that holds {wanted} (looked in {', '.join(places)})"
        raise DataError(f"{dataset.name} has no download", remedy)
    return Located(tuple(_obtain(file, progress) for file in dataset.files), is_parquet=False)


def at_path(dataset: Dataset, path: Path) -> Located:
    """Return the files of a data set at a path of the caller: its only file, or the folder that holds all of them.

    Files may be unpacked, or Parquet.
    """
    path = path.expanduser()
    if path.is_file() and len(dataset.files) <= 1 and not dataset.has_split:
        return Located((path,), is_parquet=path.suffix == ".parquet")
    wanted = [Path(file.name).name for file in dataset.files]
    folder = path.parent if path.is_file() else path
    if not folder.is_dir():
        raise DataError(f"no such file or folder: {path}", f"give {' and '.join(wanted or dataset.parquet_names)}")
    for names in (wanted, [name.removesuffix(".gz") for name in wanted], dataset.parquet_names):
        files = tuple(folder / name for name in names)
        if files and all(file.is_file() for file in files):
            return Located(files, is_parquet=names is dataset.parquet_names)
    missing = " and ".join(wanted or dataset.parquet_names)
    raise DataError(f"{folder} does not hold the files of {dataset.name}", f"put {missing} there")


def _candidates(dataset: Dataset, folder: Path) -> Iterator[Located]:
    if dataset.files:
        yield Located(tuple(folder / file.name for file in dataset.files), is_parquet=False)
    yield Located(tuple(folder / name for name in dataset.parquet_names), is_parquet=True)


def _obtain(file: File, progress: Progress | None) -> Path:
    target = cache_folder() / file.name
    if target.is_file():
        _verify_file(file, target)
        return target
    return download(file.address, target, checksum=file.checksum, progress=progress)


def _verify(dataset: Dataset, paths: tuple[Path, ...]) -> None:
    for file, path in zip(dataset.files, paths, strict=True):
        _verify_file(file, path)


def _verify_file(file: File, path: Path) -> None:
    """Compare with the published checksum, else with the one recorded when the cache first saw the file."""
    expected = file.checksum or recorded_checksum(path)
    in_cache = path.is_relative_to(cache_folder())
    if expected is None:
        if in_cache:
            with suppress(DataError):  # a read-only cache works, too
                record_checksum(path, path)
        return
    found = mismatch(path, expected)
    if found is None:
        return
    if in_cache:
        os.replace(path, path.with_name(f"{path.name}.bad"))
        raise DataError(f"{path} had {found}, not {expected}; it is now {path.name}.bad", "run again to download it")
    raise DataError(f"{path} has {found}, not {expected}", f"replace it by {file.address}, or remove it")
