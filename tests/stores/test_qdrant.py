"""Qdrant by its client's local mode: folders, clients, ids, payloads."""

from __future__ import annotations

import os

import pytest

from taylorank.errors import DataError

qdrant = pytest.importorskip("qdrant_client")


def best(client, user, k=10):
    """The ids of the k best items, asked as the documentation does."""
    from taylorank.stores.qdrant_collections import point_id

    (point,) = client.retrieve("items_users", [point_id(user)], with_vectors=True)
    return [found.payload["id"] for found in client.query_points("items", query=point.vector, limit=k).points]


@pytest.mark.parametrize("which", ["model", "text_model", "negative_model"])
def test_a_folder_is_opened_by_the_client(which, scored, request, tmp_path):
    fitted = request.getfixturevalue(which)
    found = fitted.export("qdrant", tmp_path / "shop", sample=30)
    assert found.measured.recall > 0.99
    assert found.index == "exact"
    assert found.bytes == (tmp_path / "shop" / "collection" / "items" / "storage.sqlite").stat().st_size
    client = qdrant.QdrantClient(path=str(tmp_path / "shop"))
    for user in fitted.users.values.tolist()[3:6]:
        scored(fitted, user, best(client, user))
    client.close()
    assert os.listdir(tmp_path) == ["shop"]


def test_whole_numbers_are_the_ids_of_points(model, tmp_path):
    client = qdrant.QdrantClient(":memory:")
    found = model.export("qdrant", client, metadata=_titles(), sample=10)
    assert (found.bytes, found.target) == (None, "a client of yours")
    (point,) = client.retrieve("items", [11])
    assert point.payload == {"id": 11, "popularity": model.item_popularity[11], "title": "eleven"}
    assert client.count("items").count == 110
    assert client.count("items_users").count == 290


def _titles():
    import polars as pl

    return pl.DataFrame({"id": [11], "title": ["eleven"]})


def test_cosines_have_the_same_order(model):
    client = qdrant.QdrantClient(":memory:")
    assert model.export("qdrant", client, metric="cosine", sample=30).measured.recall > 0.95
    distance = client.get_collection("items").config.params.vectors.distance
    assert distance == qdrant.models.Distance.COSINE


def test_what_is_there_stays_unless_told_otherwise(model, text_model, tmp_path):
    client = qdrant.QdrantClient(":memory:")
    model.export("qdrant", client, sample=0)
    with pytest.raises(DataError, match="there is a collection 'items' already"):
        text_model.export("qdrant", client)
    assert client.count("items").count == 110
    text_model.export("qdrant", client, overwrite=True, sample=0)
    assert client.count("items").count == len(text_model.items)
    text_model.export("qdrant", client, name="other", users=False, sample=0)
    assert not client.collection_exists("other_users")


def test_no_server_is_one_line(model):
    with pytest.raises(
        DataError, match=r"Qdrant at http://127\.0\.0\.1:9 does not answer .*; check the address"
    ) as caught:
        model.export("qdrant", "http://127.0.0.1:9")
    assert "\n" not in str(caught.value)
