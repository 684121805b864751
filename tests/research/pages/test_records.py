"""Every record is in the table, with its command and its commit."""

from __future__ import annotations

import json
import re

from research.pages.records import KINDS, STAMPS, command_of, commit_of
from research.places import HERE

PAGE = (HERE.docs / "records.md").read_text(encoding="utf-8")


def test_every_record_is_listed_once():
    files = [path for path in HERE.records.rglob("*.json") if path.name != STAMPS]
    folders = {path.parent.relative_to(HERE.records.parent).as_posix().removeprefix("records/") for path in files}
    assert folders == set(KINDS)
    for path in files:
        assert PAGE.count(f"](../research/records/{path.relative_to(HERE.records).as_posix()})") == 1, path


def test_every_record_has_a_commit_or_the_one_it_is_in():
    stamps = json.loads((HERE.records / STAMPS).read_text(encoding="utf-8"))
    for path in HERE.records.rglob("*.json"):
        if path.name != STAMPS:
            record = json.loads(path.read_text(encoding="utf-8"))
            shown = commit_of(record, stamps.get(path.relative_to(HERE.records).as_posix()))
            assert re.fullmatch(r"(in )?`[0-9a-f]{10}`( and changes)?", shown), path


def test_a_record_without_a_command_names_its_benchmark():
    file = HERE.records / "bench" / "als.json"
    assert command_of({"benchmark": "als"}, file).endswith("bench als --json research/records/bench/als.json")
    assert command_of({"command": "taylorank compare x | y"}, file) == r"taylorank compare x \| y"
