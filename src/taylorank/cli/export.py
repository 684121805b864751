"""`taylorank export`: the vectors of a saved model in a vector store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from taylorank.cli.options import ModelFile, Quiet, Seed
from taylorank.cli.results import Json, check_writable, text_console, write_json
from taylorank.errors import ParameterError
from taylorank.models import load
from taylorank.stores import export as export_model
from taylorank.stores.kinds import module_of


def export(
    model: ModelFile,
    /,
    *,
    to: Annotated[Literal["faiss", "usearch", "pgvector", "qdrant", "parquet"], Parameter(help="The store.")],
    index: Annotated[
        str | None,
        Parameter(
            help="How the store searches. faiss: flat (exact, the default), hnsw, or a string of its index_factory; "
            "pgvector: hnsw (the default), ivfflat, exact."
        ),
    ] = None,
    metric: Annotated[
        Literal["ip", "cosine"],
        Parameter(
            help="What the store maximises: the inner product, which is the score, or a cosine of the same order."
        ),
    ] = "ip",
    items: Annotated[
        Path | None,
        Parameter(help="More columns of the items: a csv or Parquet file with a column id, item or item_id."),
    ] = None,
    name: Annotated[str, Parameter(help="Name of the table or collection; that of the users is NAME_users.")] = "items",
    users: Annotated[bool, Parameter(help="Write the vectors of the users too; --no-users does not.")] = True,
    sample: Annotated[int, Parameter(help="Number of users who are asked to measure recall and latency.")] = 200,
    out: Annotated[
        str | None,
        Parameter(
            help="A new folder; for pgvector the connection string of a database, which is by default that of the "
            "environment (PGHOST, PGDATABASE, …); for qdrant a folder or the URL of a server (key: QDRANT_API_KEY)."
        ),
    ] = None,
    overwrite: Annotated[
        bool, Parameter(help="Replace what an earlier export wrote there.", negative=(), show_default=False)
    ] = False,
    json: Json = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Write the vectors of a saved model to a vector store.

    Prints which share of the model's own lists the store finds, the time of a
    query and the size.

    Example: taylorank export model.tr --to faiss --out shop.faiss

    Example: taylorank export model.tr --to pgvector --out dbname=shop
    """
    module_of(to)  # a missing package is found before the work
    if out is None and to != "pgvector":
        raise ParameterError(f"--to {to} needs a place", f"add --out shop.{to}")
    console = text_console(quiet, json)
    check_writable(json)
    found = export_model(
        load(model),
        to,
        out or "",
        index=index,
        metric=metric,
        metadata=items,
        name=name,
        users=users,
        overwrite=overwrite,
        sample=sample,
        random_state=seed,
    )
    console.print(str(found), markup=False)
    if json is not None:
        write_json(asdict(found), json, console)
