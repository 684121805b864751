"""The pages that are made are those that are committed."""

from __future__ import annotations

import re

import pytest

from research.pages import PAGES, made, more
from research.places import HERE
from taylorank.errors import ParameterError

NEEDS_TORCH = ("losses", "optimisers")


@pytest.mark.parametrize("name", PAGES)
def test_the_committed_page_says_what_the_records_hold(name):
    if name in NEEDS_TORCH:
        pytest.importorskip("torch")
    for page, text in {name: made(name), **more(name)}.items():
        assert text == (HERE.docs / f"{page}.md").read_text(encoding="utf-8"), f"run python -m research.pages {name}"


def test_papers_are_named_as_a_reader_knows_them():
    """By authors and year, in pages and records alike, never by the number of a file."""
    for path in (*HERE.docs.rglob("*.md"), *HERE.records.rglob("*.json")):
        found = re.search(r"(?<![\w.,])00[0-9](?![\w.,])", path.read_text(encoding="utf-8"))
        assert found is None, path


def test_the_command_writes_pages_and_refuses_others(run, monkeypatch, capsys):
    written = []
    monkeypatch.setattr("research.pages.command.write", lambda name: written.append(name) or name == "results")
    assert run("pages", "results", "claims") == 0
    assert written == ["results", "claims"]
    assert capsys.readouterr().out == "docs/results.md: changed\ndocs/claims.md: as it was\n"
    assert run("pages", "results", "nothing") == 2
    assert written == ["results", "claims"]
    assert "no page 'nothing' is made here; choose from claims, benchmarks/fits," in capsys.readouterr().err
    with pytest.raises(ParameterError, match="no page"):
        made("nothing")
