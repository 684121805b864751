"""One small fitted model of every kind in the registry, for tests that hold for all."""

from __future__ import annotations

import inspect

from taylorank.registry import MODELS

# Neural and Distilled learn by descent: no fold-in to the same vectors, no explanation of their own, no growing; they
# have tests of their own.
CLOSED_FORM = [name for name in MODELS if name not in ("neural", "distilled")]


def small(name: str, **others):
    """The model called `name`, small enough for tests; parameters it does not have are left out."""
    kind = MODELS[name]
    neighbours = None if name == "ease" else 12
    wanted = {"factors": 4, "neighbours": neighbours, "iterations": 4, "epochs": 3, **others}
    return kind(**{key: value for key, value in wanted.items() if key in inspect.signature(kind).parameters})
