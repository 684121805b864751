"""`taylorank tune`: a log in, parameters, advice and a model out."""

from __future__ import annotations

import json

import pytest
from rich.console import Console

import taylorank as tr
from tests.cli.command import run


@pytest.fixture
def log(tmp_path):
    tr.planted(120, 60, interactions=2000, random_state=2).to_frame().write_csv(tmp_path / "log.csv")
    return tmp_path / "log.csv"


def test_tune_writes_model_trials_and_json(log, tmp_path, capsys):
    out, file, report = tmp_path / "m.tr", tmp_path / "trials.jsonl", tmp_path / "tuning.json"
    command = ("tune", str(log), "--model", "rg2", "--trials", "3", "--metric", "recall@5")
    command += ("--out", str(out), "--file", str(file), "--json", str(report))
    assert run(*command) == 0
    shown = capsys.readouterr().out
    document = json.loads(report.read_text())
    assert document["metric"] == "recall@5"
    assert document["refitted"] is True
    assert len({trial["fit"] for trial in document["trials"]}) == 3
    assert len(file.read_text().splitlines()) == 1 + len(document["trials"])
    assert all(line in shown for line in document["advice"])
    assert f"{document['value']:.4f}" in shown
    model = tr.load(out)
    assert {name: model.get_params()[name] for name in document["best"]} == document["best"]
    assert model.seen.nnz == tr.read_interactions(log).nnz
    assert run(*command) == 0  # from the file
    assert json.loads(report.read_text())["trials"] == document["trials"]


def test_json_goes_to_standard_output(log, capsys):
    assert run("tune", str(log), "--model", "itemknn", "--trials", "1", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["name"] == "itemknn"


def test_groups_can_be_held_back(log, tmp_path, capsys):
    files = [tmp_path / f"{kind}.json" for kind in ("random", "blocks")]
    for file in files:
        command = (
            "tune",
            str(log),
            "--model",
            "itemknn",
            "--trials",
            "2",
            "--hold-out",
            file.stem,
            "--json",
            str(file),
        )
        assert run(*command) == 0
    random, blocks = (json.loads(file.read_text()) for file in files)
    assert [t["params"] for t in random["trials"]] == [t["params"] for t in blocks["trials"]]
    assert random["value"] != blocks["value"]
    capsys.readouterr()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ((), "held back: the last 10 % of each user's items, as their order is known"),
        (("--timestamp", ""), "held back: a random 10 % of each user's items, as the data has no times"),
        (("--hold-out", "random"), "held back: a random 10 % of each user's items, as asked for"),
    ],
)
def test_what_came_last_is_held_back_where_it_is_known(log, options, line, capsys):
    assert run("tune", str(log), "--model", "popularity", *options) == 0
    assert line in capsys.readouterr().out


def test_columns_that_tell_nothing_are_left_out(log, monkeypatch, capsys):
    """On a terminal of 80 columns the trials are a table, without what is the same in every row."""
    monkeypatch.setattr(
        "taylorank.cli.tune.text_console", lambda *_: Console(width=80, force_terminal=True, color_system=None)
    )
    assert run("tune", str(log), "--trials", "6") == 0
    shown = capsys.readouterr().out
    lines = shown[shown.index("chosen:") :].splitlines()
    (start,) = [number for number, line in enumerate(lines) if line.startswith("ndcg@10")]
    head = " ".join(lines[start : start + 2])
    assert "status" not in head
    assert "users" not in head
    assert lines[start + 1].startswith("──") or lines[start + 2].startswith("──")
    assert max(map(len, lines[start : start + 14])) <= 80


def test_tune_is_quiet_when_told(log, capsys):
    assert run("tune", str(log), "--model", "popularity", "--quiet") == 0
    assert capsys.readouterr().out == ""


def test_an_interrupted_search_shows_what_it_found(log, tmp_path, monkeypatch, capsys):
    original, fits = tr.RG2.fit, []

    def fit(self, *args, **kwargs):
        fits.append(self)
        if len(fits) == 2:
            raise KeyboardInterrupt
        return original(self, *args, **kwargs)

    monkeypatch.setattr(tr.RG2, "fit", fit)
    assert run("tune", str(log), "--trials", "4", "--out", str(tmp_path / "m.tr")) == 0
    shown = capsys.readouterr().out
    assert "interrupted; " in shown
    assert "no model was written" in shown
    assert not (tmp_path / "m.tr").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere.csv",), "no such file"),
        (("LOG", "--model", "rg7"), "no model is called 'rg7'"),
        (("LOG", "--metric", "ndcg"), "has no cutoff"),
        (("LOG", "--metric", "fame@10"), "no metric is called"),
        (("LOG", "--trials", "0"), "trials=0"),
        (("LOG", "--seconds", "-1"), "seconds=-1"),
        (("LOG", "--valid", "1"), "not a share"),
        (("LOG", "--hold-out", "first"), "first"),
        (("LOG", "--hold-out", "last", "--timestamp", ""), "what came last is unknown"),
        (("LOG", "--file", "LOG"), "not the file of a tuning run"),
        (("LOG", "--out", "/proc/x/m.tr"), "cannot write"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, words, log, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    before = log.read_bytes()
    assert run("tune", *[str(log) if a == "LOG" else a for a in arguments]) == 2
    complaint = capsys.readouterr().err
    assert words in complaint
    assert complaint.count("\n") == 1
    assert log.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["log.csv"]


def test_help_has_an_example(capsys):
    run("tune", "--help")
    assert "Example: taylorank tune ml-1m" in capsys.readouterr().out
