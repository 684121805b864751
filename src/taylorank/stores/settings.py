"""What a store is told about an export."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from taylorank.errors import ParameterError
from taylorank.stores.kinds import KINDS


@dataclass(frozen=True)
class Settings:
    """How to write: the index, the name of the table or collection, users or not, over what is there or not."""

    index: str
    name: str = "items"
    users: bool = True
    overwrite: bool = False

    @property
    def users_name(self) -> str:
        """The name of the table or collection of the users."""
        return f"{self.name}_users"


@dataclass(frozen=True)
class Written:
    """Where an export is, in words, the bytes of its items, and how they are searched if not as asked for."""

    target: str
    bytes: int | None
    index: str | None = None


def settled_index(kind: str, index: Any) -> str:
    """Return the index that is asked for, the first of the store's by default."""
    known, other = KINDS[kind].indexes, KINDS[kind].other_index
    if index is None:
        return known[0]
    if index in known or (other and isinstance(index, str)):
        return str(index)
    raise ParameterError(f"{kind} has no index {index!r}", f"choose from {', '.join((*known, *filter(None, [other])))}")
