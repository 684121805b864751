"""The neural half of the library needs PyTorch, which a plain install does not bring.

The descriptions of its parts are read without torch; a part itself is imported at its first use.
"""

from __future__ import annotations

import copy
import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from taylorank.errors import MissingExtraError, ParameterError

# What comes by default on Linux holds the libraries of CUDA, which a machine without a GPU has no use for.
CPU_BUILD = " (without a GPU install torch's CPU build before: much smaller, pytorch.org shows the command)"
DEVICES = ("auto", "cpu", "cuda")
Model = TypeVar("Model")


def require_torch() -> None:
    """Raise an error that says what to install if torch is missing."""
    if importlib.util.find_spec("torch") is None:
        raise MissingExtraError("torch is not installed", f"pip install 'taylorank[torch]'{CPU_BUILD}")


@contextmanager
def without_torch_warnings() -> Iterator[None]:
    """Keep to itself what torch has to say about torch, such as its deprecations; warnings of others pass."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"torch(\.|$)")
        yield


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
    driver = has_driver()
    there = driver and importlib.util.find_spec("torch") is not None
    there = there and importlib.import_module("torch").cuda.is_available()
    if device == "cuda" and not there:
        raise no_cuda(driver=driver)
    return there and device != "cpu"


def has_driver() -> bool:
    """Return whether this machine can have a CUDA device at all."""
    return Path("/dev/nvidiactl").exists() or sys.platform == "win32"


def no_cuda(*, driver: bool) -> ParameterError:
    """Return the error of a CUDA device that is asked for and not there, with the reason where it is known."""
    if driver and importlib.util.find_spec("torch") is None:
        return ParameterError("a CUDA device needs torch, which is not installed", "pip install 'taylorank[torch]'")
    if driver and importlib.import_module("torch").version.cuda is None:
        version = importlib.import_module("torch").__version__
        return ParameterError(
            f"torch {version} is a build for the CPU, which sees no CUDA device",
            "install its CUDA build (pytorch.org shows the command), or choose device='cpu'",
        )
    return ParameterError("there is no CUDA device", "choose device='cpu'")


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
