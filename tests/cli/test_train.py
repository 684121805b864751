"""`taylorank train` and `recommend`: a log in, lists out."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import taylorank as tr
from tests.cli.command import run


@pytest.fixture
def log(tmp_path):
    data = tr.planted(120, 60, interactions=2000, random_state=2)
    frame = data.to_frame().with_columns(user=pl.format("u{}", "user"))
    frame.write_csv(tmp_path / "log.csv")
    return tmp_path / "log.csv"


def test_train_then_recommend(log, tmp_path, capsys):
    model = tmp_path / "model.tr"
    assert run("train", str(log), "--factors", "8", "--core", "3", "--out", str(model)) == 0
    assert "written" in capsys.readouterr().out
    assert run("recommend", str(model), "--for-user", "u5", "--for-user", "u7", "-n", "4", "--json", "-") == 0
    lists = json.loads(capsys.readouterr().out)
    fitted = tr.load(model)
    ids, scores = fitted.recommend(["u5", "u7"], 4)
    assert [entry["items"] for entry in lists] == ids.tolist()
    np.testing.assert_allclose(lists[0]["scores"], scores[0])
    assert run("recommend", str(model), "--for-user", "u5") == 0
    assert "u5" in capsys.readouterr().out


def test_recommend_to_all_writes_parquet(log, tmp_path, capsys):
    model, out = tmp_path / "m.tr", tmp_path / "recs.parquet"
    assert run("train", str(log), "--factors", "4", "--out", str(model), "--quiet") == 0
    assert run("recommend", str(model), "--all", "--out", str(out), "-n", "5", "--quiet") == 0
    assert capsys.readouterr().out == ""
    table = pl.read_parquet(out)
    assert table.columns == ["user", "rank", "item", "score"]
    assert table["user"].n_unique() == 120
    assert table.filter(pl.col("rank") > 5).is_empty()
    fitted = tr.load(model)
    first = table.filter(pl.col("user") == "u9").sort("rank")["item"].to_list()
    assert first == fitted.recommend(["u9"], 5)[0][0].tolist()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("train", "LOG", "--factors", "5000", "--out", "m.tr"), "exceeds the smaller side"),
        (("train", "LOG", "--factors", "4", "--regularization", "2", "--out", "m.tr"), "outside [0, 1)"),
        (("train", "nowhere.csv", "--out", "m.tr"), "no such file"),
        (("train", "LOG", "--out", "/proc/x/m.tr"), "cannot write"),
        (("recommend", "nowhere.tr", "--for-user", "1"), "no such file"),
        (("recommend", "LOG", "--for-user", "1"), "not a model"),
        (("train", "LOG", "--out", "m.tr", "--model", "ials", "--path"), "--path keeps the SVD of rg2 or rgx"),
        (("train", "LOG", "--out", "m.tr", "--path", "--no-seen"), "--path keeps the SVD of rg2 or rgx"),
        (("recommend", "LOG"), "give --for-user or --all"),
        (("recommend", "LOG", "--all"), "--all needs a file"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, words, log, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(*[str(log) if a == "LOG" else a for a in arguments]) == 2
    complaint = capsys.readouterr().err
    assert words in complaint
    assert complaint.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["log.csv"]


def test_a_model_can_keep_its_path(log, tmp_path):
    assert run("train", str(log), "--factors", "4", "--out", str(tmp_path / "m.tr"), "--path") == 0
    assert [model.factors for model in tr.load(tmp_path / "m.tr").path([2, 4], [0.1])] == [2, 4]


def test_a_data_set_that_comes_with_the_library_is_trained_on_by_its_name(tmp_path):
    assert run("train", "thesaurus", "--factors", "4", "--out", str(tmp_path / "m.tr"), "--quiet") == 0
    assert "moon" in tr.load(tmp_path / "m.tr").items.values


def test_unknown_users_are_named(tmp_path, capsys):
    data = tr.planted(30, 20, interactions=200)
    tr.RG2(factors=2).fit(data).save(tmp_path / "m.tr")
    for user, words in (("999", "unknown user 999"), ("bob", "unknown user 'bob' (ids here are integers)")):
        assert run("recommend", str(tmp_path / "m.tr"), "--for-user", user) == 2
        assert words in capsys.readouterr().err
