"""The stores by name, with the packages they need."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any, NamedTuple

from taylorank.checks import check_name
from taylorank.errors import MissingExtraError


class Kind(NamedTuple):
    """A store: the module that writes to it, the packages it needs, its indexes, the default first."""

    module: str
    packages: tuple[str, ...]
    indexes: tuple[str, ...]
    other_index: str = ""  # what else may be given as index, in words


KINDS = {
    "faiss": Kind("faiss_file", ("faiss",), ("flat", "hnsw"), 'a string of its index_factory, such as "IVF256,Flat"'),
    "usearch": Kind("usearch_file", ("usearch",), ("hnsw",)),
    "pgvector": Kind("pgvector_tables", ("psycopg", "pgvector"), ("hnsw", "ivfflat", "exact")),
    "qdrant": Kind("qdrant_collections", ("qdrant_client",), ("hnsw",)),
    "parquet": Kind("parquet_files", (), ("exact",)),
}


def module_of(name: str) -> Any:
    """Return the module of a store; raise an error that says what to install if a package is missing."""
    kind = check_name(name, KINDS, "store")
    for package in kind.packages:
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(f"{package} is not installed", f"pip install 'taylorank[{name}]'")
    return importlib.import_module(f"taylorank.stores.{kind.module}")
