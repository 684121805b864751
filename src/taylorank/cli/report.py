"""`taylorank report`: draw the report of a comparison again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from taylorank.output import output_folder
from taylorank.report import require_extra, write_report
from taylorank.report.record import load_record


def report(
    file: Annotated[Path, Parameter(help="The JSON that `taylorank compare --json` wrote.")],
    /,
    *,
    out: Annotated[Path | None, Parameter(help="File for the report; else FILE with .html.")] = None,
    quiet: Annotated[bool, Parameter(help="Print nothing.", negative=())] = False,
) -> None:
    """Draw the report of a comparison from its JSON; nothing is computed again.

    Example: taylorank report ml-1m.json --out ml-1m.html
    """
    require_extra()
    target = file.with_suffix(".html") if out is None else out
    record = load_record(file)
    with output_folder(target.parent):
        write_report(record, target)
    Console(quiet=quiet, highlight=False, soft_wrap=True).print(f"written: {target}")
