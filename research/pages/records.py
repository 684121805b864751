"""Every record with the command that wrote it and the commit it is of, in docs/records.md.

New records name their commit. For older ones records/commits.json has the commit in which the file last changed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from research.pages.sections import filled
from research.places import Places

KINDS = {
    "bench": "Benchmarks and studies",
    "bench/spark": "On Spark",
    "comparisons": "Comparisons of models",
    "claims": "Claims",
    "neural": "Longer runs by gradients",
    "optimisers": "Optimisers",
    "paired": "Tests of models of several comparisons, two by two",
    "students": "Students",
    "records": "Attacks",
}
STAMPS = "commits.json"
SHORT = 10  # digits of a commit


def made(name: str, places: Places) -> str:
    """Return the page with a table for each kind of record."""
    text = (places.docs / f"{name}.md").read_text(encoding="utf-8")
    titles = {title: folder for folder, title in KINDS.items()}

    def content(section: str) -> str | None:
        folder = titles.get(section.splitlines()[0].removeprefix("## "))
        return None if folder is None else _table(places, folder)

    return filled(text, content)


def _table(places: Places, folder: str) -> str:
    stamps = json.loads((places.records / STAMPS).read_text(encoding="utf-8"))
    rows = ["| record | written by | commit |", "|---|---|---|"]
    within = places.records if folder == places.records.name else places.records / folder
    for file in sorted(file for file in within.glob("*.json") if file != places.records / STAMPS):
        record = json.loads(file.read_text(encoding="utf-8"))
        name = file.relative_to(places.records).as_posix()
        link = places.link(file).replace(places.name(file), file.name, 1)
        rows.append(f"| {link} | `{command_of(record, file)}` | {commit_of(record, stamps.get(name))} |")
    return "\n".join([*rows, ""])


def command_of(record: dict[str, Any], file: Path) -> str:
    """Return the command that a record names, or the one that its benchmark is run with."""
    if "command" in record:
        return " ".join(str(record["command"]).split()).replace("|", r"\|")
    if "builds" in record:
        return "; ".join(str(one["command"]) for one in record["builds"].values())
    if "benchmark" in record:
        return f"python -m research.bench {record['benchmark']} --json research/records/bench/{file.name}"
    if "tests" in record:
        return f"python -m research.comparisons pairs {file.stem}"
    return "chosen by hand from earlier searches"


def commit_of(record: dict[str, Any], stamp: str | None) -> str:
    """Return the commit of a record; one with changes that were not committed says so.

    >>> commit_of({"commit": "0123456789abcdef-dirty"}, None), commit_of({}, "fedcba9876")
    ('`0123456789` and changes', 'in `fedcba9876`')
    """
    parts = record.get("attacks") or record.get("builds") or {}
    own = record.get("commit") or next((one.get("commit") for one in parts.values()), None)
    if own:
        return f"`{own[:SHORT]}`{' and changes' if own.endswith('-dirty') else ''}"
    return f"in `{stamp[:SHORT]}`" if stamp else "–"
