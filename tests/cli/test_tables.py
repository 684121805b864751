"""Tables of the command line adapt to the terminal, and cut no name."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from taylorank.cli.run import SHOWN, print_results
from taylorank.cli.tables import print_table

HEAD = ["recall@20", "factors", "regularization", "proposal_exponent", "context_exponent", "popularity_discount"]
ROWS = [["0.1234", "1024", "0.25", "0.5", "1.25", "0.05"], ["0.1200", "64", "[red]", "0.5", "", "0.1"]]


def printed(width: int, *, terminal: bool) -> str:
    file = io.StringIO()
    print_table(HEAD, ROWS, Console(file=file, width=width, force_terminal=terminal, color_system=None))
    return file.getvalue()


@pytest.mark.parametrize("width", [20, 40, 80, 100, 200])
@pytest.mark.parametrize("terminal", [True, False])
def test_every_name_and_value_is_there_in_full(width, terminal):
    shown = printed(width, terminal=terminal)
    assert "…" not in shown
    words = shown.split()
    for text in [*HEAD, *(cell for row in ROWS for cell in row if cell)]:
        halves = [part for part in text.replace("_", "_ ").split() if part]  # a head may stand in two lines
        assert text in words or f"{text}," in words or all(half in words for half in halves)


def test_heads_stand_in_two_lines_where_that_makes_room():
    lines = printed(80, terminal=True).splitlines()
    assert "proposal_" in lines[0]
    assert "exponent" in lines[1]
    assert len(lines) == 3 + len(ROWS)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width):
    assert max(map(len, printed(width, terminal=True).splitlines())) <= width


def test_a_pipe_has_one_line_for_each_row():
    assert len(printed(40, terminal=False).splitlines()) == 2 + len(ROWS)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_the_table_of_run_fits_a_terminal(width):
    file, metrics = io.StringIO(), dict.fromkeys(SHOWN, 0.125)
    results = [
        {"model": "Popularity", "metrics": metrics, "settings": 24, "fit_seconds": 4.44},
        {"model": "best possible", "metrics": metrics},
    ]
    print_results(results, Console(file=file, width=width, force_terminal=True, color_system=None))
    assert max(map(len, file.getvalue().splitlines())) <= width
    assert "best possible" in file.getvalue()
    assert "…" not in file.getvalue()
