"""Requests from a description: mostly right, and each seed gives the same."""

from __future__ import annotations

import json
import random

from research.attack.described import Described

DOCUMENT = {
    "paths": {
        "/v1/users/{id}": {"get": {"parameters": [{"name": "id", "in": "path", "schema": {"type": "integer"}}]}},
        "/v1/recommend": {
            "post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Ask"}}}}}
        },
    },
    "components": {
        "schemas": {
            "Ask": {
                "type": "object",
                "required": ["user"],
                "properties": {"user": {"type": "integer"}, "also": {"type": "array", "items": {"$ref": "#/x/Ask"}}},
            }
        }
    },
}


def made(seed):
    return Described(DOCUMENT, random.Random(seed)).request()


def test_requests_follow_the_description_mostly():
    requests = [made(seed) for seed in range(300)]
    assert requests == [made(seed) for seed in range(300)]
    asks = [json.loads(body) for _, target, body, _ in requests if target == "/v1/recommend"]
    right = [ask for ask in asks if isinstance(ask, dict) and isinstance(ask.get("user"), int)]
    assert 0.5 * len(asks) < len(right) < len(asks)
    users = [target for _, target, _, _ in requests if target.startswith("/v1/users/")]
    assert len(users) > 100
    assert len(set(users)) > 10
    assert not any("{" in target for target in users)
