"""Paths as users write them."""

from __future__ import annotations

import os
from pathlib import Path

from taylorank.errors import DataError


def path_of(source: str | os.PathLike[str]) -> Path:
    """Return a path with ~ as the home folder; refuse names that no file can have."""
    if "\0" in os.fspath(source):
        raise DataError("a file name with the character NUL", "check the path")
    try:
        return Path(source).expanduser()
    except RuntimeError:
        raise DataError("the home folder of an unknown user", "write the path without ~") from None
