"""What the benchmark records say, in docs/benchmarks/ and docs/splits.md.

A section of these pages says what was found, then has the line `<!-- bench: NAME FILE.json -->`, the tables of that
record with its command and commit, which are made here, and the line `<!-- end -->`. How it was measured comes after
that. Where the file is not there yet, the section has the command alone.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from research.pages.records import STAMPS, command_of, commit_of
from research.pages.tables import tables_of
from research.places import Places

PLACE = re.compile(r"^(<!-- bench: (\S+) (\S+\.json) -->\n).*?^(<!-- end -->)$", re.MULTILINE | re.DOTALL)


def made(name: str, places: Places) -> str:
    """Return the page with the tables of every record that it names."""
    file = places.docs / f"{name}.md"
    return filled(file.read_text(encoding="utf-8"), file, places)


def filled(text: str, page: Path, places: Places) -> str:
    """Return the text of a page with what its records hold between its marks."""

    def content(found: re.Match[str]) -> str:
        opening, benchmark, record, end = found.groups()
        return f"{opening}\n{shown(benchmark, places.records / 'bench' / record, page, places)}\n\n{end}"

    return PLACE.sub(content, text)


def shown(name: str, file: Path, page: Path, places: Places) -> str:
    """Return the tables of a record and where they are from."""
    if not file.exists():
        return f"Not measured yet: `python -m research.bench {name} --json {places.name(file)}`"
    record = json.loads(file.read_text(encoding="utf-8"))
    stamps = places.records / STAMPS
    stamp = json.loads(stamps.read_text(encoding="utf-8")).get(f"bench/{file.name}") if stamps.exists() else None
    link = f"[{file.name}]({Path(os.path.relpath(file, page.parent)).as_posix()})"
    commit = commit_of(record, stamp)
    when = f"last changed {commit}" if commit.startswith("in ") else f"of commit {commit}"
    source = f"{link}, {when}: `{command_of(record, file)}`"
    return "\n\n".join([*(table.markdown() for table in tables_of(name, record)), source])
