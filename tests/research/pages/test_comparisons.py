"""The page of results says what the records say."""

from __future__ import annotations

from pathlib import Path

import pytest
from taylorank.report.markdown import LINK, main, refreshed

import taylorank as tr

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("name", ["results.md", "neural.md"])
def test_the_committed_pages_agree_with_their_records(name):
    page = (DOCS / name).read_text()
    assert LINK.search(page)
    assert refreshed(page, DOCS).rstrip() == page.rstrip()


def test_every_record_is_shown():
    records = {f"reports/{path.name}" for path in (DOCS / "reports").glob("*.json")}
    shown = "".join(
        (DOCS / name).read_text() for name in ("results.md", "neural.md", "reproduction.md", "optimisers.md")
    )
    assert records
    assert all(f"]({name})" in shown for name in records)


def test_sections_are_filled_from_their_records(tmp_path):
    (tmp_path / "reports").mkdir()
    found = tr.compare(
        tr.planted(100, 40, interactions=1500), ["ease", "popularity"], seeds=(0,), trials=0, command="c d"
    )
    found.save(tmp_path / "reports" / "a.json")
    page = tmp_path / "page.md"
    page.write_text("# T\n\n## A\n\nWords [record](reports/a.json).\n\n<!-- found -->\nold\n\n## B\n\nNothing.\n")
    main(page)
    text = page.read_text()
    assert "| EASE | **0." in text
    assert "    c d\n" in text
    assert "old" not in text
    assert text.endswith("## B\n\nNothing.\n")
    main(page)
    assert page.read_text() == text
