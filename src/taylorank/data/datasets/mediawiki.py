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

from taylorank.data.datasets.formats import unzipped
from taylorank.data.datasets.registry import Loader
from taylorank.data.datasets.sql import table_rows, text
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
        for rows in table_rows(file, "pagelinks", columns=columns):
            source, target, inside = np.array(rows, dtype="S20").astype(np.int64).T
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
        for rows in table_rows(file, "page", columns=("page_namespace", "page_title", "page_id")):
            for space, title, page_id in rows:
                if namespace is None or int(space) == namespace:
                    pages[int(space), text(title)] = int(page_id)
    return pages


def _page_of_target(path: Path, pages: Mapping[tuple[int, bytes], int]) -> Integers:
    """Return, by number of the link target, the page it is; -1 where there is none."""
    targets: list[tuple[int, int]] = []
    with unzipped(path) as file:
        for rows in table_rows(file, "linktarget", columns=("lt_id", "lt_namespace", "lt_title")):
            for number, space, title in rows:
                page_id = pages.get((int(space), text(title)))
                if page_id is not None:
                    targets.append((int(number), page_id))
    numbers, page_ids = np.array(targets, dtype=np.int64).reshape(-1, 2).T
    table = np.full(int(numbers.max(initial=-1)) + 1, -1)
    table[numbers] = page_ids
    return table


def _look_up(table: Integers, keys: Integers) -> Integers:
    known = keys < len(table)
    out = np.full(len(keys), -1)
    out[known] = table[keys[known]]
    return out
