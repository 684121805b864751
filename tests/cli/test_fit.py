"""`taylorank fit`: a log in, a model that can be used out."""

from __future__ import annotations

import json

import pytest

import taylorank as tr
from tests.cli.command import run


@pytest.fixture
def log(tmp_path):
    tr.planted(60, 30, interactions=700, random_state=2).to_frame().write_csv(tmp_path / "log.csv")
    return tmp_path / "log.csv"


def test_a_log_becomes_a_model_that_recommends(log, tmp_path, capsys):
    out, record = tmp_path / "m.tr", tmp_path / "m.json"
    command = ("fit", str(log), "--seconds", "3", "--metric", "recall@5", "--out", str(out), "--json", str(record))
    assert run(*command) == 0
    shown = capsys.readouterr().out
    selection = json.loads(record.read_text())
    assert "held back: the last 10 % of each user's items" in shown
    assert f"chosen: {selection['chosen']}, with the highest recall@5" in shown
    assert f"written: {out}" in shown
    model = tr.load(out)
    assert type(model).__name__ == selection["chosen"]
    assert model.seen.nnz == 700
    assert run("recommend", str(out), "--user", "7", "-n", "3") == 0


def test_it_is_quiet_when_told_and_writes_json_to_standard_output(log, tmp_path, capsys):
    command = ("fit", str(log), "--seconds", "0.5", "--out", str(tmp_path / "m.tr"))
    assert run(*command, "--quiet") == 0
    assert capsys.readouterr() == ("", "")
    assert run(*command, "--json", "-", "--hold-out", "random") == 0
    assert json.loads(capsys.readouterr().out)["held_back"].endswith("as asked for")


@pytest.mark.parametrize("keeps", [False, True])
def test_a_chosen_student_is_saved_without_its_teacher_unless_told(log, tmp_path, monkeypatch, capsys, keeps):
    def chosen(data, **how):
        model = tr.Distilled(tr.RG2(4), factors=3, steps=5).fit(data)
        vars(model)["selection_"] = None
        return model

    monkeypatch.setattr("taylorank.cli.fit.fit_best", chosen)
    command = ["fit", str(log), "--out", str(tmp_path / "m.tr"), *(["--keep-teacher"] if keeps else [])]
    assert run(*command) == 0
    assert ("without its teacher" in capsys.readouterr().out) is (not keeps)
    assert hasattr(tr.load(tmp_path / "m.tr"), "teacher_") is keeps


def test_an_interruption_saves_the_best_so_far(log, tmp_path, monkeypatch, capsys):
    def fit(self, *args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(tr.RG2, "fit", fit)
    assert run("fit", str(log), "--out", str(tmp_path / "m.tr")) == 0
    assert "interrupted: the best so far is returned" in capsys.readouterr().out
    assert isinstance(tr.load(tmp_path / "m.tr"), tr.Popularity)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere.csv",), "no such file"),
        (("LOG", "--metric", "ndcg"), "has no cutoff"),
        (("LOG", "--seconds", "0"), "seconds=0.0 is not a time"),
        (("LOG", "--seconds", "soon"), "soon"),
        (("LOG", "--hold-out", "first"), "first"),
        (("LOG", "--hold-out", "last", "--timestamp", ""), "what came last is unknown"),
        (("LOG", "--device", "abacus"), "abacus"),
        (("LOG", "--out", "/proc/x/m.tr"), "cannot write"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, words, log, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    given = [str(log) if argument == "LOG" else argument for argument in arguments]
    given += [] if "--out" in given else ["--out", "m.tr"]
    assert run("fit", *given) == 2
    complaint = capsys.readouterr().err
    assert words in complaint
    assert complaint.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


def test_help_has_an_example(capsys):
    run("fit", "--help")
    assert "Example: taylorank fit ratings.csv" in capsys.readouterr().out
