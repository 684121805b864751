"""Values by an OpenAPI description: mostly such as it allows, sometimes anything else in their place."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)),
    max_leaves=8,
)
KNOWN_IDS = st.integers(-2, 130)
NAMES = st.sampled_from(["rg2", "ials", "ease", "year", "genre", "price", "in_stock", "title", "a"])


class Values:
    """Strategies for the parts of one description."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.parts = document["components"]["schemas"]
        self.made: dict[str, st.SearchStrategy[Any]] = {}

    def of(self, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
        """Return what a schema allows and, one time in ten, anything."""
        right = self._right(schema)
        return st.integers(0, 9).flatmap(lambda number: ANYTHING if number == 0 else right)

    def _right(self, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return st.deferred(lambda: self.made.setdefault(name, self._right(self.parts[name])))
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                return st.one_of(*(self.of(part) for part in schema[key]))
        if "enum" in schema or "const" in schema:
            return st.sampled_from(schema.get("enum", [schema.get("const")]))
        kind = schema.get("type")
        make = {
            "integer": lambda: st.one_of(KNOWN_IDS, st.integers()),
            "number": lambda: st.one_of(st.floats(-1, 3), st.floats(), st.integers(-3, 3)),
            "string": lambda: st.one_of(NAMES, st.text(max_size=20)),
            "boolean": st.booleans,
            "null": st.none,
            "array": lambda: st.lists(self.of(schema.get("items", {})), max_size=5),
            "object": lambda: self._object(schema),
        }
        return make[kind]() if kind in make else ANYTHING

    def _object(self, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
        optional = {name: self.of(part) for name, part in schema.get("properties", {}).items()}
        needed = {name: optional.pop(name) for name in schema.get("required", [])}
        if optional or needed:
            return st.fixed_dictionaries(needed, optional=optional)
        more = schema.get("additionalProperties")
        return st.dictionaries(NAMES, self.of(more if isinstance(more, dict) else {}), max_size=3)
