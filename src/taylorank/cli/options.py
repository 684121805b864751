"""Options that several commands share: the same meaning, the same name, the same help text."""

from __future__ import annotations

import math
import shlex
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from cyclopts import Group, Parameter, convert, validators

from taylorank.data.read_options import Format
from taylorank.errors import ParameterError
from taylorank.output import path_of


def as_written(kind: Any, tokens: Any) -> Any:
    """Return the value of any option: 2.5 is no whole number and is not rounded, nan is no number, ~ is a folder."""
    if get_origin(kind) is list:
        return [as_written(get_args(kind)[0], [token]) for token in tokens]
    kinds = set(get_args(kind) or (kind,)) - {type(None)}
    if kinds == {int}:
        return _number(tokens[0].value, int, "whole number")
    if kinds == {float}:
        return _number(tokens[0].value, float, "finite number")
    if kinds == {int, float}:
        text = tokens[0].value
        return int(text) if text.isdecimal() and len(text) < 20 else _number(text, float, "finite number")
    return path_of(tokens[0].value) if kinds == {Path} else convert(kind, tokens)


def _number(text: str, kind: type[int] | type[float], name: str) -> float:
    try:
        number = kind(text)
        if kind is int or math.isfinite(number):
            return number
    except (ValueError, OverflowError):
        pass
    raise ValueError(f'"{text if len(text) < 60 else f"{text[:50]}…"}" is not a {name}.')


def takes_whole(hint: Any) -> bool:
    """Whether a parameter with this type takes whole numbers and, but for None, nothing else.

    >>> takes_whole(int | None), takes_whole(float)
    (True, False)
    """
    return {int, *(get_args(hint) or (hint,))} <= {int, type(None)}


AS_WRITTEN = Parameter(converter=as_written)  # of every option of every command: `run_app` sees to it
A_FILE_OR_A_NAME = "a file, or a name from `taylorank datasets list`."
OPTIONS = Group("Options", sort_key=1)
FILE_OPTIONS = Group("File options", help="How to read files of interactions; not for data sets.", sort_key=3)

Data = Annotated[str, Parameter(help=f"Interactions: {A_FILE_OR_A_NAME}")]
ModelFile = Annotated[Path, Parameter(help="A model file, written by `taylorank train` or `taylorank tune`.")]
Cleaning = Annotated[
    str | None,
    Parameter(help="How a data set is cleaned: raw, paper, … `taylorank datasets list` shows all. [default: raw]"),
]
Core = Annotated[
    int | None,
    Parameter(help="Keep only users and items with at least this many interactions (k-core)."),
]
Cutoffs = Annotated[str, Parameter(help="Cutoffs of the metrics named without one, separated by commas.")]
HoldOutOption = Annotated[
    Literal["last", "random", "blocks"] | None,
    Parameter(
        help="Hold out the last items of each user, random ones, or blocks of similar ones. "
        "[default: last where times or an order are known, else random]"
    ),
]
Threads = Annotated[int | None, Parameter(help="Number of threads; the result does not depend on it.")]
Device = Annotated[
    Literal["auto", "cpu", "cuda"] | None,
    Parameter(
        help="Where to compute; auto: on a CUDA device where torch sees one. Models without this option use the CPU. "
        "[default: auto]"
    ),
]
JSON_FILE = "Write the results as JSON to this file"
Seed = Annotated[
    int,
    Parameter(help="Seed of all random choices.", validator=validators.Number(gte=0, lt=2**64)),
]
Quiet = Annotated[bool, Parameter(help="Print no progress and no summary.", negative=(), show_default=False)]


@Parameter(name="*", group=FILE_OPTIONS)
@dataclass(frozen=True)
class FileOptions:
    """How to read a file; the names are those of `taylorank.read_interactions`."""

    user: Annotated[str | None, Parameter(help="Column of the users' ids; recognised by its name if not given.")] = None
    item: Annotated[str | None, Parameter(help="Column of the items' ids; recognised by its name if not given.")] = None
    rating: Annotated[str | None, Parameter(help="Column of the ratings; only --min-rating uses it.")] = None
    strength: Annotated[str | None, Parameter(help="Column of the strengths; all are 1 if not given.")] = None
    timestamp: Annotated[
        str | None, Parameter(help='Column of the times; recognised by its name if not given, "" for none.')
    ] = None
    min_rating: Annotated[float | None, Parameter(help="Keep only rows with at least this rating.")] = None
    duplicates: Annotated[
        Literal["last", "sum", "max"] | None,
        Parameter(help="Strength of a (user, item) pair that occurs in several rows. [default: last]"),
    ] = None
    missing: Annotated[
        Literal["error", "drop"] | None, Parameter(help="What to do with rows without user or item. [default: error]")
    ] = None
    ids: Annotated[
        Literal["auto", "text"] | None,
        Parameter(help="auto: ids are integers if all of them are written so; text: never. [default: auto]"),
    ] = None
    columns: Annotated[
        str | None, Parameter(help="Names of the columns of a file without header, separated by commas.")
    ] = None
    separator: Annotated[str | None, Parameter(help="Separator of the fields; recognised if not given.")] = None
    quote: Annotated[str | None, Parameter(help='Give "" if quotation marks are ordinary characters.')] = None
    format: Annotated[Format | None, Parameter(help="Format of the file; recognised if not given.")] = None
    encoding: Annotated[str | None, Parameter(help="Encoding of the text. [default: UTF-8]")] = None

    def given(self) -> dict[str, Any]:
        """Return the options that were given, as keywords of `read_interactions`."""
        options = {name: value for name, value in asdict(self).items() if value is not None}
        if "columns" in options:
            options["columns"] = tuple(options["columns"].split(","))
        return options


NO_OPTIONS = FileOptions()


def comma_separated(text: str, option: str) -> list[str]:
    """Return the names between commas.

    >>> comma_separated("rg2, ials", "--models")
    ['rg2', 'ials']
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ParameterError(f"{option} {text!r} names nothing", "write names, separated by commas")
    return names


def cutoffs(text: str) -> list[int]:
    """Return the whole numbers between commas.

    >>> cutoffs("10,20")
    [10, 20]
    """
    try:
        return [int(number) for number in comma_separated(text, "--k")]
    except ValueError:
        raise ParameterError(f"--k {text!r} is not a list of cutoffs", "write whole numbers, such as 10,20") from None


# The program and its arguments, for records that name the command that made them.
INVOKED: ContextVar[tuple[str, ...]] = ContextVar("INVOKED", default=("taylorank",))


def command_line() -> str:
    """Return the command that is running, as a shell takes it."""
    return shlex.join(INVOKED.get())
