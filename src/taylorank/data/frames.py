"""Results as tables of the library that the user has."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from taylorank.data.forked import check_fork
from taylorank.errors import MissingExtraError, ParameterError

Library = Literal["polars", "pandas", "pyarrow"]
LIBRARIES = ("polars", "pandas", "pyarrow")
AsFrame = bool | Library


def library_of(wanted: Any) -> str:
    """Return the library of tables to use: the one that is named; for True or None pandas if it is in use, else polars.

    >>> library_of("pyarrow")
    'pyarrow'
    """
    if wanted is None or wanted is True:
        return "pandas" if "pandas" in sys.modules else "polars"
    if not isinstance(wanted, str) or wanted not in LIBRARIES:
        raise ParameterError(f"library={wanted!r} is unknown", f"choose from {', '.join(LIBRARIES)}")
    return wanted


def frame_of(columns: Mapping[str, Any], wanted: Any = None) -> Any:
    """Return columns of equal length as a table; ids that are text stay text.

    >>> frame_of({"item": [3, 4], "score": [0.5, 0.25]}, "polars").shape
    (2, 2)
    """
    library: Any = library_of(wanted)
    import narwhals as nw

    check_fork()
    plain = {name: _plain(values) for name, values in columns.items()}
    try:
        return nw.from_dict(plain, backend=library).to_native()
    except (ModuleNotFoundError, ImportError) as error:
        raise MissingExtraError(f"{library} is not installed", f"pip install {library}") from error


def _plain(values: Any) -> Any:
    """Return text as a list: NumPy's objects are none to pyarrow and polars."""
    array = values if isinstance(values, np.ndarray) else None
    return values if array is None or array.dtype != object else array.tolist()
