"""Lists over HTTP are those of the library."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr

HISTORY = [{"item": 3}, {"item": 40, "strength": 2.5}, {"item": 77}]


def listed(reply):
    assert reply.status == 200, reply.body
    return [item["id"] for item in reply.json["items"]], [item["score"] for item in reply.json["items"]]


def same(reply, expected):
    ids, scores = listed(reply)
    wanted = ~np.isnan(expected[1][0])
    assert ids == expected[0][0][wanted].tolist()
    np.testing.assert_allclose(scores, expected[1][0][wanted], rtol=2e-5)


def history_data(history=HISTORY):
    items = [one["item"] for one in history]
    strengths = [one.get("strength", 1.0) for one in history]
    return tr.Interactions.from_arrays([0] * len(items), items, strengths=strengths)


@pytest.mark.parametrize("name", ["rg2", "ials", "ease", "knn", "popularity"])
def test_a_known_user_gets_the_list_of_the_library(everything, models, name):
    same(everything.recommend({"user": 5, "n": 7, "model": name}), models[name].recommend([5], 7))


@pytest.mark.parametrize("name", ["rg2", "ials", "ease", "knn"])
def test_a_history_is_folded_in_exactly(everything, models, name):
    expected = models[name].fold_in(history_data()).recommend([0], 9)
    same(everything.recommend({"history": HISTORY, "n": 9, "model": name}), expected)


def test_a_history_can_be_given_in_any_order_and_repeats_count_once(everything, models):
    history = [{"item": 77, "strength": 9}, *reversed(HISTORY)]
    expected = models["rg2"].fold_in(history_data()).recommend([0], 10)
    same(everything.recommend({"history": history}), expected)


def test_items_of_a_history_that_are_unknown_are_named_and_ignored(everything):
    reply = everything.recommend({"history": [*HISTORY, {"item": 10**6}, {"item": "3"}]})
    assert reply.json["ignored"] == [10**6, "3"]
    assert listed(reply) == listed(everything.recommend({"history": HISTORY}))


def test_a_history_without_a_known_item_is_refused(everything):
    reply = everything.recommend({"history": [{"item": "3"}]})
    assert reply.status == 404
    assert "unknown item '3'" in reply.json["error"]
    assert "integers" in reply.json["remedy"]


@pytest.mark.parametrize("name", ["rg2", "ease"])
def test_without_history_the_popular_items_come(everything, models, data, name):
    ids, _ = listed(everything.recommend({"history": [], "n": 5, "model": name}))
    if name == "ease":
        assert ids == tr.Popularity().fit(data).ranker.items.take(np.argsort(-data.item_popularity)[:5]).tolist()
    else:  # the model discounts popularity, and so do its cold lists over HTTP as in the library
        assert ids == models[name].recommend(["nobody"], 5, cold="popularity")[0][0].tolist()


def test_masks_hold(everything, models, data):
    seen = data.items_of(5).tolist()
    best = models["rg2"].recommend([5], 3)[0][0].tolist()
    same(everything.recommend({"user": 5, "exclude": best}), models["rg2"].recommend([5], 10, exclude=best))
    some = [*best, *seen[:2], 50, 51]
    same(everything.recommend({"user": 5, "items": some}), models["rg2"].recommend([5], 10, items=some))
    none_seen = data.select(np.zeros(data.nnz, dtype=bool), "none")
    expected = models["rg2"].recommend([5], 10, seen=none_seen)
    same(everything.recommend({"user": 5, "seen": "include"}), expected)


def test_a_list_is_as_long_as_there_are_items(everything, data):
    ids, _ = listed(everything.recommend({"user": 5, "n": 10_000}))
    assert len(ids) == len(set(ids)) == data.n_items - len(data.items_of(5))


@pytest.mark.parametrize("discount", [0.0, 0.1, 0.4])
def test_a_discount_is_that_of_the_model_fitted_with_it(everything, data, discount):
    twin = tr.RG2(12, popularity_discount=discount).fit(data)
    same(everything.recommend({"user": 9, "discount": discount}), twin.recommend([9]))
    expected = twin.fold_in(history_data()).recommend([0])
    same(everything.recommend({"history": HISTORY, "discount": discount}), expected)


def test_a_discount_divides_the_scores_of_any_model(everything, models, data):
    scores = models["ease"].scores(np.array([9]))[0] / np.maximum(data.item_popularity, 1) ** 0.5
    scores[data.by_user.indices[data.by_user.indptr[9] : data.by_user.indptr[10]]] = -np.inf
    order = np.argsort(-scores, kind="stable")[:10]
    ids, given = listed(everything.recommend({"user": 9, "discount": 0.5, "model": "ease"}))
    assert ids == data.item_ids[order].tolist()
    np.testing.assert_allclose(given, scores[order], rtol=1e-5)


@pytest.mark.parametrize("name", ["rg2", "ials", "ease"])
@pytest.mark.parametrize("who", [{"user": 5}, {"history": HISTORY}])
def test_reasons_are_shares_of_what_the_history_adds(everything, models, name, who):
    reply = everything.recommend({**who, "model": name, "explain": True, "n": 3, "discount": 0.3})
    model = models[name] if "user" in who else models[name].fold_in(history_data())
    user = who.get("user", 0)
    for item in reply.json["items"]:
        whole = model.explain(user, item["id"], n=None)
        positive = np.maximum(whole.contributions, 0)
        expected = dict(zip(whole.items.tolist(), (positive / positive.sum()).tolist(), strict=True))
        shares = [reason["share"] for reason in item["reasons"]]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) <= 1 + 1e-9
        assert max(shares) == pytest.approx(max(expected.values()), rel=1e-5)
        for reason in item["reasons"]:
            assert reason["share"] == pytest.approx(expected[reason["id"]], rel=1e-5)
            assert reason["title"] == f"Café number {reason['id']}"


def test_a_batch_is_answered_in_its_order(everything):
    bodies = [{"user": 5}, {"history": HISTORY, "n": 3}, {"user": 6, "model": "ease", "explain": True}]
    replies = everything.recommend(bodies).json
    for body, reply in zip(bodies, replies, strict=True):
        assert reply["items"] == everything.recommend(body).json["items"]
    assert everything.recommend([]).json == []


def test_what_is_wrong_in_a_batch_is_named_by_its_place(everything):
    reply = everything.recommend([{"user": 5}, {"user": "nobody"}])
    assert reply.status == 404
    assert reply.json["error"].startswith("request 1: unknown user 'nobody'")


def test_an_answer_says_what_made_it(everything, models):
    answer = everything.recommend({"user": 5}).json
    assert (answer["model"], answer["variant"]) == ("rg2", "rg2")
    assert answer["version"] == models["rg2"].data_fingerprint
    assert answer["took_ms"] > 0
    assert answer["items"][0]["title"] == f"Café number {answer['items'][0]['id']}"
    assert everything.recommend({"user": 5, "model": "ials"}).json["variant"] is None


def test_ids_of_text_stay_text(tmp_path, serve):
    model = tr.RG2(2).fit(tr.Interactions.from_arrays(["07", "07", "b", "c", "c"], ["1", "x/y", "1", "x/y", "ß"]))
    model.save(tmp_path / "text.tr")
    client = serve(models={"text": tmp_path / "text.tr"}, weights={"text": 1.0})
    assert client.recommend({"user": "07"}).json["items"][0]["id"] == "ß"
    assert client.recommend({"user": 7}).status == 404
    assert client.get("/v1/users/07").json["history"][0] == {"item": "1", "title": "1", "strength": 1.0}
    assert client.get("/v1/items/x/y/similar").json["item"] == "x/y"


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 422, "neither user nor history"),
        ({"user": 10**9}, 404, "unknown user 1000000000"),
        ({"user": "5"}, 404, "unknown user '5'"),
        ({"user": 5, "items": [1, "no"]}, 404, "unknown item 'no'"),
        ({"user": 5, "model": "other"}, 404, "no model 'other'"),
        ({"user": 5, "n": 101, "explain": True}, 422, "too many to explain"),
        ([{"user": 5, "n": 1_000}] * 101, 422, "more than 100,000 items"),
        ({"user": 5, "rank": 3}, 422, "has no path"),
        ({"user": 5, "regularization": 0.3}, 422, "has no path"),
        ({"user": 5, "n": 0}, 422, "n:"),
        ({"user": 5, "n": 10_001}, 422, "n:"),
        ({"user": 5, "surprise": 1}, 422, "surprise:"),
        ({"user": 5, "discount": "much"}, 422, "discount:"),
        ({"user": True}, 422, "user"),
        ({"history": [{"item": 3, "strength": -1}]}, 422, "strength"),
        ({"history": [{"item": 3, "strength": 0}]}, 422, "strength"),
        ({"history": [{"item": 3, "weight": 1}]}, 422, "weight"),
        (b'{"history": [{"item": 3, "strength": NaN}]}', 422, "strength"),
        (b'{"history": [{"item": 3, "strength": Infinity}]}', 422, "strength"),
        (b"", 400, "not JSON"),
        (b"{", 400, "not JSON"),
        (b"\xff", 400, "not JSON"),
        (b"5", 422, "the body"),
    ],
)
def test_a_bad_request_gets_cause_and_remedy(everything, body, status, words):
    reply = everything.recommend(body)
    assert reply.status == status, reply.body
    assert words in reply.json["error"]
    assert reply.json["remedy"]
    assert reply.json.keys() == {"error", "remedy"}


def test_a_history_of_a_hundred_thousand_items_is_answered(everything, models, data):
    history = [{"item": int(item)} for item in np.resize(data.item_ids[:60], 100_000)]
    expected = models["rg2"].fold_in(history_data(history[:60])).recommend([0])
    same(everything.recommend({"history": history, "explain": True}), expected)
    assert everything.recommend({"history": [*history, {"item": 1}]}).status == 422
