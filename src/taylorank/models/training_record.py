"""What a model keeps of its training data after fold_in of other users, or in a file without the seen items."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Ids, Interactions


class TrainingRecord:
    """Popularity of the items and a fingerprint of the pairs, counted when first asked for.

    >>> record = TrainingRecord(Interactions.from_arrays([1, 1, 2], [7, 8, 7]))
    >>> record.popularity.tolist(), len(record.fingerprint)
    ([2.0, 1.0], 16)
    """

    def __init__(
        self, data: Interactions, *, popularity: NDArray[np.float64] | None = None, fingerprint: str | None = None
    ) -> None:
        self._data = data
        self._is_stated = fingerprint is not None  # by a file, which may hold other data
        if popularity is not None:
            self.popularity = popularity
        if fingerprint is not None:
            self.fingerprint = fingerprint

    @cached_property
    def popularity(self) -> NDArray[np.float64]:
        """Σ_x r_xy over the median strength, (N,)."""
        return self._data.relative_popularity

    def is_of(self, data: Interactions) -> bool:
        """Return whether `data` is what was fitted: not folded-in histories, nor data that the file left out."""
        if data is self._data and not self._is_stated:
            return True
        return TrainingRecord(data).fingerprint == self.fingerprint

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of ids, pairs and strengths: the same for the same data."""
        data = self._data
        digest = hashlib.sha256()
        for array in (data.by_user.indptr, data.by_user.indices, data.strengths, *_plain(data.users, data.items)):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:16]


def _plain(*sides: Ids) -> list[NDArray[Any]]:
    """Ids as arrays of numbers; of text, its bytes with the length of each id before it."""
    return [
        np.frombuffer(
            b"".join(len(code).to_bytes(8, "little") + code for code in (_bytes(text) for text in ids.values)),
            dtype=np.uint8,
        )
        if ids.is_text
        else ids.values
        for ids in sides
    ]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
