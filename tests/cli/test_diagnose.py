"""`taylorank diagnose`: words on the screen, both in the file, one line on bad input."""

from __future__ import annotations

import json

import pytest

import taylorank as tr
from tests.cli.command import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("diagnose")
    train, valid, _ = tr.planted(150, 60, interactions=3000, random_state=2).split()
    tr.RG2(factors=6).fit(train).save(folder / "model.tr")
    tr.Popularity().fit(train).save(folder / "popularity.tr")
    valid.to_frame().write_csv(folder / "valid.csv")
    return folder


def test_words_and_numbers_reach_screen_and_file(folder, tmp_path, capsys):
    out = tmp_path / "diagnosis.json"
    assert run("diagnose", str(folder / "model.tr"), str(folder / "valid.csv"), "--json", str(out)) == 0
    shown = capsys.readouterr().out
    document = json.loads(out.read_text())
    assert all(line in shown for line in document["words"])
    assert document["numbers"]["max |o|"] > 0
    assert "factors that are not 0" in shown


def test_data_may_be_left_out(folder, capsys):
    assert run("diagnose", str(folder / "model.tr")) == 0
    shown = capsys.readouterr().out
    assert "`tune` finds the best" in shown
    assert "Give validation data" not in shown  # which would not help a model out of a file


@pytest.mark.parametrize(("model", "words"), [("popularity.tr", "has no factors"), ("none.tr", "no such file")])
def test_bad_input_is_one_line(folder, capsys, model, words):
    assert run("diagnose", str(folder / model)) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
