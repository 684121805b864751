"""`python -m research.pages`: write the pages that are made from records."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from research.pages import PAGES, module_of, write


def pages(
    names: Annotated[
        list[str] | None, Parameter(help=f"Pages to write; all if none is named: {', '.join(PAGES)}.")
    ] = None,
    /,
    *,
    quiet: Annotated[bool, Parameter(help="Print nothing.", negative=())] = False,
) -> None:
    """Write pages of docs from what the records hold.

    Example: python -m research.pages benchmarks claims
    """
    console = Console(quiet=quiet, highlight=False, soft_wrap=True)
    chosen = names or list(PAGES)
    for name in chosen:
        module_of(name)  # a wrong name is found before anything is written
    for name in chosen:
        console.print(f"docs/{name}.md: {'changed' if write(name) else 'as it was'}")
