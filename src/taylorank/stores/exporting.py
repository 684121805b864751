"""From a fitted model to a vector store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from taylorank.checks import check_whole
from taylorank.data.polars_use import check_polars
from taylorank.ranking import Rankable, ranker_of
from taylorank.stores.catalogue import catalogue_of
from taylorank.stores.exported import Exported
from taylorank.stores.kinds import module_of
from taylorank.stores.measure import measured
from taylorank.stores.metadata import metadata_of
from taylorank.stores.settings import Settings, settled_index


def export(
    model: Rankable,
    kind: str,
    target: Any,
    *,
    index: str | None = None,
    metric: str = "ip",
    metadata: Any = None,
    name: str = "items",
    users: bool = True,
    overwrite: bool = False,
    sample: int = 200,
    random_state: int = 0,
) -> Exported:
    """Write the vectors of a fitted model to a store, and measure what the store finds.

    Parameters
    ----------
    model
        A fitted model whose scores are inner products: every factor model and every student.
    kind
        "faiss", "usearch", "pgvector", "qdrant" or "parquet".
    target
        A new folder; for pgvector the connection string of a database ("" for that of the environment), for Qdrant a
        folder, a URL or a client.
    index
        How the store searches. faiss: "flat" (exact, the default), "hnsw" or a string of its index_factory; pgvector:
        "hnsw" (the default), "ivfflat" or "exact".
    metric
        "ip": the inner product is the score. "cosine", for stores that know nothing else: unit vectors with one number
        more, whose cosine has the same order (`stores.catalogue`). Graphs find less by it.
    metadata
        More columns of the items, as a table or a csv or Parquet file with a column id, item or item_id.
    name
        Of the table or collection.
    users
        Whether the vectors of the users are written too, for applications that ask without the model.
    overwrite
        Replace what an earlier export wrote there.
    sample, random_state
        How many users are asked to measure recall and latency, and the seed that draws them; 0 for none.

    >>> import tempfile
    >>> from taylorank.data import planted
    >>> from taylorank.models import RG2
    >>> model = RG2(8).fit(planted(200, 80, interactions=3000))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = export(model, "parquet", f"{folder}/shop")
    >>> found.items, found.dimensions, found.measured.recall
    (80, 9, 1.0)
    """
    check_polars()
    store = module_of(kind)
    settings = Settings(settled_index(kind, index), name=name, users=users, overwrite=overwrite)
    check_whole(sample, "sample", least=0)
    ranker = ranker_of(model)
    catalogue = catalogue_of(ranker, metric)
    if metadata is not None:
        catalogue = replace(catalogue, metadata=metadata_of(metadata, catalogue.items.ids))
    written = store.write(catalogue, target, settings)
    found = None
    if sample:
        with store.searching(target, catalogue, settings) as search:
            found = measured(search, catalogue, ranker, sample=sample, random_state=random_state)
    return Exported(
        kind,
        written.index or settings.index,
        catalogue.metric,
        written.target,
        items=len(catalogue.items),
        users=len(catalogue.users),
        dimensions=catalogue.dimensions,
        left_out_items=len(ranker.items) - len(catalogue.items),
        left_out_users=int(np.sum(ranker.is_cold(np.arange(len(ranker.users))))),
        bytes=written.bytes,
        measured=found,
    )
