"""usearch: one file of a graph (HNSW) that `usearch.index.Index.restore` opens, with a table of ids beside it.

usearch keeps 1 − u·w in single precision, where scores of 10⁻⁴ lose most of their digits. So w is divided by the length
L of the longest, which export.json has: the score is L (1 − distance).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.output import path_of
from taylorank.stores.catalogue import Catalogue, Floats
from taylorank.stores.folder import ITEMS, export_folder, item_table, sizes, write_users
from taylorank.stores.measure import Search
from taylorank.stores.settings import Settings, Written

INDEX = "items.usearch"
NEIGHBOURS, BUILD_LIST, SEARCH_LIST = 32, 200, 128  # links per item, candidates when building and when asked
METRICS = {"ip": "ip", "cosine": "cos"}


def write(catalogue: Catalogue, target: Any, settings: Settings) -> Written:
    """Build the graph and write it to the folder `target`; its keys are the ids, or rows of items.parquet."""
    from usearch.index import Index

    longest = _longest(catalogue)
    with export_folder(target, catalogue, settings, "usearch", longest=longest) as folder:
        index = Index(
            ndim=catalogue.dimensions,
            metric=METRICS[catalogue.metric],
            dtype="f32",
            connectivity=NEIGHBOURS,
            expansion_add=BUILD_LIST,
            expansion_search=SEARCH_LIST,
        )
        index.add(catalogue.items.keys.astype("uint64"), catalogue.items.vectors / np.float32(longest))
        index.save(str(folder / INDEX))
        item_table(catalogue).write_parquet(folder / ITEMS)
        write_users(folder, catalogue, settings)
    return Written(str(target), sizes(path_of(target), INDEX, ITEMS))


def _longest(catalogue: Catalogue) -> float:
    """The length of the longest item vector, 1 if all are 0."""
    return float(np.linalg.norm(catalogue.items.vectors.astype(np.float64), axis=1).max()) or 1.0


@contextmanager
def searching(target: Any, catalogue: Catalogue, settings: Settings) -> Iterator[Search]:
    """Yield a search of the file that was written."""
    from usearch.index import Index

    index, ids = Index.restore(str(path_of(target) / INDEX)), catalogue.items.ids
    index.expansion_search = SEARCH_LIST  # the file does not keep it
    keys_are_ids = catalogue.items.has_integer_keys

    def search(user: Floats, k: int) -> NDArray[Any]:
        keys: NDArray[Any] = index.search(user, k).keys.astype("int64")
        return keys if keys_are_ids else ids.take(keys)

    yield search
