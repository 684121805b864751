"""Public data sets by name: found in a data folder or the cache, else downloaded, checked and read.

>>> from taylorank.data import datasets
>>> datasets.info("ml-1m").files[0].name
'ml-1m.zip'

`get("ml-1m", cleaning="paper")` gives the interactions as the papers clean them; `published_split("gowalla")` the
train and test parts that others report numbers on. Set `TAYLORANK_DATA` to folders of your own, and
`TAYLORANK_CACHE` to where downloads go; `register` adds a data set of your own.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taylorank.data.datasets.places import Located, at_path, cache_folder, locate
from taylorank.data.datasets.registry import Cleaning, Counts, Dataset, File, info, names, register
from taylorank.data.interactions import Interactions
from taylorank.deprecation import renamed
from taylorank.errors import DataError
from taylorank.progress import Show, narrated, report

__all__ = [
    "Cleaning",
    "Counts",
    "Dataset",
    "File",
    "cache_folder",
    "get",
    "info",
    "names",
    "path",
    "published_split",
    "register",
    "thesaurus",
]


@renamed(protocol="cleaning")
def get(name: str, *, cleaning: str = "raw", path: str | Path | None = None, progress: Show = None) -> Interactions:
    """Return the data set `name`: whole ("raw"), as the papers clean it ("paper"), or by another of its cleanings.

    `path` is a file or folder of your own to read instead; it may be unpacked, and its checksum is not verified.
    `progress` is as in `read_interactions`: of downloads, and of reading.
    """
    dataset = info(name)
    recipe = dataset.cleaning(cleaning)
    with narrated(f"data set {name}", progress):
        return read(dataset, _located(dataset, path), recipe)


def read(dataset: Dataset, located: Located, recipe: Cleaning) -> Interactions:
    """Read files that `locate` found, and clean them by a recipe of the data set."""
    data = _load(dataset, located, recipe)
    data = data.with_step(f"data set {dataset.name}, cleaning {recipe.name}, from {located.paths[0].parent}")
    return data if recipe.core is None else data.core(recipe.core)


def thesaurus() -> Interactions:
    """Return common words of the Moby Thesaurus: users are root words, items the words that belong to them.

    It comes with the library, so that it is there offline; the ids are the words.

    >>> "wave" in thesaurus().item_ids
    True
    """
    return get("thesaurus")


def published_split(
    name: str, *, path: str | Path | None = None, progress: Show = None
) -> tuple[Interactions, Interactions]:
    """Return the train and test parts of a data set that was published in two, over the same ids.

    `path` is a folder of your own that holds them. A pair in both gives a `LeakageWarning`. Where a file
    NAME-train-order.parquet lies beside, the places of the training pairs in their lines are their times, so that
    `hold_back`, `fit_best` and `tune` on the command line hold back what came last; pairs without a place count as the
    earliest.
    """
    from taylorank.data.datasets.line_order import in_line_order
    from taylorank.data.leakage import check_leakage
    from taylorank.data.share import share_ids

    dataset = info(name)
    if not dataset.has_split:
        having = ", ".join(n for n in names() if info(n).has_split)
        raise DataError(f"{name} was published in one part", f"split it yourself; published splits: {having}")
    raw = dataset.cleaning("raw")
    with narrated(f"data set {name}", progress):
        located = _located(dataset, path)
        parts = [_load(dataset, Located((file,), located.is_parquet), raw) for file in located.paths]
        train, test = share_ids(*parts)
        order = located.paths[0].parent / f"{name}-train-order.parquet"
        if order.exists():
            train = in_line_order(train, order)
    check_leakage(train, test, order="any")
    record = f"part of {name} as published, from {located.paths[0].parent}"
    return train.with_step(f"train {record}"), test.with_step(f"test {record}")


def path(name: str, *, progress: Show = None) -> Path:
    """Find or download a data set; return its file or, if it has several, the folder that holds them."""
    with narrated(f"data set {name}", progress):
        files = _located(info(name), None).paths
    return files[0] if len(files) == 1 else files[0].parent


def _located(dataset: Dataset, path: str | Path | None) -> Located:
    if path is not None:
        return at_path(dataset, Path(path))
    return locate(dataset, progress=lambda done, total: report("downloaded", done=done, total=total, unit="bytes"))


def _load(dataset: Dataset, located: Located, recipe: Cleaning) -> Interactions:
    from taylorank.data.datasets.formats import parquet_files

    official = recipe.loader or dataset.loader
    if located.is_parquet and recipe.loader is not None:
        raise DataError(
            f"cleaning {recipe.name} of {dataset.name} needs the official files, not {located.paths[0].name}",
            f"put {' and '.join(file.name for file in dataset.files)} beside it",
        )
    load = parquet_files if located.is_parquet or official is None else official
    return load(located.paths, _read_options(dataset, recipe))


def _read_options(dataset: Dataset, recipe: Cleaning) -> dict[str, Any]:
    options: dict[str, Any] = {
        "user": "user",
        "item": "item",
        "rating": dataset.rating,
        "timestamp": dataset.timestamp,
        "strength": recipe.strength,
        "min_rating": recipe.min_rating,
        "duplicates": recipe.duplicates,
    }
    return {name: value for name, value in options.items() if value is not None}


if not TYPE_CHECKING:  # to a type checker it would make every name an attribute

    def __getattr__(name: str) -> Any:
        if name == "Protocol":
            warnings.warn("datasets.Protocol is deprecated; write datasets.Cleaning", DeprecationWarning, stacklevel=2)
            return Cleaning
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
