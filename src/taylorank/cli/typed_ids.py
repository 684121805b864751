"""Ids on a command line are text; a model's may be integers."""

from __future__ import annotations

from collections.abc import Sequence

from taylorank.data import Ids
from taylorank.errors import UnknownIdError


def typed(text: str, ids: Ids) -> str | int:
    """Return an id as the model has it: an integer where its ids are integers and the text spells one, else text."""
    if ids.is_text:
        return text
    try:
        return int(text)
    except ValueError:
        return text


def known_ids(texts: Sequence[str], ids: Ids, what: str) -> list[str | int]:
    """Return ids as the model has them; unknown ones are refused."""
    found = [typed(text, ids) for text in texts]
    unknown = [one for one in found if one not in ids]
    if unknown:
        kind = "text" if ids.is_text else "integers"
        shown = ", ".join(map(repr, unknown[:3]))
        raise UnknownIdError(f"unknown {what} {shown} (ids here are {kind})", f"such as {ids[0]!r}" if len(ids) else "")
    return found
