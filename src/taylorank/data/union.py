"""Parts put together again, such as training and validation data for the last fit."""

from __future__ import annotations

import numpy as np

from taylorank.data.assemble import from_codes
from taylorank.data.interactions import Interactions
from taylorank.data.share import share_ids


def union(*parts: Interactions) -> Interactions:
    """Return the interactions of all parts, over the ids of all; of a pair in several the last part counts.

    Times are kept if every part has them.

    >>> a, b = Interactions.from_arrays([1], [7]), Interactions.from_arrays([1, 2], [8, 7])
    >>> union(a, b).matrix.toarray()
    array([[1., 1.],
           [1., 0.]], dtype=float32)
    """
    parts = share_ids(*parts)
    rows = np.concatenate([part.by_user.row_of_entry() for part in parts]).astype(np.int32)
    columns = np.concatenate([part.by_user.indices for part in parts]).astype(np.int32)
    strengths = np.concatenate([part.strengths for part in parts])
    times = [part.timestamps for part in parts if part.timestamps is not None]
    return from_codes(
        (parts[0].users, rows),
        (parts[0].items, columns),
        None if all(part.is_binary for part in parts) else strengths,
        np.concatenate(times) if len(times) == len(parts) else None,
        duplicates="last",
        action=f"union of {len(parts)} parts",
    )
