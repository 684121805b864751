"""Pairs of words in a small file: an .npz of bytes.

Words stand once, in order. Each root word has the positions of its terms, rising; what is kept are the steps from one
to the next, whose low and high bytes compress best apart.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data.csr import CSR, freeze
from taylorank.data.ids import Ids
from taylorank.data.interactions import Interactions
from taylorank.data.steps import Step
from taylorank.errors import DataError


def pack_pairs(data: Interactions) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file with the pairs of `data`, whose ids are words; there may be 65,536 of these."""
    words = np.union1d(data.user_ids, data.item_ids)
    columns = np.searchsorted(words, data.item_ids)[data.by_user.indices]
    steps = np.diff(columns, prepend=0)
    first = data.by_user.indptr[:-1]
    steps[first] = columns[first]
    return {
        "words": np.frombuffer("\n".join(words).encode(), dtype=np.uint8),
        "roots": np.searchsorted(words, data.user_ids).astype(np.uint16),
        "lengths": data.by_user.row_lengths.astype(np.uint16),
        "low": (steps & 255).astype(np.uint8),
        "high": (steps >> 8).astype(np.uint8),
    }


def word_pairs(paths: tuple[Path, ...], options: Mapping[str, Any]) -> Interactions:
    """Read a file of such arrays; users are the root words and items their terms."""
    try:
        with paths[0].open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            words = np.array(file["words"].tobytes().decode().split("\n"))
            roots, lengths = file["roots"].astype(np.int64), file["lengths"].astype(np.int64)
            steps = file["high"].astype(np.int64) * 256 + file["low"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{paths[0]} holds no pairs of words ({error})", "install taylorank again") from error
    ends = np.cumsum(lengths)
    running = np.cumsum(steps)
    before = np.concatenate(([0], running[ends[:-1] - 1]))
    columns = running - np.repeat(before, lengths)
    terms, items = np.unique(columns, return_inverse=True)
    indptr = np.concatenate(([0], ends))
    rows = CSR(freeze(indptr), freeze(items.astype(np.int32)), None, len(terms))
    done = Step(f"read {paths[0].name}", len(roots), len(terms), len(items))
    return Interactions(rows, Ids(words[roots]), Ids(words[terms]), steps=(done,))
