"""Results of a command: printed for people, written as JSON for programs."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from taylorank.cli.options import JSON_FILE
from taylorank.output import atomic_path, check_place

STANDARD_OUTPUT = Path("-")


def _check_path(_: Any, path: Path | None) -> None:
    if path is not None and path != STANDARD_OUTPUT and str(path).startswith("-"):
        raise ValueError("Give a file, or - for standard output.")


Json = Annotated[
    Path | None,
    Parameter(help=f"{JSON_FILE}; - for standard output.", allow_leading_hyphen=True, validator=_check_path),
]


def text_console(quiet: bool, json: Path | None = None) -> Console:
    """Return where a command prints for people: nowhere if it is quiet, or if JSON goes to standard output."""
    return Console(quiet=quiet or json == STANDARD_OUTPUT, highlight=False, soft_wrap=True)


def table_console(quiet: bool) -> Console:
    """Return a console for people that is wide enough for a table."""
    return Console(quiet=quiet, highlight=False, soft_wrap=True, width=max(80, get_terminal_size().columns))


def check_writable(*files: Path | None) -> None:
    """Find out before the work whether the files that are asked for can be written."""
    for file in files:
        if file is not None and file != STANDARD_OUTPUT:
            check_place(file)


def write_json(document: Any, path: Path, console: Console) -> None:
    """Write a document to the file, or to standard output if that is what `path` names."""
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if path == STANDARD_OUTPUT:
        print(text, end="")
        return
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    console.print(f"written: {path}")
