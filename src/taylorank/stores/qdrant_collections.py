"""Qdrant: a collection of the items and one of the users, in a folder, on a server, or with a client of yours."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data.ids import Id
from taylorank.errors import DataError
from taylorank.output import path_of
from taylorank.stores.catalogue import Catalogue, Floats, Side
from taylorank.stores.folder import export_folder, item_table
from taylorank.stores.measure import Search
from taylorank.stores.settings import Settings, Written


def write(catalogue: Catalogue, target: Any, settings: Settings) -> Written:
    """Write to the folder, the server or the client that `target` is."""
    if not _is_folder(target):
        with _client(target) as client:
            _make_room(client, settings)
            _fill(client, catalogue, settings)
        return Written(str(target) if isinstance(target, str) else "a client of yours", None)
    with export_folder(target, catalogue, settings, "qdrant") as folder, _client(folder) as client:
        _fill(client, catalogue, settings)
    files = (path_of(target) / "collection" / settings.name).rglob("*")
    # a folder is searched by the client itself, which compares with every item
    return Written(str(target), sum(file.stat().st_size for file in files if file.is_file()), index="exact")


@contextmanager
def searching(target: Any, catalogue: Catalogue, settings: Settings) -> Iterator[Search]:
    """Yield a search of what was written."""
    with _client(target) as client:

        def search(user: Floats, k: int) -> NDArray[Any]:
            points = client.query_points(settings.name, query=user, limit=k, with_payload=["id"]).points
            return np.array([point.payload["id"] for point in points], dtype=catalogue.items.ids.values.dtype)

        yield search


def point_id(item: Id) -> int | str:
    """Return the id of a point, which is a whole number ≥ 0 or a UUID: other ids get the UUID of their text.

    >>> point_id(17), point_id("a")
    (17, 'e1407479-3136-56c0-9908-bb02fb0339e2')
    """
    if isinstance(item, int) and item >= 0:
        return item
    return str(uuid.uuid5(uuid.NAMESPACE_URL, str(item)))


def _is_folder(target: Any) -> bool:
    return isinstance(target, os.PathLike) or (isinstance(target, str) and "://" not in target)


@contextmanager
def _client(target: Any) -> Iterator[Any]:
    """Yield a client, and close it unless it was given."""
    from qdrant_client import QdrantClient
    from qdrant_client.http.exceptions import ApiException

    if not isinstance(target, str | os.PathLike):
        yield target
        return
    if _is_folder(target):
        client = QdrantClient(path=str(path_of(target)))
    else:
        key = os.environ.get("QDRANT_API_KEY")
        client = QdrantClient(url=str(target), api_key=key, check_compatibility=False)
    try:
        yield client
    except ApiException as error:
        raise DataError(
            f"Qdrant at {target} does not answer as it should ({' '.join(str(error).split())})",
            "check the address, and the key in QDRANT_API_KEY",
        ) from error
    finally:
        client.close()


def _make_room(client: Any, settings: Settings) -> None:
    there = [name for name in (settings.name, settings.users_name) if client.collection_exists(name)]
    if there and not settings.overwrite:
        raise DataError(f"there is a collection {there[0]!r} already", "choose another name, or overwrite it")
    for name in there:
        client.delete_collection(name)


def _fill(client: Any, catalogue: Catalogue, settings: Settings) -> None:
    payload = item_table(catalogue).drop("key").rows(named=True)
    _upload(client, settings.name, catalogue.items, payload, metric=catalogue.metric)
    if settings.users:
        payload = [{"id": user} for user in catalogue.users.ids.values.tolist()]
        _upload(client, settings.users_name, catalogue.users, payload, metric="ip")  # kept as they are, not normalised


def _upload(client: Any, name: str, side: Side, payload: list[Mapping[str, Any]], *, metric: str) -> None:
    from qdrant_client.models import Distance, VectorParams

    distance = {"ip": Distance.DOT, "cosine": Distance.COSINE}[metric]
    client.create_collection(name, vectors_config=VectorParams(size=side.vectors.shape[1], distance=distance))
    ids = [point_id(item) for item in side.ids.values.tolist()]
    client.upload_collection(name, vectors=side.vectors, payload=payload, ids=ids, wait=True)
