"""Compositions from the command line: train, tune, compare."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

import taylorank as tr
from taylorank.cli import main


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    data = tr.planted(80, 30, interactions=1200)
    path = tmp_path_factory.mktemp("log") / "log.csv"
    rows = zip(data.by_user.row_of_entry(), data.by_user.indices, data.timestamps, strict=True)
    path.write_text("user,item,timestamp\n" + "".join(f"{x},{y},{t}\n" for x, y, t in rows))
    return str(path)


def run(*words):
    try:
        main([str(word) for word in words])
    except SystemExit as ended:
        return ended.code or 0
    return 0


def test_a_loss_and_a_backbone_make_a_model(log, tmp_path, capsys):
    out = tmp_path / "m.tr"
    words = ["--loss", "entmax", "--set", "alpha=1.3", "--backbone", "lightgcn", "--set", "layers=1", "--epochs", 3]
    assert run("train", log, *words, "--factors", 4, "--out", out) == 0
    model = tr.load(out)
    assert (model.loss, model.backbone, model.options) == ("entmax", "lightgcn", {"alpha": 1.3, "layers": 1})
    assert "fitted neural" in capsys.readouterr().out
    assert run("recommend", out, "--user", 0, "-n", 3) == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--loss", "sofmax"], "no loss is called 'sofmax'"),
        (["--loss", "softmax", "--sampler", "uniform"], "softmax draws no negatives"),
        (["--loss", "softmax", "--set", "alpha"], "--set alpha has no value"),
        (["--model", "rg2", "--set", "alpha=1"], "rg2 has no parts with options"),
        (["--model", "rg2", "--loss", "softmax"], "rg2 has no option --loss"),
    ],
)
def test_what_cannot_work_is_one_line(log, tmp_path, capsys, words, expected):
    assert run("train", log, *words, "--out", tmp_path / "m.tr") == 2
    said = capsys.readouterr()
    assert expected in said.err + said.out
    assert not (tmp_path / "m.tr").exists()


def test_compositions_are_compared_with_closed_forms(log, tmp_path):
    out = tmp_path / "c.json"
    assert run("compare", log, "--models", "rg2,softmax,bpr/lightgcn", "--trials", 1, "--seeds", 1, "--json", out) == 0
    record = json.loads(out.read_text())
    assert set(record["models"]) == {"rg2", "softmax", "bpr/lightgcn"}
    assert not [run["error"] for run in record["runs"] if run["error"]]
    assert record["runs"][1]["convergence"]


def test_a_composition_is_tuned(log, tmp_path, capsys):
    assert run("tune", log, "--model", "softmax", "--trials", 2, "--out", tmp_path / "m.tr") == 0
    assert "2 trials on 2 fits" in capsys.readouterr().out
    assert tr.load(tmp_path / "m.tr").loss == "softmax"
