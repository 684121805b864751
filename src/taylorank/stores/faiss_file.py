"""faiss: one file that `faiss.read_index` opens, with a table of ids and metadata beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray

from taylorank.errors import ParameterError
from taylorank.output import path_of
from taylorank.stores.catalogue import Catalogue, Floats
from taylorank.stores.folder import ITEMS, export_folder, item_table, sizes, write_users
from taylorank.stores.measure import Search
from taylorank.stores.settings import Settings, Written

INDEX = "items.faiss"
NEIGHBOURS, BUILD_LIST, SEARCH_LIST = 32, 200, 128  # of HNSW: links per item, candidates when building and when asked
FACTORIES = {"flat": "Flat", "hnsw": f"HNSW{NEIGHBOURS},Flat"}


def write(catalogue: Catalogue, target: Any, settings: Settings) -> Written:
    """Build the index and write it to the folder `target`; its numbers are the ids, or rows of items.parquet."""
    import faiss

    with export_folder(target, catalogue, settings, "faiss") as folder:
        faiss.write_index(_built(catalogue, settings.index), str(folder / INDEX))
        item_table(catalogue).write_parquet(folder / ITEMS)
        write_users(folder, catalogue, settings)
    return Written(str(target), sizes(path_of(target), INDEX, ITEMS))


def _built(catalogue: Catalogue, name: str) -> Any:
    import faiss

    # unit vectors: their inner product is the cosine up to the length of the user's vector
    try:
        index = faiss.index_factory(catalogue.dimensions, FACTORIES.get(name, name), faiss.METRIC_INNER_PRODUCT)
        if name == "hnsw":
            index.hnsw.efConstruction, index.hnsw.efSearch = BUILD_LIST, SEARCH_LIST
        if not index.is_trained:
            index.train(catalogue.items.vectors)
        numbered = faiss.IndexIDMap2(index)
        numbered.add_with_ids(catalogue.items.vectors, catalogue.items.keys)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[-1]
        raise ParameterError(f"faiss cannot build the index {name!r} ({reason})", "choose flat or hnsw") from None
    return numbered


@contextmanager
def searching(target: Any, catalogue: Catalogue, settings: Settings) -> Iterator[Search]:
    """Yield a search of the file that was written."""
    import faiss

    index, ids = faiss.read_index(str(path_of(target) / INDEX)), catalogue.items.ids
    keys_are_ids = catalogue.items.has_integer_keys

    def search(user: Floats, k: int) -> NDArray[Any]:
        keys = index.search(user[None], k)[1][0]
        found: NDArray[Any] = keys[keys >= 0]  # an index may find fewer than k
        return found if keys_are_ids else ids.take(found)

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)  # one query has too little work for more
    try:
        yield search
    finally:
        faiss.omp_set_num_threads(before)
