"""`taylorank evaluate`: a saved model and test data in, metrics out."""

from __future__ import annotations

import json

import polars as pl
import pytest

import taylorank as tr
from tests.cli.command import run


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """model.tr, valid.csv and test.csv, and what they were made of."""
    folder = tmp_path_factory.mktemp("evaluate")
    parts = tr.planted(150, 60, interactions=3000, random_state=2).split()
    model = tr.RG2(factors=6).fit(parts[0])
    model.save(folder / "model.tr")
    for name, part in zip(("valid", "test"), parts[1:], strict=True):
        part.to_frame().write_csv(folder / f"{name}.csv")
    return folder, model, parts


def test_the_table_and_the_file_say_what_evaluate_says(files, tmp_path, capsys):
    folder, model, (train, valid, test) = files
    out, users = tmp_path / "metrics.json", tmp_path / "users.parquet"
    arguments = ["evaluate", str(folder / "model.tr"), str(folder / "test.csv"), "--seen", str(folder / "valid.csv")]
    arguments += ["--k", "5,10", "--metrics", "ndcg,recall_min@3,auc,coverage@5", "--json", str(out)]
    assert run(*arguments, "--per-user", str(users), "--confidence", "0.9", "--seed", "3", "--timestamp", "") == 0
    expected = tr.evaluate(
        model,
        test,
        k=(5, 10),
        seen=[train, valid],
        metrics=("ndcg", "recall_min@3", "auc", "coverage@5"),
        per_user=True,
        confidence=0.9,
        random_state=3,
    )
    document = json.loads(out.read_text())
    assert document["metrics"] == pytest.approx(expected)
    assert document["intervals"] == {name: list(bounds) for name, bounds in expected.intervals.items()}
    assert document["users"]["evaluated"] == expected.users.evaluated
    shown = capsys.readouterr().out
    for name, value in expected.items():
        assert f"{name} " in shown
        assert f"{value:.4f}" in shown
    assert "90 % interval" in shown
    low, high = expected.intervals["ndcg@10"]
    assert f"{low:.4f} – {high:.4f}" in shown
    table = pl.read_parquet(users)
    assert table["user"].to_list() == expected.user_ids.tolist()
    assert table["ndcg@10"].to_list() == expected.per_user["ndcg@10"].tolist()


@pytest.mark.filterwarnings("default")
def test_intervals_can_be_left_out_and_strangers_are_counted(files, tmp_path, capsys):
    folder, _, _ = files
    (tmp_path / "t.csv").write_text("user,item\n1,2\n1,9999\n7777,3\n")
    assert run("evaluate", str(folder / "model.tr"), str(tmp_path / "t.csv"), "--confidence", "0") == 0
    shown = capsys.readouterr()
    assert "interval" not in shown.out
    assert "1 users evaluated; left out: 1 unknown to the model" in shown.out
    assert "1 test interactions are with unknown items" in shown.out
    assert "warning: 1 of 2 test users are unknown" in shown.err
    assert run("evaluate", str(folder / "model.tr"), str(folder / "test.csv"), "--quiet") == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("evaluate", "nowhere.tr", "TEST"), "no such file"),
        (("evaluate", "MODEL", "nowhere.csv"), "no such file"),
        (("evaluate", "MODEL", "TEST", "--k", "ten"), "not a list of cutoffs"),
        (("evaluate", "MODEL", "TEST", "--k", "0"), "no cutoff"),
        (("evaluate", "MODEL", "TEST", "--metrics", "ncdg"), "no metric is called 'ncdg'"),
        (("evaluate", "MODEL", "TEST", "--confidence", "95"), "between 0 and 1"),
        (("evaluate", "MODEL", "TEST", "--gain", "square"), "square"),
        (("evaluate", "MODEL", "TEST", "--json", "/proc/x/m.json"), "cannot write"),
        (("evaluate", "MODEL", "TEST", "--ids", "text"), "ids are integers, those of the test data text"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, words, files, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    paths = {"MODEL": str(files[0] / "model.tr"), "TEST": str(files[0] / "test.csv")}
    assert run(*[paths.get(argument, argument) for argument in arguments]) == 2
    complaint = capsys.readouterr().err
    assert words in complaint
    assert complaint.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("default")
def test_overlap_with_training_is_said(files, tmp_path, capsys):
    folder, _, (train, _, _) = files
    train.to_frame().write_csv(tmp_path / "train.csv")
    assert run("evaluate", str(folder / "model.tr"), str(tmp_path / "train.csv"), "--confidence", "0") == 0
    shown = capsys.readouterr()
    assert f"{train.nnz:,} of {train.nnz:,} test pairs (100.0%) were seen before" in " ".join(shown.err.split())
    assert f"{train.nnz:,} test interactions are in the training data or --seen" in shown.out
