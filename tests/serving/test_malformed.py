"""Thousands of requests made of the server's own description, right and wrong: none breaks it."""

from __future__ import annotations

import json
import os

import pytest
from from_schema import Values
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

LARGER = int(os.environ.get("TAYLORANK_TEST_TIMES", "1"))  # how many times as many requests as in an ordinary run
QUIETLY = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]


def examples(count):
    return settings(max_examples=count * LARGER, suppress_health_check=QUIETLY)


STATUSES = {200, 400, 404, 413, 422}


def checked(reply):
    assert reply.status in STATUSES, (reply.status, reply.body)
    document = json.loads(reply.body)
    if reply.status != 200:
        assert document.keys() == {"error", "remedy"}
        assert document["error"]
        assert "Traceback" not in document["error"]
        assert len(reply.body) < 5_000
    return reply.status


@pytest.fixture(scope="module")
def document(everything):
    return everything.get("/openapi.json").json


def test_bodies_by_the_description(everything, document):
    content = document["paths"]["/v1/recommend"]["post"]["requestBody"]["content"]["application/json"]
    seen = set()

    @examples(800)
    @given(Values(document).of(content["schema"]))
    def ask(body):
        text = json.dumps(body, ensure_ascii=True).encode()
        seen.add(checked(everything.recommend(text)))

    ask()
    assert {200, 404, 422} <= seen


@examples(1000)
@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass"))))
def test_bodies_of_any_bytes(everything, body):
    checked(everything.recommend(body))


@examples(1000)
@given(st.data())
def test_a_right_body_with_a_byte_changed(everything, data):
    body = bytearray(b'{"history": [{"item": 3, "strength": 1.5}], "n": 5, "filters": {"year": {">": 1990}}}')
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    checked(everything.recommend(bytes(body)))


GETS = ["/v1/items", "/v1/items/{id}/similar", "/v1/users/{id}", "/v1/map", "/v1/models"]


@examples(400)
@given(
    st.sampled_from(GETS),
    st.one_of(st.integers(-3, 400).map(str), st.text(max_size=12)),
    st.dictionaries(st.sampled_from(["q", "n", "model", "x"]), st.text(max_size=12), max_size=3),
)
def test_other_routes_with_any_text(everything, route, id_, query):
    from urllib.parse import urlencode

    target = route.replace("{id}", id_.replace("?", ""))
    reply = everything.get(f"{target}?{urlencode({k: v.encode('utf-8', 'replace') for k, v in query.items()})}")
    checked(reply)


@pytest.mark.parametrize("depth", [100, 100_000])
def test_brackets_without_end(everything, depth):
    assert checked(everything.recommend(b"[" * depth)) in (400, 422)
    assert checked(everything.recommend(b'{"filters":' * depth)) in (400, 422)


def test_half_of_a_character_is_no_text(everything):
    assert checked(everything.recommend(b'{"user": "\\ud800"}')) in (400, 404, 422)
    assert checked(everything.recommend(b'{"history": [{"item": 3}, {"item": "\\ud800"}]}')) in (200, 400)


@pytest.mark.parametrize("model", ["rg2", "ease", "popularity"])
@pytest.mark.parametrize("number", [2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**400])
def test_ids_beyond_64_bits_are_unknown_ids(everything, number, model):
    for path in (f"/v1/users/{number}?model={model}", f"/v1/items/{number}/similar?model={model}"):
        assert checked(everything.get(path)) in (404, 422)
    bodies = [{"user": number}, {"history": [number]}, {"user": 5, "items": [number]}, {"user": 5, "exclude": [number]}]
    for body in [*bodies, {"history": [{"item": number}, {"item": 3}]}]:
        checked(everything.recommend(json.dumps({**body, "model": model}).encode()))
