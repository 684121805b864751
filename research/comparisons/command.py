"""`python -m research.comparisons`: records of comparisons kept small, with the tests that verdicts rest on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from research.places import HERE, Places
from research.reproduce.gather import gather
from research.reproduce.paired import PairedTests
from research.reproduce.run import models_of
from research.reproduce.tables import table_named
from taylorank.output import output_folder
from taylorank.selection import Comparison

app = App(
    name="python -m research.comparisons",
    help="Keep the records of comparisons small.\n\nExample: python -m research.comparisons pairs ml-1m",
    help_format="plaintext",
    version_flags=(),
    suppress_keyboard_interrupt=False,
)


@app.command
def slim(
    files: Annotated[list[Path], Parameter(help="Records, such as those of version 1, with each user's values.")],
    /,
    *,
    to: Annotated[Path, Parameter(help="The folder for the small ones, which have the same names.")],
    per_user: Annotated[bool, Parameter(help="Write each user's values beside them.", negative=())] = False,
) -> None:
    """Write records of comparisons again without each user's values.

    Example: python -m research.comparisons slim old/*.json --to research/records/comparisons --per-user
    """
    with output_folder(to):
        for file in files:
            Comparison.load(file).save(to / file.name, per_user=per_user)
            print(f"{to / file.name}: {file.stat().st_size:,} → {(to / file.name).stat().st_size:,} bytes")


@app.command
def pairs(
    tables: Annotated[list[str], Parameter(help="Tables of the papers, such as ml-1m.")],
    /,
    *,
    root: Annotated[Path, Parameter(help="The checkout whose research/records are read and written.")] = HERE.root,
) -> None:
    """Test the rows of a table against each other, two by two, where each user's values are kept beside the records.

    Example: python -m research.comparisons pairs ml-1m
    """
    for table in map(table_named, tables):
        found = gather(table, Places(root))
        tests = PairedTests(table, found, Places(root))
        known = [model for model in models_of(table) if found.sources.get(model) in found.records]
        made, wanted = tests.save(known, table.columns)
        print(f"{tests.file}: {made} tests of {wanted}")
