"""`taylorank datasets`: what a person sees, and what a program reads."""

import json
import re
from functools import partial

import polars as pl
import pytest
from rich.console import Console

from taylorank.cli.datasets import app
from taylorank.data.interactions import Interactions
from taylorank.errors import DataError, ParameterError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TAYLORANK_DATA", str(tmp_path))
    monkeypatch.setenv("TAYLORANK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    ratings = {"user": [1, 1, 2], "item": [3, 4, 3], "rating": [5, 1, 4], "timestamp": [10**9, 2 * 10**8, 10**9]}
    pl.DataFrame(ratings).write_parquet(tmp_path / "ml-1m.parquet")
    return tmp_path


def run(*words):
    app(list(words), result_action="return_value", exit_on_error=False, print_error=False)


def test_list_shows_what_is_here(folder, capsys):
    run("list")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["name", "title", "here", "cleanings"]
    row = next(line for line in lines if line.startswith("ml-1m "))
    assert "MovieLens 1M" in row
    assert "yes" in row
    assert "raw, paper" in row


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_lists_fit_a_terminal_and_cut_no_name(folder, capsys, monkeypatch, width):
    monkeypatch.setattr("taylorank.cli.datasets.Console", partial(Console, width=width, force_terminal=True))
    for command in (["list"], ["stats", "ml-1m"]):
        run(*command)
        table = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).split("read ml-1m")[0]
        assert max(map(len, table.splitlines())) <= width
        names = {"amazon-electronics", "wikispeedia-links"} if command == ["list"] else {"interactions"}
        assert names <= set(re.split(r"[\s,]+", table))


def test_list_as_json(folder, capsys):
    run("list", "--json", "-", "--quiet")
    sets = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)["datasets"]}
    assert sets["ml-1m"]["found"] == "yes"
    assert sets["ml-10m"]["files"][0]["checksum"].startswith("md5:")
    paper = next(p for p in sets["ml-10m"]["cleanings"] if p["name"] == "paper")
    assert paper["counts"] == {"users": 69815, "items": 9888, "interactions": 8240192}


def test_get_prints_the_place_and_the_terms(folder, capsys):
    run("get", "ml-1m")
    out = capsys.readouterr().out.splitlines()
    assert out[0] == str(folder / "ml-1m.parquet")
    assert out[1].startswith("terms: GroupLens")
    assert len(out) == 2


def test_get_with_a_cleaning_compares_with_known_counts(folder, capsys):
    run("get", "ml-1m", "--cleaning", "raw", "--out", "data.npz")
    out = capsys.readouterr().out
    assert "raw (every pair, uncleaned): 2 users × 2 items, 3 interactions" in out
    assert "expected were 6,040 users × 3,706 items, 1,000,209 interactions" in out
    assert Interactions.load_npz(folder / "data.npz").nnz == 3


def test_get_refuses_another_ending_before_any_work(folder):
    with pytest.raises(ParameterError, match=r"cannot write data\.csv; give a name that ends in \.npz"):
        run("get", "ml-10m", "--out", "data.csv")


def test_stats_of_a_data_set(folder, capsys):
    run("stats", "ml-1m")
    out = capsys.readouterr().out
    for words in (
        "interactions",
        "75 %",
        "1 / 1.5 / 1.5 / 2",
        "Gini",
        "top 1 %",
        "1976-05-03T19:33:20",
        "data set ml-1m",
    ):
        assert words in out


def test_stats_of_a_file_as_json(folder, capsys):
    (folder / "log.csv").write_text("user,item\na,x\na,y\nb,x\n")
    run("stats", "log.csv", "--json", "-")
    facts = json.loads(capsys.readouterr().out)
    assert (facts["users"], facts["items"], facts["interactions"]) == (2, 2, 3)
    assert facts["per_user"] == {"min": 1, "median": 1.5, "mean": 1.5, "max": 2}
    assert facts["first"] is None
    assert facts["steps"][0]["interactions"] == 3


@pytest.mark.parametrize("words", [("get", "ml1m"), ("stats", "ml1m")])
def test_errors_reach_the_caller_as_one_line(folder, words):
    with pytest.raises(DataError, match="did you mean ml-1m") as raised:
        run(*words)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("command", ["list", "get", "stats"])
def test_help_has_an_example(capsys, command):
    run(command, "--help")
    assert f"Example: taylorank datasets {command}" in capsys.readouterr().out
