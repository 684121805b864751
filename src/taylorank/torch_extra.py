"""The neural half of the library needs PyTorch, which a plain install does not bring.

The descriptions of its parts are read without torch; a part itself is imported at its first use.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

from taylorank.errors import MissingExtraError


def require_torch() -> None:
    """Raise an error that says what to install if torch is missing."""
    if importlib.util.find_spec("torch") is None:
        raise MissingExtraError("torch is not installed", "pip install 'taylorank[torch]'")


def import_with_torch(place: str) -> Any:
    """Return the object at `place`, "module:name", of a module that imports torch."""
    require_torch()
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that imports some of its names, {name: module}, when they are used."""

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_with_torch(f"{package}.{modules[name]}:{name}")

    return get
