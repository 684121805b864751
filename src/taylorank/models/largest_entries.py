"""The largest entries of each row of a sparse matrix: where most cells are 0, its entries alone are sorted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SPARSE_SHARE = 16  # a strip with fewer entries than one cell in so many is sorted by its entries
Places = NDArray[np.int64]


def is_thin(strip: Any) -> bool:
    """Whether sorting the entries is quicker than looking at every cell."""
    return bool(SPARSE_SHARE * strip.nnz < strip.shape[0] * strip.shape[1])


def largest_entries(rows: Places, columns: Places, values: NDArray[Any], count: int) -> tuple[Places, Places]:
    """Return where the `count` largest values of each row are in these arrays, and the place of each in its row.

    Of equal values those of smaller columns come first.

    >>> rows, columns = np.array([0, 0, 1, 0]), np.array([5, 2, 1, 7])
    >>> [part.tolist() for part in largest_entries(rows, columns, np.array([1.0, 3.0, 9.0, 1.0]), 2)]
    [[1, 0, 2], [0, 1, 0]]
    """
    order = np.lexsort((columns, -values, rows))
    place = np.arange(len(order)) - np.searchsorted(rows[order], rows[order])
    kept = place < count
    return order[kept], place[kept]
