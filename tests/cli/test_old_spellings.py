"""Options as they were spelled before: they work, and a line says what to write."""

from __future__ import annotations

import json
import re
import warnings

import polars as pl
import pytest

import taylorank as tr
from taylorank.cli.old_spellings import respelled
from tests.cli.command import run


@pytest.fixture(autouse=True)
def shown_warnings():
    """As on a command line: warnings are printed, not raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A data set under a public name, and a model of it."""
    folder = tmp_path_factory.mktemp("spellings")
    data = tr.planted(60, 30, interactions=800, random_state=1)
    table = data.to_frame().with_columns(rating=pl.Series([1, 5, 4, 3] * (data.nnz // 4)))
    table.write_parquet(folder / "ml-1m.parquet")
    tr.RG2(factors=3).fit(data).save(folder / "m.tr")
    return folder


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("TAYLORANK_DATA", str(folder))
    monkeypatch.setenv("TAYLORANK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return str(folder / "m.tr")


def outcome(capsys, *words):
    """What a command prints without its running time, and its warnings."""
    assert run(*words) == 0
    shown = capsys.readouterr()
    lines = [line for line in shown.out.splitlines() if "seconds" not in line and " s" not in line]
    return [re.sub(r"\b\d+\.\d\d\b", "", line) for line in lines], shown.err  # seconds of a table have two decimals


@pytest.mark.parametrize(
    "words",
    [
        ("train", "ml-1m", "--factors", "3", "--out", "new.tr"),
        ("tune", "ml-1m", "--model", "popularity"),
        ("evaluate", "MODEL", "ml-1m"),
        ("diagnose", "MODEL", "ml-1m"),
        ("datasets", "get", "ml-1m"),
        ("datasets", "stats", "ml-1m"),
    ],
)
@pytest.mark.filterwarnings("default")
def test_protocol_is_taken_for_cleaning(words, here, capsys):
    words = [here if word == "MODEL" else word for word in words]
    new, no_warning = outcome(capsys, *words, "--cleaning", "paper")
    assert "deprecated" not in no_warning
    for spelling in (("--protocol", "paper"), ("--protocol=paper",)):
        old, warning = outcome(capsys, *words, *spelling)
        assert old == new
        assert "taylorank: warning: --protocol is deprecated here; write --cleaning\n" in warning
    assert run(*words, "--cleaning", "papers") == 2
    assert "ml-1m has no cleaning 'papers'; choose one of: raw, paper" in capsys.readouterr().err


def test_in_compare_protocol_is_how_data_are_split(here, capsys):
    command = ("compare", "ml-1m", "--models", "popularity", "--seeds", "1", "--trials", "0", "--json", "c.json")
    assert run(*command, "--protocol", "held-out-users", "--cleaning", "paper") == 0
    assert capsys.readouterr().err == ""
    with open("c.json") as file:
        record = json.load(file)
    assert record["protocol"]["name"] == "held-out-users"
    assert "--protocol held-out-users --cleaning paper" in record["command"]


@pytest.mark.parametrize(
    "words",
    [("recommend", "MODEL", "--for-user", "3"), ("datasets", "list"), ("datasets", "stats", "ml-1m")],
)
def test_json_without_a_file_goes_to_standard_output(words, here, capsys):
    words = [here if word == "MODEL" else word for word in words]
    assert run(*words, "--json", "-") == 0
    new = capsys.readouterr()
    assert new.err == ""
    for old in ([*words, "--json"], [*words, "--json", "--quiet"]):
        assert run(*old) == 0
        shown = capsys.readouterr()
        assert json.loads(shown.out) == json.loads(new.out)
        assert shown.err == "taylorank: warning: --json without a file is deprecated; write --json -\n"
    assert run(*words, "--json", "results.json") == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out.endswith("written: results.json\n")
    with open("results.json") as file:
        assert json.load(file) == json.loads(new.out)


def test_user_is_another_name_of_for_user(here, capsys):
    assert run("recommend", here, "--for-user", "3", "--for-user", "7", "-n", "4") == 0
    new = capsys.readouterr()
    assert run("recommend", here, "--user", "3", "--user", "7", "-n", "4") == 0
    assert capsys.readouterr() == new
    assert new.err == ""


def test_words_that_are_no_old_spelling_stay():
    words = ["recommend", "m.tr", "--json", "x.json", "--protocol", "paper"]
    assert respelled(words) == words
    assert respelled([]) == []
