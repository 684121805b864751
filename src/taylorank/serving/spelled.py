"""Ids written as text, in an address or a file, in the type that a model has."""

from __future__ import annotations

import re
from pathlib import Path

from taylorank.data import Ids
from taylorank.errors import DataError

WHOLE = re.compile(r"-?[0-9]{1,20}")


def id_of(text: str, ids: Ids) -> int | str:
    """Return an integer where the ids are integers and the text spells one, else the text.

    >>> id_of("007", Ids([7])), id_of("007", Ids(["007"]))
    (7, '007')
    """
    return int(text) if not ids.is_text and WHOLE.fullmatch(text) else text


def ids_in(path: Path) -> frozenset[str]:
    """Return the ids in a file, one per line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise DataError(f"no such file: {path}", "check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path} ({error})", "give a UTF-8 text file with one id per line") from None
    return frozenset(line.strip() for line in lines if line.strip())
