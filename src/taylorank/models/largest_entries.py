"""The largest entries of each row of a sparse matrix: where most cells are 0, its entries alone are looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.kernels import top_k_scores

PADDING = 4  # cells of padded rows for each entry, at most
SPARSE_SHARE = 16  # a strip with fewer entries than one cell in so many is sorted by its entries
Places = NDArray[np.int64]


def is_thin(strip: Any) -> bool:
    """Whether sorting the entries is quicker than looking at every cell."""
    return bool(SPARSE_SHARE * strip.nnz < strip.shape[0] * strip.shape[1])


def largest_entries(rows: Places, columns: Places, values: NDArray[Any], count: int) -> tuple[Places, Places]:
    """Return where the `count` largest values of each row are in these arrays, and the place of each in its row.

    Entries come row by row, by rising columns; of equal values those of smaller columns come first.

    >>> rows, columns = np.array([0, 0, 0, 1]), np.array([2, 5, 7, 1])
    >>> [part.tolist() for part in largest_entries(rows, columns, np.array([3.0, 1.0, 1.0, 9.0]), 2)]
    [[0, 1, 3], [0, 1, 0]]
    """
    in_row = np.bincount(rows)
    starts = np.cumsum(in_row) - in_row
    place = np.arange(len(rows)) - np.repeat(starts, in_row)
    if len(rows) and len(in_row) * in_row.max() <= PADDING * len(rows):
        return _of_even_rows(rows, place, values, starts, count)
    order = np.lexsort((columns, -values, rows))
    kept = place < count
    return order[kept], place[kept]


def _of_even_rows(
    rows: Places, place: Places, values: NDArray[Any], starts: Places, count: int
) -> tuple[Places, Places]:
    """The same, of rows of about one length: padded to the longest they are chosen from without sorting the rest."""
    padded = np.full((len(starts), place.max() + 1), -np.inf, dtype=np.float32)
    padded[rows, place] = values
    found, _ = top_k_scores(padded, count)
    there = found >= 0
    order = (found + starts[:, None])[there]
    return order, np.nonzero(there)[1]
