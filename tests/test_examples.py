"""Every example runs, fits on a screen, and shows something."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))
LINES_OF_A_SCREEN = 45


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path, capsys):
    text = path.read_text(encoding="utf-8")
    if "altair" in text:
        pytest.importorskip("altair")
    names = runpy.run_path(str(path))
    assert capsys.readouterr().out
    if "chart = " in text:
        assert names["chart"].to_dict()["$schema"]
    assert len(text.splitlines()) <= LINES_OF_A_SCREEN


def test_there_are_enough():
    assert 8 <= len(EXAMPLES) <= 12
