"""Options that several commands share."""

from __future__ import annotations

import shlex
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from taylorank.data.read_options import Format


@Parameter(name="*")
@dataclass(frozen=True)
class FileOptions:
    """How to read a file; the names are those of `taylorank.read_interactions`."""

    user: Annotated[str | None, Parameter(help="Column of the users; guessed if not given.")] = None
    item: Annotated[str | None, Parameter(help="Column of the items; guessed if not given.")] = None
    rating: Annotated[str | None, Parameter(help="Column of the ratings, for --min-rating.")] = None
    strength: Annotated[str | None, Parameter(help="Column of the strengths; all 1 if not given.")] = None
    timestamp: Annotated[str | None, Parameter(help='Column of the times; "" leaves them out.')] = None
    min_rating: Annotated[float | None, Parameter(help="Keep rows rated at least this.")] = None
    duplicates: Annotated[Literal["last", "sum", "max"] | None, Parameter(help="What repeated pairs become.")] = None
    missing: Annotated[Literal["error", "drop"] | None, Parameter(help="Rows without user or item.")] = None
    ids: Annotated[Literal["auto", "text"] | None, Parameter(help="Keep ids that look like integers as text.")] = None
    columns: Annotated[
        str | None, Parameter(help="Names of the columns of a file without header, with commas between.")
    ] = None
    separator: Annotated[str | None, Parameter(help="What separates fields, if not found by itself.")] = None
    quote: Annotated[str | None, Parameter(help='"" if quotes are ordinary characters.')] = None
    format: Annotated[Format | None, Parameter(help="The format, if the name does not show it.")] = None
    encoding: Annotated[str | None, Parameter(help="The encoding of the text, if not UTF-8.")] = None

    def given(self) -> dict[str, Any]:
        """Return the options that were given, as keywords of `read_interactions`."""
        options = {name: value for name, value in asdict(self).items() if value is not None}
        if "columns" in options:
            options["columns"] = tuple(options["columns"].split(","))
        return options


NO_OPTIONS = FileOptions()

# The program and its arguments, for records that name the command that made them.
INVOKED: ContextVar[tuple[str, ...]] = ContextVar("INVOKED", default=("taylorank",))


def command_line() -> str:
    """Return the command that is running, as a shell takes it."""
    return shlex.join(INVOKED.get())
