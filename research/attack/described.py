"""Requests made from an OpenAPI description: mostly what it allows, sometimes anything else in its place."""

from __future__ import annotations

import json
import random
from typing import Any
from urllib.parse import quote

WORDS = ("m", "title", "year", "genre", "price", "a", "", "é", "x" * 300, "\x00", "../../etc/passwd", "%00", "1e999")
NUMBERS = (
    0,
    1,
    -1,
    5,
    29,
    10**6,
    2**63,
    -(2**63),
    2**70,
    10**400,
    0.5,
    -0.0,
    1e308,
    5e-324,
    float("nan"),
    float("inf"),
)
DEEPEST = 5


class Described:
    """Values and requests by one description."""

    def __init__(self, document: dict[str, Any], rng: random.Random) -> None:
        self.document, self.rng = document, rng
        self.parts = document.get("components", {}).get("schemas", {})

    def request(self) -> tuple[str, str, bytes, set[int]]:
        """Return method, target and body of one request, and the statuses that the description has for it."""
        path = self.rng.choice(tuple(self.document["paths"]))
        method = self.rng.choice(tuple(self.document["paths"][path]))
        about = self.document["paths"][path][method]
        query = []
        for parameter in about.get("parameters", ()):
            value = quote(self._text(parameter.get("schema", {})), safe="" if self.rng.random() < 0.8 else "/")
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", value or "x")
            elif self.rng.random() < 0.5:
                query.append(f"{parameter['name']}={value}")
        target = f"{path}?{'&'.join(query)}" if query else path
        content = about.get("requestBody", {}).get("content", {}).get("application/json")
        body = b"" if content is None else json.dumps(self.value(content["schema"])).encode()
        statuses = {int(status) for status in about.get("responses", {}) if status.isdecimal()}
        if self.rng.random() < 0.03:
            return "PATCH", target, body, {405}
        return method.upper(), target, body, statuses

    def _text(self, schema: dict[str, Any]) -> str:
        value = self.value(schema)
        text = value if isinstance(value, str) else json.dumps(value)
        return text.encode("utf-8", "replace").decode()[:2_000]

    def value(self, schema: dict[str, Any], depth: int = 0) -> Any:
        """Return what a schema allows and, one time in ten, anything."""
        if self.rng.random() < 0.1:
            return self.anything(depth)
        if "$ref" in schema:
            return self.value(self.parts[schema["$ref"].rpartition("/")[2]], depth + 1)
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                return self.value(self.rng.choice(schema[key]), depth)
        if "enum" in schema or "const" in schema:
            return self.rng.choice(schema.get("enum", [schema.get("const")]))
        return self._of_type(schema, depth)

    def _of_type(self, schema: dict[str, Any], depth: int) -> Any:
        rng, kind = self.rng, schema.get("type")
        if kind == "integer":
            return rng.choice((rng.randrange(60), *NUMBERS[:10]))
        if kind == "number":
            return rng.choice((rng.random(), *NUMBERS))
        if kind == "string":
            return rng.choice(WORDS)
        if kind == "boolean":
            return rng.random() < 0.5
        if kind == "array":
            count = 0 if depth > DEEPEST else rng.choice((0, 1, 2, 5))
            return [self.value(schema.get("items", {}), depth + 1) for _ in range(count)]
        return self._object(schema, depth) if kind == "object" else None if kind == "null" else self.anything(depth)

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        known, needed = schema.get("properties", {}), schema.get("required", ())
        if not known:
            names, more = self.rng.sample(WORDS, 1 if depth < DEEPEST else 0), schema.get("additionalProperties")
            return {name: self.value(more if isinstance(more, dict) else {}, depth + 1) for name in names}
        chosen = [name for name in known if name in needed or self.rng.random() < 0.25]
        return {name: self.value(known[name], depth + 1) for name in chosen}

    def anything(self, depth: int = 0) -> Any:
        """Return any value of JSON."""
        rng = self.rng
        kind = rng.randrange(6 if depth < DEEPEST else 4)
        if kind < 4:
            return (None, rng.random() < 0.5, rng.choice(NUMBERS), rng.choice(WORDS))[kind]
        inner = [self.anything(depth + 1) for _ in range(rng.randrange(4))]
        return inner if kind == 4 else dict(zip(rng.sample(WORDS, len(inner)), inner, strict=True))
