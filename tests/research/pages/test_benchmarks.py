"""The page of benchmarks holds what the records say, and nothing where there is no record."""

from __future__ import annotations

import json

from research.pages import write
from research.pages.benchmarks import COMMAND
from research.places import HERE, Places

ELSEWHERE = {  # on pages of their own
    "research/records/bench/commits.json",
    "research/records/bench/encoder_students.json",
}


def test_every_file_has_its_section():
    named = {match[2] for match in COMMAND.finditer((HERE.docs / "benchmarks.md").read_text(encoding="utf-8"))}
    assert {HERE.name(path) for path in (HERE.records / "bench").glob("*.json")} - ELSEWHERE == named


def test_new_numbers_reach_the_page(tmp_path):
    places = Places(tmp_path)
    file, page = places.records / "bench" / "read.json", places.docs / "benchmarks.md"
    for folder in (file.parent, page.parent):
        folder.mkdir(parents=True)
    record = json.loads((HERE.records / "bench" / "read.json").read_text())
    record["results"][0]["contenders"]["taylorank"]["seconds"] = 987.65
    file.write_text(json.dumps(record))
    command = "    python -m research.bench read --json research/records/bench/read.json\n"
    empty = f"# Page\n\n## read\n\n{command}\nWords.\n"
    page.write_text(empty)
    assert write("benchmarks", places)
    once = page.read_text()
    assert once.startswith(f"# Page\n\n## read\n\n{command}\nWords.\n\n    csv: 987.65 s")
    assert not write("benchmarks", places)
    page.write_text(once.replace("987.65", "1.00"))
    write("benchmarks", places)
    assert page.read_text() == once
    file.unlink()
    write("benchmarks", places)
    assert page.read_text() == empty  # no file, no numbers
