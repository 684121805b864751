"""The other routes: similar items, users, models, the map, health, metrics, the description."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from talking import value_of

import taylorank as tr


@pytest.mark.parametrize("name", ["rg2", "ials", "ease", "knn"])
def test_similar_items_are_those_of_the_library(everything, models, name):
    answer = everything.get(f"/v1/items/7/similar?n=4&model={name}").json
    ids, scores = models[name].similar_items([7], 4)
    assert [item["id"] for item in answer["items"]] == ids[0].tolist()
    np.testing.assert_allclose([item["score"] for item in answer["items"]], scores[0], rtol=1e-6)
    assert (answer["item"], answer["title"]) == (7, "Café number 7")


def test_a_user_has_the_history_of_the_training_data(everything, data):
    answer = everything.get("/v1/users/5").json
    assert answer["user"] == 5
    assert [past["item"] for past in answer["history"]] == data.items_of(5).tolist()
    assert answer["history"][0]["strength"] == 1.0


@pytest.mark.parametrize(
    "target", ["/v1/items/nothing/similar", "/v1/users/1_0", "/v1/users/%C2%B2", "/v1/items?model=x", "/v1/other"]
)
def test_what_is_unknown_is_not_found(everything, target):
    reply = everything.get(target)
    assert reply.status == 404
    assert reply.json["error"]
    assert reply.json["remedy"]


def test_a_model_that_has_no_similar_items_says_so(everything):
    reply = everything.get("/v1/items/7/similar?model=popularity")
    assert reply.status == 422
    assert "no vectors" in reply.json["error"]


def test_models_say_what_they_are(everything, models, data):
    found = {one["name"]: one for one in everything.get("/v1/models").json["models"]}
    assert found.keys() == models.keys()
    rg2 = found["rg2"]
    assert (rg2["kind"], rg2["factors"], rg2["users"], rg2["items"]) == ("RG2", 12, data.n_users, data.n_items)
    assert (rg2["path"], rg2["weight"], rg2["discount"]) == (None, 1.0, 0.1)
    assert rg2["columns"] == ["title", "year", "genre", "price", "in_stock"]
    assert rg2["column_kinds"]["in_stock"] == "flag"
    assert found["popularity"]["folds_in"]  # everybody gets the same list


@pytest.mark.parametrize("name", ["rg2", "ease"])
def test_the_map_has_every_item_once_and_is_sent_packed(everything, data, name):
    reply = everything.get(f"/v1/map?model={name}", headers=[(b"accept-encoding", b"gzip")])
    assert reply.headers["content-encoding"] == "gzip"
    assert gzip.decompress(reply.body) == everything.get(f"/v1/map?model={name}").body
    found = everything.get(f"/v1/map?model={name}").json
    assert sorted(found["ids"]) == data.item_ids[data.item_popularity > 0].tolist()
    assert found["popularity"] == sorted(found["popularity"], reverse=True)
    assert found["titles"][0] == f"Café number {found['ids'][0]}"
    plane = np.array([found["x"], found["y"]])
    assert np.hypot(*plane).max() < 1
    assert (plane.std(axis=1) > 0.05).all()


def test_the_map_of_an_svd_has_its_first_two_axes(serve, tmp_path, data):
    from taylorank.serving.item_map import squashed

    model = tr.RG2(6, regularization=0.0, proposal_exponent=1.0, context_exponent=1.0, tolerance=1e-6).fit(data)
    model.save(tmp_path / "ca.tr")
    found = serve(models={"ca": tmp_path / "ca.tr"}, weights={"ca": 1.0}).get("/v1/map").json
    order = [data.items.positions([item])[0] for item in found["ids"]]
    axes = squashed(model.item_factors[:, :2].astype(np.float64))[order]
    for mine, its in ((found["x"], axes[:, 0]), (found["y"], axes[:, 1])):
        assert abs(np.corrcoef(mine, its)[0, 1]) > 0.999


def test_health_names_the_models(everything, models):
    assert everything.get("/health/live").json["status"] == "live"
    ready = everything.get("/health/ready").json
    assert ready["status"] == "ready"
    assert ready["models"]["rg2"]["version"] == models["rg2"].data_fingerprint
    assert ready["refused"] == {}


def test_metrics_count_requests_by_route_model_and_status(serve):
    client = serve("rg2", "ials")
    for body in ({"user": 1}, {"user": 2, "model": "ials"}, {"user": 3, "model": "ials"}, {"user": "x"}):
        client.recommend(body)
    client.get("/v1/items?q=1")
    client.get("/nowhere")
    count = 'taylorank_request_seconds_count{{model="{}",route="{}"}}'
    assert value_of(client, count.format("ials", "/v1/recommend")) == 2
    assert value_of(client, count.format("rg2", "/v1/recommend")) == 1
    assert value_of(client, count.format("rg2", "/v1/items")) == 1
    assert value_of(client, 'taylorank_requests_total{route="/v1/recommend",status="404"}') == 1
    assert value_of(client, 'taylorank_requests_total{route="other",status="404"}') == 1
    assert value_of(client, "taylorank_in_flight") == 1  # the one that asks
    assert value_of(client, "taylorank_batch_size_count") == 3


def references(value):
    if isinstance(value, dict):
        return {one for key, part in value.items() for one in ({part} if key == "$ref" else references(part))}
    return {one for part in value for one in references(part)} if isinstance(value, list) else set()


def test_the_description_is_whole_and_its_examples_are_requests(everything):
    from taylorank.serving.schema import ONE

    document = everything.get("/openapi.json").json
    named = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert references(document) <= named
    assert {"/v1/recommend", "/v1/items", "/v1/map", "/v1/models", "/health/ready"} <= document["paths"].keys()
    examples = document["paths"]["/v1/recommend"]["post"]["requestBody"]["content"]["application/json"]["examples"]
    assert len(examples) >= 3
    for example in examples.values():
        assert ONE.validate_python(example["value"]).n >= 1


def test_the_page_is_there(everything):
    reply = everything.get("/")
    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/html")
