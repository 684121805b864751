"""The page of results says what the records say."""

from __future__ import annotations

import taylorank as tr
from research.pages import write
from research.places import HERE, Places


def test_every_record_is_shown():
    names = ("results", "neural", "reproduction", "optimisers")
    shown = "".join((HERE.docs / f"{name}.md").read_text(encoding="utf-8") for name in names)
    records = list(HERE.comparisons.glob("*.json"))
    assert records
    assert all(f"]{HERE.link(path).partition(']')[2]}" in shown for path in records)


def test_sections_are_filled_from_their_records(tmp_path):
    places = Places(tmp_path)
    for folder in (places.docs, places.comparisons):
        folder.mkdir(parents=True, exist_ok=True)
    found = tr.compare(
        tr.planted(100, 40, interactions=1500), ["ease", "popularity"], seeds=(0,), trials=0, command="c d"
    )
    found.save(places.comparisons / "a.json")
    page = places.docs / "results.md"
    link = places.link(places.comparisons / "a.json").partition("]")[2]
    page.write_text(f"# T\n\n## A\n\nWords [record]{link}.\n\n<!-- found -->\nold\n\n## B\n\nNothing.\n")
    assert write("results", places)
    text = page.read_text()
    assert "| EASE | **0." in text
    assert "    c d\n" in text
    assert "\nold\n" not in text
    assert text.endswith("## B\n\nNothing.\n")
    assert not write("results", places)
    assert page.read_text() == text
