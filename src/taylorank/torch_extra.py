"""The neural half of the library needs PyTorch, which a plain install does not bring.

The descriptions of its parts are read without torch; a part itself is imported at its first use.
"""

from __future__ import annotations

import copy
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from taylorank.errors import MissingExtraError, ParameterError

DEVICES = ("auto", "cpu", "cuda")
Model = TypeVar("Model")


def require_torch() -> None:
    """Raise an error that says what to install if torch is missing."""
    if importlib.util.find_spec("torch") is None:
        raise MissingExtraError("torch is not installed", "pip install 'taylorank[torch]'")


def import_with_torch(place: str) -> Any:
    """Return the object at `place`, "module:name", of a module that imports torch."""
    require_torch()
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def uses_cuda(device: str) -> bool:
    """Return whether to compute on a CUDA device: "auto" takes one that torch sees, "cuda" is refused without one.

    Where there is no driver, torch is not imported to find out.
    """
    if not isinstance(device, str) or device not in DEVICES:
        raise ParameterError(f"device={device!r} is unknown", f"choose from {', '.join(DEVICES)}")
    driver = Path("/dev/nvidiactl").exists() or sys.platform == "win32"
    there = driver and importlib.util.find_spec("torch") is not None
    there = there and importlib.import_module("torch").cuda.is_available()
    if device == "cuda" and not there:
        raise ParameterError("there is no CUDA device", "choose device='cpu'")
    return there and device != "cpu"


def torch_device(device: str) -> str | None:
    """Return the device of torch to compute on, "cuda"; None: with NumPy, on the CPU."""
    return "cuda" if uses_cuda(device) else None


def on_device(model: Model, device: str | None) -> Model:
    """Return the model with its parameter `device` set to this: a copy, which shares what was learned.

    It is the model itself if `device` is None or its own, or if it has no such parameter: it computes where it always
    does. A device that is unknown or not there is refused in any case.
    """
    if device is None:
        return model
    uses_cuda(device)
    params = model.get_params() if hasattr(model, "get_params") else {}
    if params.get("device", device) == device:
        return model
    other: Any = copy.copy(model)
    other.set_params(device=device)
    return other  # type: ignore[no-any-return]


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that imports some of its names, {name: module}, when they are used."""

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_with_torch(f"{package}.{modules[name]}:{name}")

    return get
