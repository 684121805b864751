"""Requests at the same time are ranked together, and get what each would get alone."""

from __future__ import annotations

import numpy as np
import pytest
from talking import value_of


def bodies(count, rng):
    kinds = [
        lambda: {"user": int(rng.integers(300)), "n": int(rng.integers(1, 30))},
        lambda: {"history": [{"item": int(i)} for i in rng.choice(120, 5, replace=False)]},
        lambda: {"history": []},
        lambda: {"user": int(rng.integers(300)), "exclude": rng.choice(120, 9).tolist(), "discount": 0.2},
        lambda: {"user": int(rng.integers(300)), "filters": {"genre": "a"}},
        lambda: {"user": int(rng.integers(300)), "items": [1, 2, 3, 50], "model": "ease"},
        lambda: {"user": int(rng.integers(300)), "explain": True, "n": 3},
        lambda: {"user": "nobody"},
    ]
    return [kinds[number % len(kinds)]() for number in range(count)]


def what(reply):
    return reply.status, reply.json.get("items", reply.json.get("error"))


def test_company_changes_nothing(everything):
    asked = bodies(96, np.random.default_rng(0))
    alone = [what(everything.recommend(body)) for body in asked]
    assert {status for status, _ in alone} == {200, 404}
    assert [what(reply) for reply in everything.together(asked)] == alone


def test_requests_at_one_time_share_a_pass(serve):
    client = serve("rg2")
    client.recommend({"user": 0})
    before = value_of(client, "taylorank_batch_size_count")
    replies = client.together([{"user": user} for user in range(64)])
    assert {reply.status for reply in replies} == {200}
    assert value_of(client, "taylorank_batch_size_count") - before == 2  # 32 and 32


def test_a_slow_model_is_ranked_beside_the_event_loop(serve, monkeypatch):
    import threading

    from taylorank.serving import batcher

    monkeypatch.setattr(batcher, "INLINE_SECONDS", 0.0)
    seen = []
    plain = batcher.best_of
    monkeypatch.setattr(
        batcher, "best_of", lambda *a, **k: (seen.append(threading.current_thread().name), plain(*a, **k))[1]
    )
    client = serve("rg2")
    replies = client.together([{"user": user} for user in range(50)])
    assert {reply.status for reply in replies} == {200}
    assert all(name.startswith("rank") for name in seen)


def test_one_that_waits_too_long_is_told_so(serve):
    client = serve("rg2")
    client.app.batcher.timeout = -1.0
    reply = client.recommend({"user": 1})
    assert reply.status == 503
    assert reply.headers["retry-after"] == "1"
    client.app.batcher.timeout = 10.0
    assert client.recommend({"user": 1}).status == 200


def test_the_queue_has_an_end(serve, monkeypatch):
    from taylorank.serving import batcher

    monkeypatch.setattr(batcher, "MOST_WAITING", 10)
    client = serve("rg2")
    assert client.recommend([{"user": 1}] * 11).status == 503
    assert client.recommend([{"user": 1}] * 10).status == 200


def test_a_fault_of_one_group_is_not_that_of_another(serve, monkeypatch):
    from taylorank.serving import batcher

    plain = batcher.best_of

    def breaks_with_discount(queries, **options):
        if queries[0].discount is not None:
            raise RuntimeError("no")
        return plain(queries, **options)

    monkeypatch.setattr(batcher, "best_of", breaks_with_discount)
    client = serve("rg2")
    replies = client.together([{"user": 1}, {"user": 1, "discount": 0.5}, {"user": 2}])
    assert [reply.status for reply in replies] == [200, 500, 200]


@pytest.mark.parametrize("explain", [False, True])
def test_a_client_that_is_gone_is_not_ranked_for(serve, explain):
    import asyncio

    from taylorank.serving.query import query_of
    from taylorank.serving.schema import Ask

    client = serve("rg2")
    served = client.app.shelf.models["rg2"]

    async def leave():
        answer = client.app.batcher.submit(query_of(Ask(user=1, explain=explain), served))
        answer.cancel()
        await asyncio.sleep(0.05)

    client.runner.run(leave())
    assert client.app.batcher.light == client.app.batcher.heavy == []
    assert value_of(client, "taylorank_batch_size_count") == 0
