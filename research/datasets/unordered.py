"""Published splits as those who print tables of them see them: without the order of the lines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from taylorank.data import Interactions, datasets
from taylorank.progress import Show


def unordered_split(name: str, *, path: Path | None = None, progress: Show = None) -> tuple[Interactions, Interactions]:
    """Return train and test parts without times, so that validation data are random tenths in every record alike."""
    train, test = datasets.published_split(name, path=path, progress=progress)
    return replace(train, timestamps=None), test
