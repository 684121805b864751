"""Interactions in one .npz file: plain arrays, no pickle, readable wherever NumPy is."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data.arrays import DamagedError, load_arrays, save_arrays
from taylorank.data.assemble import check_strengths, check_times
from taylorank.data.csr import CSR, INDEX_LIMIT, freeze
from taylorank.data.ids import Ids
from taylorank.data.interactions import Interactions
from taylorank.data.steps import Step
from taylorank.data.truth import Truth
from taylorank.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 2  # 1: without checksum


def save_npz(data: Interactions, path: str | os.PathLike[str]) -> None:
    """Write `data` to `path`; the file appears whole or not at all."""
    save_arrays(path, pack(data))


def pack(data: Interactions, *, with_truth: bool = True) -> dict[str, NDArray[Any]]:
    """Return everything as named arrays of plain numbers."""
    rows = data.by_user
    arrays: dict[str, NDArray[Any]] = {
        "taylorank_interactions": np.array([FORMAT]),
        "indptr": rows.indptr,
        "indices": rows.indices,
        "steps": _text_bytes(json.dumps([asdict(step) for step in data.steps])),
        **_pack_ids("users", data.users),
        **_pack_ids("items", data.items),
    }
    if rows.weights is not None:
        arrays["strengths"] = rows.weights
    if data.timestamps is not None:
        dates = data.timestamps.dtype.kind == "M"
        arrays["dates" if dates else "timestamps"] = data.timestamps.view(np.int64) if dates else data.timestamps
    if data.truth is not None and with_truth:
        arrays |= {f"truth_{name}": value for name, value in vars(data.truth).items()}
    return arrays


def load_npz(path: str | os.PathLike[str]) -> Interactions:
    """Read what `save_npz` wrote."""
    rewrite = "write it again with save_npz"
    try:
        arrays, is_checked = load_arrays(path)
    except FileNotFoundError:
        raise DataError(f"no such file: {path}", "check the path") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}", "check the path") from error
    except DamagedError as error:
        raise DataError(f"{path} is damaged or not an .npz file ({error})", rewrite) from error
    if "taylorank_interactions" not in arrays:
        raise DataError(f"{path} holds no interactions", "give a file that Interactions.save_npz wrote")
    try:
        if (version := int(arrays["taylorank_interactions"].ravel()[0])) <= FORMAT:
            if version > 1 and not is_checked:
                raise ValueError("its checksum is missing")
            return unpack(arrays)
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, RecursionError, OverflowError) as error:
        raise DataError(f"{path} is damaged ({error})", rewrite) from error
    raise DataError(f"{path} has format {version}, newer than {FORMAT}", "update taylorank")


def unpack(arrays: Mapping[str, NDArray[Any]]) -> Interactions:
    """Return the interactions that `pack` took apart; raise KeyError or ValueError if they do not fit."""
    users, items = _unpack_ids("users", arrays), _unpack_ids("items", arrays)
    indptr = arrays["indptr"].astype(np.int64, copy=False)
    indices = arrays["indices"].astype(np.int32, copy=False)
    strengths, times = arrays.get("strengths"), arrays.get("timestamps")
    if "dates" in arrays:
        times = arrays["dates"].view("datetime64[us]")
    for given, positions in ((arrays["indptr"], indptr), (arrays["indices"], indices)):
        if given.dtype.kind != "i" or given.ndim != 1 or not np.array_equal(given, positions):
            raise ValueError("row pointers or item numbers are not positions")
    _check_rows(indptr, indices, (len(users), len(items)))
    for column in (strengths, times):
        if column is not None and column.shape != indices.shape:
            raise ValueError("columns of different length")
    strengths, times = check_strengths(strengths), check_times(times)
    if strengths is not None and not np.all(strengths > 0):
        raise ValueError("a strength is 0")
    truth = None
    if "truth_user_factors" in arrays:
        truth = Truth(**{name[6:]: value for name, value in arrays.items() if name.startswith("truth_")})
    return Interactions(
        CSR(freeze(indptr), freeze(indices), None if strengths is None else freeze(strengths), len(items)),
        users,
        items,
        timestamps=None if times is None else freeze(times),
        steps=tuple(Step(**step) for step in json.loads(bytes(arrays["steps"]))),
        truth=truth,
    )


def _check_rows(indptr: NDArray[np.int64], indices: NDArray[np.int32], shape: tuple[int, int]) -> None:
    n_rows, n_columns = shape
    if n_columns >= INDEX_LIMIT or len(indptr) != n_rows + 1 or indptr[0] != 0 or indptr[-1] != len(indices):
        raise ValueError("row pointers do not fit")
    if np.any(np.diff(indptr) < 0):
        raise ValueError("row pointers decrease")
    if len(indices) and (indices.min() < 0 or indices.max() >= n_columns):
        raise ValueError("item positions out of range")
    starts_row = np.zeros(len(indices) + 1, dtype=bool)
    starts_row[indptr] = True
    if np.any((np.diff(indices) <= 0) & ~starts_row[1:-1]):
        raise ValueError("a row is not ascending")


def _text_bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)


def _pack_ids(side: str, ids: Ids) -> dict[str, NDArray[Any]]:
    if not ids.is_text:
        return {side: ids.values}
    encoded = [text.encode("utf-8", "surrogatepass") for text in ids.values]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return {f"{side}_text": np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{side}_ends": ends}


def _unpack_ids(side: str, arrays: Mapping[str, NDArray[Any]]) -> Ids:
    if side in arrays:
        if arrays[side].ndim != 1 or arrays[side].dtype != np.int64:
            raise ValueError(f"{side} are not ids")
        return Ids(arrays[side])
    text, ends = bytes(arrays[f"{side}_text"]), arrays[f"{side}_ends"].tolist()
    starts = [0, *ends[:-1]] if ends else []
    if (ends and ends[-1] != len(text)) or any(a > b for a, b in zip(starts, ends, strict=True)):
        raise ValueError(f"{side} do not fit their text")
    values = np.empty(len(ends), dtype=object)
    values[:] = [text[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=True)]
    return Ids(values)
