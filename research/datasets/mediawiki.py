"""The links of a wiki from its database dump: page_from → page_to.

A row of pagelinks names its target by a number; linktarget gives that number's namespace and title; page says
which page has them. Links to pages that do not exist lead nowhere and are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from research.datasets.sql import integers, table_columns, text
from taylorank.data.datasets.formats import unzipped
from taylorank.data.datasets.registry import Loader
from taylorank.data.interactions import Interactions

if TYPE_CHECKING:
    import polars as pl

Integers = NDArray[np.int64]


def wiki_links(*, namespace: int | None = None) -> Loader:
    """Read (pagelinks, linktarget, page) dumps; `namespace` keeps links inside it only (0: articles)."""

    def load(paths: tuple[Path, ...], options: Mapping[str, Any]) -> Interactions:
        from taylorank.data.read import read_interactions

        pagelinks, linktarget, page = paths
        page_of_target = _page_of_target(linktarget, _page_of_title(page, namespace))
        return read_interactions(_links(pagelinks, page_of_target, namespace), **options)

    return load


def _links(path: Path, page_of_target: Integers, namespace: int | None) -> pl.DataFrame:
    import polars as pl

    columns = ("pl_from", "pl_target_id", "pl_from_namespace")
    blocks = []
    with unzipped(path) as file:
        for block in table_columns(file, "pagelinks", columns=columns):
            source, target, inside = map(integers, block)
            page_to = _look_up(page_of_target, target)
            keep = page_to >= 0
            if namespace is not None:
                keep &= inside == namespace
            blocks.append(pl.DataFrame({"user": source[keep], "item": page_to[keep]}))
    empty = pl.DataFrame(schema={"user": pl.Int64, "item": pl.Int64})
    return pl.concat([empty, *blocks])


def _page_of_title(path: Path, namespace: int | None) -> dict[tuple[int, bytes], int]:
    pages: dict[tuple[int, bytes], int] = {}
    with unzipped(path) as file:
        for spaces, titles, numbers in table_columns(file, "page", columns=("page_namespace", "page_title", "page_id")):
            decoded = zip(integers(spaces).tolist(), map(text, titles), integers(numbers).tolist(), strict=True)
            pages.update(((space, title), number) for space, title, number in decoded if namespace in (None, space))
    return pages


def _page_of_target(path: Path, pages: Mapping[tuple[int, bytes], int]) -> Integers:
    """Return, by number of the link target, the page it is; -1 where there is none."""
    targets, found = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    with unzipped(path) as file:
        for numbers, spaces, titles in table_columns(file, "linktarget", columns=("lt_id", "lt_namespace", "lt_title")):
            named = zip(integers(spaces).tolist(), map(text, titles), strict=True)
            targets.append(integers(numbers))
            found.append(np.array([pages.get(name, -1) for name in named], dtype=np.int64))
    number = np.concatenate(targets)
    table = np.full(int(number.max(initial=-1)) + 1, -1)
    table[number] = np.concatenate(found)
    return table


def _look_up(table: Integers, keys: Integers) -> Integers:
    known = keys < len(table)
    out = np.full(len(keys), -1)
    out[known] = table[keys[known]]
    return out
