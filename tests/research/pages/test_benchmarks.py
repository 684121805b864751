"""The pages of benchmarks hold what the records say, and nothing where there is no record."""

from __future__ import annotations

import json
import re

import pytest

from research.pages import TOPICS, write
from research.pages.benchmarks import PLACE
from research.pages.sections import sections
from research.pages.tables import Table
from research.places import HERE, Places

BY_COMMIT = "commits.json"  # has a page of its own
PAGES = [HERE.docs / f"{name}.md" for name in (*(f"benchmarks/{topic}" for topic in TOPICS), "splits", "students")]
SECTIONS = [
    section
    for page in PAGES[: len(TOPICS)]
    for section in sections(page.read_text(encoding="utf-8"))
    if PLACE.search(section)
]


def test_every_file_has_its_section():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = [match[3] for match in PLACE.finditer(text)]
    assert sorted(named) == sorted(set(named))
    there = {path.name for path in (HERE.records / "bench").glob("*.json")} - {BY_COMMIT}
    assert there <= set(named)
    for name in set(named) - there:
        assert re.search(rf"Not measured yet: .*/{name}`", text), name


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.splitlines()[0][3:40])
def test_what_a_section_says_first_is_in_its_tables(section):
    """The numbers of the sentences before the tables stand in the tables."""
    said, _, made = section.partition("<!-- bench:")
    words = re.sub(r"\]\([^)]*\)", "", said.split("<details")[0].split("\n", 1)[1])
    tables = made.partition("<!-- end -->")[0]
    for number in re.findall(r"\d+\.\d+", words):
        assert number in tables, number


@pytest.fixture
def places(tmp_path):
    places = Places(tmp_path)
    for folder in (places.records / "bench", places.docs / "benchmarks"):
        folder.mkdir(parents=True)
    return places


def test_new_numbers_reach_the_page(places):
    file, page = places.records / "bench" / "read.json", places.docs / "benchmarks" / "fits.md"
    record = json.loads((HERE.records / "bench" / "read.json").read_text())
    record["results"][0]["contenders"]["taylorank"]["seconds"] = 987.65
    file.write_text(json.dumps(record))
    first = "# Page\n\n## read\n\nWords.\n\n<!-- bench: read read.json -->\n"
    last = "<!-- end -->\n\nHow it was measured.\n"
    page.write_text(first + last)
    assert write("benchmarks/fits", places)
    once = page.read_text()
    assert once.startswith(first)
    assert once.endswith(last)
    assert "| csv | 987.65 s |" in once
    assert "[read.json](../../research/records/bench/read.json), " in once
    assert not write("benchmarks/fits", places)
    page.write_text(once.replace("987.65", "1.00"))
    write("benchmarks/fits", places)
    assert page.read_text() == once
    file.unlink()
    write("benchmarks/fits", places)
    assert page.read_text().removeprefix(first).removesuffix(last).split("`")[1::2] == [
        "python -m research.bench read --json research/records/bench/read.json"
    ]


def test_long_tables_are_folded_and_numbers_stand_to_the_right():
    short = Table(["", "s", "by"], [["a", "1.0 s", "us"], ["b", "–", "1 of them, whom nobody knows"]])
    assert short.markdown().splitlines()[1] == "|---|---:|---|"
    long = Table(["", "s"], [["a", "1"]] * 21, "Every one").markdown()
    assert long.startswith('<details class="more"><summary>Every one, 21 rows</summary>\n\n|')
    assert long.endswith("|\n\n</details>")
