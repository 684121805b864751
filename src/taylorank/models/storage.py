"""A fitted factor model in one file: safetensors, with a JSON manifest in its header; no pickle."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import taylorank
from taylorank.data import Interactions
from taylorank.data.storage import pack, unpack
from taylorank.errors import DataError, ParameterError
from taylorank.models.factor import FactorModel
from taylorank.output import atomic_path

FORMAT = 1
LEARNED = ("user_factors_", "item_factors_", "proposal_")
NUMBERS = ("penalty_", "mean_context_")


def save_model(model: FactorModel, path: str | os.PathLike[str], *, with_seen: bool) -> None:
    """Write `model` to `path`; the file appears whole or not at all."""
    from safetensors.numpy import save_file

    seen = model.seen if with_seen else model.seen.select(np.zeros(model.seen.nnz, dtype=bool), "seen items left out")
    arrays = {f"seen_{name}": value for name, value in pack(seen, with_truth=False).items()}
    arrays |= {name: getattr(model, name) for name in LEARNED if hasattr(model, name)}
    manifest = {
        "format": FORMAT,
        "taylorank": taylorank.__version__,
        "model": type(model).__name__,
        "parameters": model.get_params(),
        "learned": {name: getattr(model, name) for name in NUMBERS if hasattr(model, name)},
        "data": fingerprint(model.seen),
    }
    with atomic_path(path) as temporary:
        contiguous = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
        save_file(contiguous, str(temporary), metadata={"taylorank": json.dumps(manifest)})


def fingerprint(data: Interactions) -> str:
    """Return a short hash of the pairs, to tell which data a model was fitted to."""
    digest = hashlib.sha256()
    for array in (data.by_user.indptr, data.by_user.indices, np.ascontiguousarray(data.strengths)):
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def load(path: str | os.PathLike[str]) -> FactorModel:
    """Read a model that `save` wrote; a damaged or foreign file is refused."""
    arrays, manifest = _read(Path(path))
    if manifest.get("format", 0) > FORMAT:
        raise DataError(f"{path} has format {manifest['format']}, newer than {FORMAT}", "update taylorank")
    try:
        model: Any = _class_named(str(manifest["model"]))(**manifest["parameters"])
        model.train_ = unpack({name[5:]: value for name, value in arrays.items() if name.startswith("seen_")})
        for name in LEARNED:
            if name in arrays:
                setattr(model, name, arrays[name])
        for name, value in manifest["learned"].items():
            if name not in NUMBERS:
                raise ValueError(f"unknown value {name!r}")
            setattr(model, name, float(value))
        model.path_ = None
        shapes = (len(model.user_factors), len(model.item_factors))
        if shapes != (len(model.users), len(model.items)):
            raise ValueError("factors and ids differ in number")
    except (KeyError, TypeError, ValueError, IndexError, ParameterError) as error:
        raise DataError(f"{path} is damaged ({error})", "save the model again") from error
    fitted: FactorModel = model
    return fitted


def _read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            manifest = json.loads((file.metadata() or {})["taylorank"])
            return {name: file.get_tensor(name) for name in file.keys()}, manifest  # noqa: SIM118
    except FileNotFoundError:
        raise DataError(f"no such file: {path}", "check the path") from None
    except KeyError:
        raise DataError(f"{path} is not a taylorank model", "give a file that model.save wrote") from None
    except (SafetensorError, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path} is damaged or not a model ({reason})", "save the model again") from error


def _class_named(name: str) -> Any:
    import taylorank.models

    known = getattr(taylorank.models, name, None)
    if not (isinstance(known, type) and issubclass(known, FactorModel)):
        raise ValueError(f"unknown model {name!r}")
    return known
