"""Arrays that show it when a kernel reads or writes beside them, and arrays as only few callers make them."""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]
PAGE = mmap.PAGESIZE
SIZES = (0, 1, 1, 2, 3, 5, 8, 13, 16, 17, 31, 33, 64, 100, 300)
WIDTHS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 129, 200)
THREADS = (1, 2, 3, 4, 7, 16, 64)
FOREIGN = ("float16", "int16", "complex64", "bool", ">f4", ">f8", ">i8", "uint64")  # types that hardly a kernel takes
_library = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None


def guarded(values: Array) -> Array:
    """Return the same numbers, the last of them before a page that may not be touched: reading on ends the process."""
    if _library is None or values.nbytes == 0:
        return values
    pages = -(-values.nbytes // PAGE)
    memory = mmap.mmap(-1, (pages + 1) * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if _library.mprotect(ctypes.c_void_p(start + pages * PAGE), ctypes.c_size_t(PAGE), 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    place = pages * PAGE - values.nbytes
    copy: Array = np.frombuffer(memory, dtype=values.dtype, count=values.size, offset=place).reshape(values.shape)
    copy[...] = values
    return copy


def misaligned(values: Array) -> Array:
    """Return the same numbers, one byte further in memory."""
    shifted: Array = np.empty(values.nbytes + 1, dtype=np.uint8)[1:].view(values.dtype).reshape(values.shape)
    shifted[...] = values
    return shifted


def strided(values: Array, rng: np.random.Generator) -> Array:
    """Return the same numbers, not one after the other in memory."""
    if values.ndim > 1 and rng.random() < 0.5:
        return np.asfortranarray(values)
    wide: Array = np.empty((*values.shape[:-1], 2 * values.shape[-1]), dtype=values.dtype)
    spread = wide[..., ::2] if rng.random() < 0.5 else wide[..., ::-2]
    spread[...] = values
    return spread


def odd(values: Array, rng: np.random.Generator) -> Array:
    """Return the same numbers in one of the ways in which an array can hold them."""
    way = rng.integers(5)
    if way == 0:
        return misaligned(values)
    if way == 1 and values.ndim:
        return strided(values, rng)
    if way == 2:
        copy = values.copy()
        copy.flags.writeable = False
        return copy
    return guarded(values)


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: DTypeLike = np.float32) -> Array:
    """Return normal numbers; now and then of a size that only just is one, rarely one that is none."""
    values = rng.standard_normal(shape).astype(dtype)
    way = rng.integers(12)
    if way == 0 and values.size:
        values *= np.asarray(rng.choice([1e-42, 1e-30, 1e3]), dtype=dtype)
    return values


def with_nothing(values: Array, rng: np.random.Generator, *, infinite: bool = True) -> Array:
    """Return the numbers with one that is none, of any bits, or infinite."""
    if not values.size or values.dtype.kind != "f":
        return values
    values = values.copy()
    place = rng.integers(values.size)
    if infinite and rng.random() < 0.5:
        values.flat[place] = rng.choice([np.inf, -np.inf])
    elif values.dtype == np.float32:
        values.view(np.uint32).flat[place] = rng.choice([0x7FC00000, 0x7FC00001, 0x7FC00155, 0xFFFFFFFF])
    else:
        values.flat[place] = np.nan
    return values


def sparse_rows(rng: np.random.Generator, *, n_rows: int | None = None, n_columns: int | None = None) -> Any:
    """Return (indptr, indices, n_columns) of random rows, ascending; some are empty, now and then one is long."""
    rows = int(rng.choice(SIZES)) if n_rows is None else n_rows
    columns = int(rng.choice(SIZES)) if n_columns is None else n_columns
    lengths = rng.integers(0, 1 + min(columns, int(rng.choice([0, 3, 20]))), size=rows)
    if rows and rng.random() < 0.2:
        lengths[rng.integers(rows)] = columns
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    chosen = [np.sort(rng.choice(columns, size=length, replace=False)) for length in lengths]
    indices = np.concatenate([np.empty(0, dtype=np.int32), *chosen]).astype(np.int32)
    return indptr, indices, columns
