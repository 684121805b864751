"""`taylorank report`: draw the report of a comparison again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from taylorank.cli.options import Quiet
from taylorank.cli.results import text_console
from taylorank.output import check_place
from taylorank.report import require_extra, write_report
from taylorank.report.record import as_it_was_written, load_record


def report(
    file: Annotated[Path, Parameter(help="JSON file, written by `taylorank compare --json`.")],
    /,
    *,
    out: Annotated[
        Path | None, Parameter(help="Write the report to this HTML file. [default: FILE with the ending .html]")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Draw the HTML report of a comparison from its JSON file.

    Nothing is computed again.

    Example: taylorank report ml-1m.json --out ml-1m.html
    """
    require_extra()
    target = file.with_suffix(".html") if out is None else out
    record = load_record(file)
    check_place(target)
    with as_it_was_written(file):
        write_report(record, target)
    text_console(quiet).print(f"written: {target}")
