"""Numbers on the command line: what is no whole number is not rounded, and what nothing holds is one line."""

from __future__ import annotations

import inspect
import os

import pytest

import taylorank as tr
from taylorank.cli.model_options import parameters_of
from taylorank.registry import MODELS
from tests.cli.command import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("numbers")
    data = tr.planted(60, 30, interactions=600, random_state=0)
    data.save_npz(place / "log.npz")
    tr.Popularity().fit(data).save(place / "model.tr")
    return place


COMMANDS = [
    ("train", "log.npz", "--out", "new.tr", "--core"),
    ("train", "log.npz", "--out", "new.tr", "--seed"),
    ("train", "log.npz", "--out", "new.tr", "--num-threads"),
    ("recommend", "model.tr", "--for-user", "1", "-n"),
    ("recommend", "model.tr", "--for-user", "1", "--num-threads"),
    ("tune", "log.npz", "--trials"),
    ("tune", "log.npz", "--seed"),
    ("compare", "log.npz", "--trials"),
    ("compare", "log.npz", "--seeds"),
    ("evaluate", "model.tr", "log.npz", "--resamples"),
    ("evaluate", "model.tr", "log.npz", "--k"),
    ("diagnose", "model.tr", "log.npz", "--users"),
    ("run", "--out", "new", "--users"),
    ("run", "--out", "new", "--items"),
    ("run", "--out", "new", "--interactions"),
    ("run", "--out", "new", "--core"),
    ("run", "--out", "new", "--seed"),
]
COUNTS = ("factors", "iterations", "neighbours", "max_items", "max_passes", "epochs", "batch_size", "top", "steps")
OF_MODELS = [
    ("train", "log.npz", "--out", "new.tr", "--model", name, f"--{count.replace('_', '-')}")
    for name, kind in MODELS.items()
    for count in COUNTS
    if count in parameters_of(kind)
]


@pytest.mark.parametrize("words", COMMANDS + OF_MODELS, ids=" ".join)
def test_what_is_no_number_of_things_is_refused(words, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    before = sorted(os.listdir())
    for value in ("2.5", "1e3", "-1", "nan", "x", "", "9" * 20, "9" * 5000):
        if words[-1] == "--num-threads" and value == "9" * 20:
            continue  # more threads than there is work for are not an error
        assert run(*words, value) == 2, (words, value[:30])
        complaint = capsys.readouterr().err.splitlines()
        assert len(complaint) == 1, complaint
        assert len(complaint[0]) < 1000
        assert sorted(os.listdir()) == before


def test_every_whole_number_of_a_model_is_in_this_list():
    counts = {
        name
        for kind in MODELS.values()
        for name, parameter in inspect.signature(kind).parameters.items()
        if str(parameter.annotation) in ("int", "int | None")
    }
    assert counts - {"random_state", "num_threads", "negatives"} <= {*COUNTS}  # negatives may be a fraction
