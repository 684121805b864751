"""Who may ask, how much, and what no answer shows."""

from __future__ import annotations

import asyncio
import json

import pytest

KEY = "s3cret-key"


def test_the_api_key_is_asked_for(serve):
    client = serve("rg2", api_key=KEY)
    for headers in (
        [],
        [(b"authorization", b"Bearer wrong")],
        [(b"x-api-key", b"")],
        [(b"authorization", b"s3cret-key")],
    ):
        for reply in (client.recommend({"user": 1}, headers=headers), client.get("/v1/models", headers=headers)):
            assert reply.status == 401
            assert reply.headers["www-authenticate"] == "Bearer"
            assert KEY not in reply.body.decode()
    assert client.get("/metrics").status == client.get("/openapi.json").status == 401
    for headers in ([(b"authorization", f"Bearer {KEY}".encode())], [(b"x-api-key", KEY.encode())]):
        assert client.recommend({"user": 1}, headers=headers).status == 200
        assert client.get("/metrics", headers=headers).status == 200
    assert client.get("/health/ready").status == client.get("/").status == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [(b"localhost:8000", 200), (b"LOCALHOST", 200), (b"evil.example", 400), (b"", 400), (b"[::1]:80", 400)],
)
def test_only_its_own_names_are_answered(serve, host, status):
    assert serve("rg2").recommend({"user": 1}, headers=[(b"host", host)]).status == status


def test_an_address_of_version_6_is_a_name_too(serve):
    client = serve("rg2", allowed_hosts=("[::1]",))
    assert client.recommend({"user": 1}, headers=[(b"host", b"[::1]:8000")]).status == 200
    assert client.recommend({"user": 1}, headers=[(b"host", b"[::1]")]).status == 200


def test_bodies_have_a_limit_whether_it_is_stated_or_not(serve):
    client = serve("rg2", max_body=2_000)
    long = json.dumps({"user": 1, "exclude": [5] * 1_000}).encode()
    assert client.recommend(long).status == 413
    assert client.recommend(long, headers=[(b"content-length", str(len(long)).encode())]).status == 413
    assert client.recommend(b"", headers=[(b"content-length", b"x")]).status == 413
    chunks = [long[start : start + 500] for start in range(0, len(long), 500)]
    assert client.recommend(b"", chunks=chunks).status == 413
    assert client.recommend(b"", chunks=[b'{"us', b'er": 1', b"}"]).status == 200


def test_a_body_that_does_not_arrive_is_not_waited_for(serve):
    client = serve("rg2", timeout=0.05)
    reply = client.recommend(b"", messages=[{"type": "http.request", "body": b'{"user"', "more_body": True}])
    assert reply.status == 408
    assert reply.headers["connection"] == "close"


def test_a_client_that_hangs_up_leaves_nothing_behind(serve):
    client = serve("rg2")
    begun = {"type": "http.request", "body": b'{"user"', "more_body": True}
    assert client.recommend(b"", messages=[begun, {"type": "http.disconnect"}]).status == 0
    assert client.app.app.in_flight == 0
    assert client.recommend({"user": 1}).status == 200


def test_more_than_it_can_do_is_refused(serve):
    client = serve("rg2", max_in_flight=2)
    statuses = sorted(reply.status for reply in client.together([{"user": 1}] * 5))
    assert statuses == [200, 200, 503, 503, 503]
    assert client.recommend({"user": 1}).status == 200
    client.app.app.in_flight = 2
    assert client.get("/v1/models").status == 503
    assert client.get("/health/live").status == client.get("/metrics").status == 200  # busy is not dead


def test_no_answer_names_another_user(serve):
    client = serve("rg2")
    for reply in (client.recommend({"user": "x"}), client.get("/v1/users/x"), client.recommend({"user": 10**6})):
        assert reply.status == 404
        assert "such as" not in reply.json["remedy"]


def test_a_batch_has_a_limit(serve):
    client = serve("rg2")
    assert client.recommend([{"user": 1}] * 1_000).status == 200
    assert client.recommend([{"user": 1}] * 1_001).status == 422


def test_every_answer_has_the_headers_of_a_careful_server(serve):
    client = serve("rg2")
    for reply in (client.recommend({"user": 1}), client.recommend(b"x"), client.get("/v1/models"), client.get("/no")):
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'self'" in reply.headers["content-security-policy"]
        assert "access-control-allow-origin" not in reply.headers
        assert "server" not in reply.headers


def test_other_pages_may_ask_only_if_they_were_named(serve):
    origin = [(b"origin", b"https://shop.example")]
    client = serve("rg2", cors_origins=("https://shop.example",))
    assert (
        client.recommend({"user": 1}, headers=origin).headers["access-control-allow-origin"] == "https://shop.example"
    )
    other = client.recommend({"user": 1}, headers=[(b"origin", b"https://evil.example")])
    assert "access-control-allow-origin" not in other.headers
    asked = [*origin, (b"access-control-request-method", b"POST")]
    assert client.send("OPTIONS", "/v1/recommend", headers=asked).status == 200


@pytest.mark.parametrize("target", ["/v1/recommend", "/v1/models"])
def test_a_fault_is_logged_and_not_shown(serve, monkeypatch, caplog, target):
    client = serve("rg2")

    def broken(*_):
        raise RuntimeError("/secret/path/model.tr")

    monkeypatch.setattr("taylorank.serving.recommending.query_of", broken)
    monkeypatch.setattr("taylorank.serving.lookups._facts", broken)
    reply = client.recommend({"user": 1}) if "recommend" in target else client.get(target)
    assert reply.status == 500
    assert reply.json == {"error": "something went wrong here", "remedy": "look into the log of the server"}
    assert "/secret/path" in caplog.text


def test_a_websocket_is_not_answered(serve):
    app = serve("rg2").app
    sent = []

    async def ask():
        await app({"type": "websocket", "path": "/", "headers": []}, None, sent.append)

    asyncio.run(ask())
    assert sent == []


def test_wrong_methods_are_refused(serve):
    assert serve("rg2").send("DELETE", "/v1/models").status == 405
