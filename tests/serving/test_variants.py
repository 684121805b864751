"""Who gets which model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pydantic", reason="needs the extra [serve]")

from taylorank.errors import ParameterError
from taylorank.serving.settings import models_by_name, split_weights
from taylorank.serving.variants import share_of, variant_of


def test_shares_are_those_of_every_server_forever():
    """Worked out once: a change would deal all users of all running experiments anew."""
    assert [round(share_of(user), 6) for user in (0, 17, "17", "")] == [0.787022, 0.650098, 0.483112, 0.744309]


def test_users_are_dealt_by_weight():
    weights = {"a": 70.0, "b": 0.0, "c": 30.0}
    dealt = [variant_of(user, weights) for user in range(4000)]
    assert dealt.count("b") == 0
    assert dealt.count("a") / 4000 == pytest.approx(0.7, abs=0.03)


def test_a_larger_share_keeps_the_users_it_had():
    few = {user for user in range(2000) if variant_of(user, {"new": 10.0, "old": 90.0}) == "new"}
    many = {user for user in range(2000) if variant_of(user, {"new": 40.0, "old": 60.0}) == "new"}
    assert few < many


def test_another_experiment_deals_anew():
    dealt = [(variant_of(u, {"a": 1, "b": 1}, "one"), variant_of(u, {"a": 1, "b": 1}, "two")) for u in range(2000)]
    assert dealt.count(("a", "b")) / 2000 == pytest.approx(0.25, abs=0.04)


@given(st.one_of(st.integers(), st.text()), st.lists(st.floats(0, 1e9), min_size=1, max_size=4))
def test_everybody_gets_a_model_that_has_a_share(user, weights):
    named = {str(place): weight for place, weight in enumerate([*weights, 1.0])}
    assert named[variant_of(user, named)] > 0


def test_the_split_holds_over_http(serve):
    client = serve("rg2", "ials", weights={"rg2": 1.0, "ials": 1.0})
    answers = [client.recommend({"user": user, "n": 1}).json for user in range(60)]
    assert {answer["variant"] for answer in answers} == {"rg2", "ials"}
    assert all(answer["variant"] == answer["model"] for answer in answers)
    assert answers == [
        {**client.recommend({"user": user, "n": 1}).json, "took_ms": a["took_ms"]} for user, a in enumerate(answers)
    ]
    new = client.recommend({"user": "a new one", "history": [{"item": 3}]}).json
    assert new["variant"] == variant_of("a new one", {"rg2": 1.0, "ials": 1.0})
    assert client.recommend({"history": [{"item": 3}]}).json["variant"] == "rg2"
    assert [one["weight"] for one in client.get("/v1/models").json["models"]] == [0.5, 0.5]


@pytest.mark.parametrize("text", ["c=1", "a", "a=x", "a=-1", "a=inf", "a=0,b=0", ""])
def test_a_split_that_cannot_be_is_refused(text):
    with pytest.raises(ParameterError, match="--split"):
        split_weights(text, ["a", "b"])


@pytest.mark.parametrize("given", [["a=1.tr", "a=2.tr"], ["x/m.tr", "y/m.tr"], ["=a.tr"], ["a="]])
def test_models_need_names_of_their_own(given):
    with pytest.raises(ParameterError, match="name"):
        models_by_name(given)
