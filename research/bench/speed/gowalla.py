"""Gowalla's training part as a file, for contenders that run in processes of their own."""

from __future__ import annotations

from pathlib import Path

from taylorank.data import datasets, planted
from taylorank.errors import DataError


def save_gowalla(path: Path, *, quick: bool = False) -> str:
    """Write the data to `path` and say what they are: planted ones where Gowalla is not on this machine."""
    words = "Gowalla"
    if quick:
        data, words = planted(700, 900, interactions=14_000), "planted"
    else:
        try:
            data = datasets.published_split("gowalla")[0]
        except DataError:
            data, words = planted(29_858, 40_981, interactions=810_128), "planted, of Gowalla's size"
    data.save_npz(path)
    return words
