"""Which methods and properties of a class the reference shows: all that users call, inherited ones too."""

from __future__ import annotations

import inspect
from functools import cached_property
from importlib import import_module
from typing import Any

from sphinx.application import Sphinx

# What other parts of taylorank, or scikit-learn, ask of a model or of data: public in the code, of no use in a script.
OF_THE_LIBRARY = {
    "bounded_rank",
    "from_positions",
    "from_settled",
    "has_path",
    "learned_shapes",
    "n_features_in_",
    "placed_on",
    "rank_for",
    "ranker",
    "relative_popularity",
    "settled_for",
    "settled_params",
    "strength_unit_",
    "typical_strength",
    "with_step",
}


def members_of(module: str, name: str) -> dict[str, list[str]]:
    """Return the names of a class's methods and properties, each in the order of the alphabet."""
    owner: Any = import_module(module)
    for part in name.split("."):
        owner = getattr(owner, part)
    found: dict[str, list[str]] = {"methods": [], "properties": []}
    for member in sorted(vars_of(owner)):
        if member.startswith("_") or member in OF_THE_LIBRARY:
            continue
        value = inspect.getattr_static(owner, member)
        if isinstance(value, property | cached_property):
            found["properties"].append(member)
        elif inspect.isroutine(getattr(owner, member)):
            found["methods"].append(member)
    return found


def vars_of(owner: Any) -> set[str]:
    """Return the names that classes of taylorank define, not those of `tuple`, `dict` or `Exception`."""
    ours = [kind for kind in owner.__mro__ if kind.__module__.startswith("taylorank")]
    return {name for kind in ours for name in vars(kind)}


def setup(app: Sphinx) -> dict[str, Any]:
    """Give the templates of autosummary the function."""
    app.config.autosummary_context = {"members_of": members_of}
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
