"""What a DATA argument means: a file, or the name of a data set."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taylorank.data.interactions import Interactions
from taylorank.errors import DataError, ParameterError
from taylorank.output import path_of

if TYPE_CHECKING:
    from taylorank.progress import Show


def open_data(
    name_or_path: str | os.PathLike[str],
    *,
    cleaning: str | None = None,
    progress: Show = None,
    **read_options: Any,
) -> Interactions:
    """Return the interactions in a file, else of the data set of that name; a file of that name takes precedence.

    `cleaning` (None: "raw") is for data sets, `read_options` (those of `read_interactions`; None means not given) for
    files. An .npz file is one that `Interactions.save_npz` wrote. `progress` is as in `read_interactions`.
    """
    options = {name: value for name, value in read_options.items() if value is not None}
    path = path_of(name_or_path)
    if _is_file(path):
        return _open_file(path, cleaning, progress, options)
    from taylorank.data import datasets

    if str(name_or_path) not in datasets.names():
        raise _neither(str(name_or_path), path)
    if options:
        raise ParameterError(
            f"{', '.join(options)} applies to files, and {name_or_path} is a data set",
            "choose a cleaning instead",
        )
    return datasets.get(str(name_or_path), cleaning=cleaning or "raw", progress=progress)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:
        raise DataError(f"cannot open {path}: {error.strerror}", "check the path") from None


def _open_file(path: Path, cleaning: str | None, progress: Show, options: dict[str, Any]) -> Interactions:
    if cleaning is not None:
        raise ParameterError(
            f"cleaning {cleaning!r} applies to data sets, and {path} is a file",
            "leave it out; for files there are the read options, such as min_rating",
        )
    if path.suffix == ".npz":
        if options:
            raise ParameterError(
                f"{', '.join(options)} does not apply to {path}, an .npz file of interactions", "leave it out"
            )
        return Interactions.load_npz(path)
    from taylorank.data.read import read_interactions

    return read_interactions(path, progress=progress, **options)


def _neither(name: str, path: Path) -> DataError:
    if path.is_dir():
        return DataError(f"{name} is a folder", "name a file inside it, or a data set")
    if os.sep in name or path.suffix:
        return DataError(f"no such file: {name}", "check the path")
    from taylorank.data.datasets.registry import unknown

    return DataError(f"{name!r} is neither a file nor a data set", unknown(name).remedy)
