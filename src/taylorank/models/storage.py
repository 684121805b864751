"""A fitted model in one file: safetensors, with a JSON manifest in its header; no pickle.

The manifest ends with a hash of itself and of every array, so that a damaged file is refused and never loads as another
model.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import taylorank
from taylorank.data.arrays import checksum
from taylorank.data.storage import pack, unpack
from taylorank.errors import DataError, ParameterError, TaylorankError, in_one_line
from taylorank.models.parameters import OF_THE_MACHINE, check_parameters, parameter_names
from taylorank.models.path_storage import pack_path, unpack_path
from taylorank.models.recommender import Recommender
from taylorank.models.training_record import TrainingRecord
from taylorank.output import atomic_path, path_of

FORMAT = 2
SPARSE = ("data", "indices", "indptr")
Arrays = dict[str, NDArray[Any]]


def save_model(
    model: Recommender,
    file: str | os.PathLike[str],
    *,
    with_seen: bool,
    with_path: bool = False,
    parts: Mapping[str, Recommender] | None = None,
) -> None:
    """Write `model` to `file`, which appears whole or not at all.

    `parts` are fitted models that it has as attributes, by their names; their arrays are called name/array.
    """
    from safetensors.numpy import save_file

    arrays, facts = _arrays(model, with_seen), _facts(model)
    for name, part in (parts or {}).items():
        arrays |= {f"{name}/{own}": value for own, value in _arrays(part, with_seen=True).items()}
        facts.setdefault("parts", {})[name] = _facts(part)
    if with_path:
        kept, facts["path"] = pack_path(model, with_seen=with_seen)
        arrays |= _contiguous(kept)
    text = with_checksum(facts, arrays)
    with atomic_path(file) as temporary:
        save_file(arrays, str(temporary), metadata={"taylorank": text})


def _arrays(model: Recommender, with_seen: bool) -> Arrays:
    """Return everything that a file holds of a model, by name."""
    seen = model.seen if with_seen else model.seen.select(np.zeros(model.seen.nnz, dtype=bool), "seen items left out")
    arrays = {f"seen_{name}": value for name, value in pack(seen, with_truth=False).items()}
    arrays["item_popularity"] = model.item_popularity
    for name in model.learned_shapes:
        arrays |= _plain(name, model._learned(name))
    return _contiguous(arrays)


def _contiguous(arrays: Mapping[str, Any]) -> Arrays:
    return {name: np.array(value, order="C", ndmin=1, copy=None) for name, value in arrays.items()}


def _facts(model: Recommender) -> dict[str, Any]:
    parameters = {name: value for name, value in model.settled_params().items() if name not in OF_THE_MACHINE}
    return {
        "format": FORMAT,
        "taylorank": taylorank.__version__,
        "model": type(model).__name__,
        "parameters": parameters,
        "data": model.data_fingerprint,
    }


def _plain(name: str, value: Any) -> Arrays:
    if not sparse.issparse(value):
        return {name: np.asarray(value)}
    return {f"{name}.{part}": getattr(value, part) for part in SPARSE}


def with_checksum(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the manifest: the facts, and a hash of everything in the file."""
    try:
        plain = json.dumps(facts, default=_plain_value)
    except (TypeError, ValueError, AttributeError):
        raise ParameterError("a parameter of the model is not a plain value", "use numbers and text") from None
    return json.dumps({**json.loads(plain), "checksum": checksum(arrays, plain)})


def _plain_value(value: Any) -> Any:
    """Return NumPy's numbers as Python's; in place of a matrix of features, which ranking does not need, its size."""
    if sparse.issparse(value):
        return f"{value.shape[0]} × {value.shape[1]} matrix, not kept in the file"
    return value.item()


def load(path: str | os.PathLike[str]) -> Recommender:
    """Read a model that `save` wrote; a damaged or foreign file is refused.

    `path()` needs the decomposition that a fit makes, which files hold that were saved with `path=True`.
    """
    place = path_of(path)
    arrays, manifest = _read(place)
    try:
        model = _restored(place, arrays, manifest)
        for name, facts in manifest.get("parts", {}).items():
            own = {array[len(name) + 1 :]: value for array, value in arrays.items() if array.startswith(f"{name}/")}
            setattr(model, name, _restored(place, own, {**manifest, **facts}))
        return model
    except TaylorankError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, OverflowError) as error:
        raise DataError(f"{place} is damaged ({in_one_line(error)})", "save the model again") from error


def _restored(path: Path, arrays: Arrays, manifest: Mapping[str, Any]) -> Recommender:
    model = _unfitted(path, manifest)
    histories = unpack({name[5:]: value for name, value in arrays.items() if name.startswith("seen_")})
    sizes = {"users": len(histories.users), "items": len(histories.items)}
    for name, axes in model.learned_shapes.items():
        if name in arrays or axes or not hasattr(model, name):  # what was learned since has a default
            setattr(model, name, _learned(arrays, name, axes, sizes))
    if manifest.get("path") is not None:
        model.__dict__["path_"] = unpack_path(
            lambda name, axes: _learned(arrays, name, axes, sizes), manifest["path"], model._learned("proposal_")
        )
    popularity = _learned(arrays, "item_popularity", ("items",), sizes)
    return model._for_others(histories, TrainingRecord(histories, popularity=popularity, fingerprint=manifest["data"]))


def _read(path: Path) -> tuple[Arrays, dict[str, Any]]:
    from safetensors import safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            header = file.metadata() or {}
            if "taylorank" not in header:
                raise DataError(f"{path} is not a taylorank model", "give a file that model.save wrote")
            manifest = json.loads(header["taylorank"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        stated = manifest.pop("checksum", None)
        if manifest["format"] == FORMAT and checksum(arrays, json.dumps(manifest)) != stated:
            raise DataError(f"{path} is damaged: its content does not match its checksum", "save the model again")
        return arrays, manifest
    except FileNotFoundError:
        raise DataError(f"no such file: {path}", "check the path") from None
    except DataError:
        raise
    except Exception as error:  # parsers raise anything on arbitrary bytes
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path} is damaged or not a model ({reason})", "save the model again") from error


def _unfitted(path: Path, manifest: Mapping[str, Any]) -> Recommender:
    """Return the estimator that the manifest names; refuse what only a newer version knows."""
    newer = f"{path} was written by taylorank {manifest.get('taylorank')}"
    if manifest["format"] != FORMAT:
        raise DataError(
            f"{newer} in format {manifest['format']}, not {FORMAT}", "update taylorank, or fit and save the model again"
        )
    kind = getattr(taylorank, str(manifest["model"]), None)
    if not (isinstance(kind, type) and issubclass(kind, Recommender)):
        raise DataError(f"{newer}, with a model {manifest['model']!r} that is unknown here", "update taylorank")
    unknown = [name for name in manifest["parameters"] if name not in parameter_names(kind)]
    if unknown:
        raise DataError(
            f"{newer}, where {kind.__name__} has a parameter {unknown[0]!r} that is unknown here", "update taylorank"
        )
    model = kind.from_settled(manifest["parameters"])
    check_parameters(model)
    return model


def _learned(arrays: Arrays, name: str, axes: tuple[str, ...], sizes: dict[str, int]) -> Any:
    """Return an array, scalar or sparse matrix whose axes have the lengths in `sizes`; new axes are added there."""
    if name in arrays and not axes:
        return arrays[name].item()
    if name in arrays:
        shape = arrays[name].shape
        if len(shape) != len(axes) or any(sizes.setdefault(a, n) != n for a, n in zip(axes, shape, strict=True)):
            raise ValueError(f"{name} has shape {shape}")
        return arrays[name]
    parts = tuple(arrays[f"{name}.{part}"] for part in SPARSE)
    matrix = sparse.csr_array(parts, shape=tuple(sizes[axis] for axis in axes))
    matrix.check_format(full_check=True)
    return matrix
