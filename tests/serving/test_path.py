"""`rank` and `regularization` of a request: the same lists as those of the model at that place of the path."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr

POINTS = [(12, 0.2), (5, 0.1), (1, 0.0), (12, 0.5), (7, 0.95)]
HISTORY = tr.Interactions.from_arrays([0, 0, 0], [3, 40, 77], strengths=[1, 2.5, 1])
ASKED = [{"item": 3}, {"item": 40, "strength": 2.5}, {"item": 77}]


@pytest.fixture(
    params=[{}, {"score_penalty": 0.5}, {"ranking": "lift"}, {"popularity_discount": 0.2}], ids=str, scope="module"
)
def fitted(request, data):
    return tr.RG2(12, regularization=0.2, **request.param).fit(data)


@pytest.fixture
def client(serve, fitted, monkeypatch):
    """A server of the model as it was fitted, with its path."""
    monkeypatch.setattr("taylorank.serving.shelf.load", lambda path: fitted)
    return serve("rg2")


def same(reply, expected):
    assert reply.status == 200, reply.body
    assert [item["id"] for item in reply.json["items"]] == expected[0][0].tolist()
    np.testing.assert_allclose([item["score"] for item in reply.json["items"]], expected[1][0], rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("point", POINTS)
def test_lists_are_those_of_the_model_at_that_place(client, fitted, point):
    rank, share = point
    twin = next(iter(fitted.path([rank], [share])))
    asked = {"rank": rank, "regularization": share, "n": 15}
    same(client.recommend({"user": 5, **asked}), twin.recommend([5], 15))
    same(client.recommend({"history": ASKED, **asked}), twin.fold_in(HISTORY).recommend([0], 15))


def test_one_of_the_two_is_enough(client, fitted):
    same(client.recommend({"user": 5, "rank": 4}), next(iter(fitted.path([4], [0.2]))).recommend([5]))
    same(client.recommend({"user": 5, "regularization": 0.4}), next(iter(fitted.path([12], [0.4]))).recommend([5]))


def test_reasons_are_those_of_the_model_at_that_place(client, fitted):
    twin = next(iter(fitted.path([5], [0.1]))).fold_in(HISTORY)
    asked = {"history": ASKED, "rank": 5, "regularization": 0.1, "explain": True, "n": 4}
    for item in client.recommend(asked).json["items"]:
        whole = twin.explain(0, item["id"], n=None)
        positive = np.maximum(whole.contributions, 0)
        expected = dict(zip(whole.items.tolist(), (positive / positive.sum()).tolist(), strict=True))
        assert item["reasons"]
        for reason in item["reasons"]:
            assert reason["share"] == pytest.approx(expected[reason["id"]], rel=1e-4)


def test_different_places_share_a_pass(client):
    asked = [{"user": 5, "rank": rank, "regularization": share} for rank, share in POINTS]
    alone = [client.recommend(body).json["items"] for body in asked]
    before = client.app.batcher.metrics.batch._sum.get()
    assert [reply.json["items"] for reply in client.together(asked)] == alone
    assert client.app.batcher.metrics.batch._sum.get() - before == len(asked)


def test_the_models_route_says_what_can_be_chosen(client):
    facts = client.get("/v1/models").json["models"][0]
    assert facts["path"]["max_rank"] == facts["rank"] == 12
    assert facts["regularization"] == 0.2


@pytest.mark.parametrize("asked", [{"rank": 13}, {"rank": 0}, {"regularization": 1.0}, {"regularization": -0.1}])
def test_what_was_not_fitted_is_refused(client, asked):
    assert client.recommend({"user": 5, **asked}).status == 422


def test_the_plain_penalty_and_als_have_no_path(data, serve, monkeypatch):
    for model in (tr.RG2(4, solver="als"), tr.RG2.literal(4)):
        monkeypatch.setattr("taylorank.serving.shelf.load", lambda path, model=model: model.fit(data))
        client = serve("rg2")
        assert client.get("/v1/models").json["models"][0]["path"] is None
        assert "has no path" in client.recommend({"user": 5, "rank": 2}).json["error"]
