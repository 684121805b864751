"""Named arrays in one .npz file, with a hash of them all: what comes back is what was written, or an error."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import DataError
from taylorank.output import atomic_path, path_of
from taylorank.system import available_memory

CHECKSUM = "checksum"
Arrays = dict[str, NDArray[Any]]


class DamagedError(ValueError):
    """The bytes are no .npz file, or not those that were written."""


def checksum(arrays: Mapping[str, NDArray[Any]], text: str = "") -> str:
    """Return the SHA-256 of `text` and of every array: its name, type, shape and bytes."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        digest.update(f"|{name}|{arrays[name].dtype.str}|{arrays[name].shape}|".encode())
        digest.update(np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def save_arrays(path: str | os.PathLike[str], arrays: Mapping[str, Any], *, compressed: bool = False) -> None:
    """Write the arrays and their checksum; the file appears whole or not at all."""
    plain = {name: np.asarray(value) for name, value in arrays.items()}
    plain[CHECKSUM] = np.frombuffer(checksum(plain).encode(), dtype=np.uint8)
    save = np.savez_compressed if compressed else np.savez
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        save(file, allow_pickle=False, **plain)


def load_arrays(path: str | os.PathLike[str]) -> tuple[Arrays, bool]:
    """Return what `save_arrays` wrote, and whether there was a checksum, which then was right.

    Raises OSError, `DamagedError` for bytes that were not written so, and `DataError` for more than memory holds.
    """
    try:
        with path_of(path).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            _check_size(path, sum(member.file_size for member in archive.zip.infolist()))
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, DataError):
        raise
    except Exception as error:  # parsers raise anything on arbitrary bytes
        raise DamagedError(type(error).__name__) from error
    stated = arrays.pop(CHECKSUM, None)
    if stated is not None and stated.tobytes() != checksum(arrays).encode():
        raise DamagedError("its content does not match its checksum")
    return arrays, stated is not None


def _check_size(path: str | os.PathLike[str], size: int) -> None:
    """Refuse an archive that unpacks to more than the machine has; no member gives more than it declares."""
    free = available_memory()
    if free is not None and size > free:
        raise DataError(f"{path} unpacks to {size:,} bytes, of {free:,} that are free", "check where it comes from")
