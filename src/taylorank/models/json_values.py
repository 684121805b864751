"""Parameters that JSON cannot hold, as numbers or text."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from scipy import sparse


def plain_value(value: Any) -> Any:
    """Return NumPy's numbers as numbers, arrays and sparse matrices by size and hash of all they hold, else the repr.

    Two files that hold the same text are then of the same parameters: a print leaves out the middle of a large matrix.

    >>> plain_value(np.float32(0.5)), plain_value(sparse.eye_array(3))[:6]
    (0.5, '3 × 3 ')
    """
    if isinstance(value, np.generic):
        return value.item()
    if sparse.issparse(value):
        rows = sparse.csr_array(value)
        arrays = [rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data]
    elif isinstance(value, np.ndarray):
        arrays = [value]
    else:
        return repr(value)
    held = hashlib.sha256()
    for array in arrays:
        held.update(f"{array.shape}{array.dtype}".encode() + array.tobytes())
    return f"{' × '.join(map(str, value.shape))} {held.hexdigest()[:16]}"
