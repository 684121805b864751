"""The page of reliability: the figures of the record, and tests that are there."""

from __future__ import annotations

import ast
import re

from research.pages.reliability import parts, sanitized, table
from research.places import HERE

FOUND = {
    "command": "python -m research.attack kills",
    "commit": "0123456789abcdef",
    "machine": {"cpu": "A", "cores": 2},
    "says": "Kills.",
    "tried": 1234,
    "result": 1230,
    "refused": 0,
    "skipped": 5,
    "crash": 1,
    "hang": 2,
    "exception": 0,
    "difference": 3,
    "seconds": 61.4,
    "parts": {"kills of save": 2000},
    "measures": {"server MiB": {"first": 100.0, "highest": 120.5, "last": 110.0}},
    "faults": [],
}


def test_the_table_has_every_figure():
    lines = table({"kills": FOUND}).splitlines()
    assert lines[2] == "| **kills**: Kills. | 1,234 | 1 | 2 | 0 | 3 | 5 | 61 |"
    assert lines[-1] == "- kills: `python -m research.attack kills`, commit 0123456789ab; A, 2 cores"
    assert "| kills | kills of save | 2,000 |" in parts({"kills": FOUND})
    assert "| kills | server MiB | first 100, highest 120.5, last 110 |" in parts({"kills": FOUND})


def test_faults_are_named_one_by_one():
    assert "No fault was found." in table({"kills": FOUND}).splitlines()
    found = {**FOUND, "faults": [{"seed": 7, "fault": "hang", "what": "no answer after 60 s"}]}
    lines = table({"kills": found}).splitlines()
    assert "No fault was found." not in lines
    assert "- *kills*, seed 7: hang, `no answer after 60 s`" in lines


def test_every_build_with_sanitizers_has_a_row():
    attack = {**FOUND, "faults": [{"seed": 3}]}
    lines = sanitized({"thread": {**FOUND, "says": "Threads", "tests": 1500, "skipped": 7, "attack": attack}})
    assert "| Threads | 1,500 | 7 | 1,234 | 1 |" in lines
    assert lines.endswith("commit 0123456789ab; A, 2 cores")


def test_every_test_that_the_page_names_is_there():
    named = re.findall(r"`(tests/\S+\.py)::(test_\w+)`", (HERE.docs / "reliability.md").read_text(encoding="utf-8"))
    assert len(named) > 30
    for file, name in named:
        tree = ast.parse((HERE.root / file).read_text(encoding="utf-8"))
        assert name in {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}, f"{file}::{name}"


def test_every_defect_of_the_page_names_a_test():
    page = (HERE.docs / "reliability.md").read_text(encoding="utf-8").partition("## Defects")[2]
    rows = [line for line in page.splitlines() if line.startswith("|") and not line.startswith(("|---", "| defect"))]
    assert len(rows) > 30
    assert [row for row in rows if not re.search(r"\| `tests/\S+::test_\w+`", row)] == []
