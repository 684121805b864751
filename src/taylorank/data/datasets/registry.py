"""What a public data set is: where it comes from, on what terms, how it is read, and how papers clean it."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from taylorank.data.interactions import Duplicates, Interactions
from taylorank.errors import DataError, ParameterError

Loader = Callable[[tuple[Path, ...], Mapping[str, Any]], Interactions]
"""(files in the order of `Dataset.files`, options of `read_interactions`) → the interactions in them."""


class Counts(NamedTuple):
    """How large a data set is."""

    users: int
    items: int
    interactions: int

    def __str__(self) -> str:
        return f"{self.users:,} users × {self.items:,} items, {self.interactions:,} interactions"


@dataclass(frozen=True)
class File:
    """One official file: its place inside a data folder or the cache, and where it is published.

    `checksum` is "md5:…" or "sha256:…"; None where the publisher states none, and then the SHA-256 of the first
    download is recorded beside the file and holds from then on.
    """

    name: str
    address: str
    checksum: str | None = None


@dataclass(frozen=True)
class Cleaning:
    """Keep ratings ≥ `min_rating`, merge repeated pairs by `duplicates`, then take the `core`-core.

    `strength` names the column that gives r_xy (None: all 1). `counts` is what is known to remain, and
    `counts_from` who says so.
    """

    name: str
    summary: str
    min_rating: float | None = None
    core: int | None = None
    strength: str | None = None
    duplicates: Duplicates = "last"
    counts: Counts | None = None
    counts_from: str = ""
    loader: Loader | None = None


@dataclass(frozen=True)
class Dataset:
    """A public data set. `rating` and `timestamp` name columns; `loader` reads the official files.

    Without `files` there is no download: the set is read from NAME.parquet in a data folder, unless it is
    `packaged`: a file that comes with the library. A set with `has_split` was published as train and test.
    """

    name: str
    title: str
    citation: str
    terms: str
    cleanings: tuple[Cleaning, ...]
    homepage: str | None = None
    files: tuple[File, ...] = ()
    loader: Loader | None = None
    packaged: str | None = None
    rating: str | None = None
    timestamp: str | None = None
    has_split: bool = False
    notes: str = ""

    @property
    def parquet_names(self) -> tuple[str, ...]:
        """The Parquet files that hold the same data under the column names used here."""
        if self.has_split:
            return f"{self.name}-train.parquet", f"{self.name}-test.parquet"
        return (f"{self.name}.parquet",)

    def cleaning(self, name: str) -> Cleaning:
        """Return the cleaning of that name."""
        for cleaning in self.cleanings:
            if cleaning.name == name:
                return cleaning
        known = ", ".join(cleaning.name for cleaning in self.cleanings)
        raise ParameterError(f"{self.name} has no cleaning {name!r}", f"choose one of: {known}")

    @property
    def protocols(self) -> tuple[Cleaning, ...]:
        """The older name of `cleanings`; goes with the next release."""
        warnings.warn("Dataset.protocols is deprecated; write cleanings", DeprecationWarning, stacklevel=2)
        return self.cleanings

    def protocol(self, name: str) -> Cleaning:
        """Return `cleaning(name)`, under its older name, which goes with the next release."""
        warnings.warn("Dataset.protocol is deprecated; write cleaning", DeprecationWarning, stacklevel=2)
        return self.cleaning(name)


def names() -> list[str]:
    """Return the names of all data sets.

    >>> "ml-1m" in names()
    True
    """
    return list(_registry())


def info(name: str) -> Dataset:
    """Return what is known about the data set `name`.

    >>> info("ml-10m").cleaning("paper").counts.items
    9888
    """
    known = _registry()
    if name in known:
        return known[name]
    raise unknown(name)


def unknown(name: str) -> DataError:
    """Return the error for a name that no data set has; it proposes close ones."""
    known = _registry()
    close = difflib.get_close_matches(name.lower(), known, n=3, cutoff=0.5)
    remedy = f"did you mean {' or '.join(close)}?" if close else f"choose one of: {', '.join(known)}"
    return DataError(f"unknown data set {name!r}", remedy)


def register(dataset: Dataset) -> None:
    """Add a data set of your own to this process; whatever takes the name of a data set then takes this one.

    `Dataset("our-clicks", "Clicks of our shop", "", "internal", (Cleaning("raw", "every pair"),))` is read from
    our-clicks.parquet in a data folder; `files` and `loader` are for sets that are downloaded.
    """
    if _registry().get(dataset.name, dataset) != dataset:
        raise ParameterError(f"there is another data set {dataset.name!r} already", "choose another name")
    _ADDED[dataset.name] = dataset


_ADDED: dict[str, Dataset] = {}


def _registry() -> dict[str, Dataset]:
    from taylorank.data.datasets import entries, local_entries

    return {dataset.name: dataset for dataset in (*entries.ENTRIES, *local_entries.ENTRIES, *_ADDED.values())}
