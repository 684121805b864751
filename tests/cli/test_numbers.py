"""Numbers on the command line: what is no whole number is not rounded, and what nothing holds is one line."""

from __future__ import annotations

import operator
import os
from functools import reduce
from typing import get_args

import pytest
from cyclopts import CycloptsError

import taylorank as tr
from taylorank.cli.app import app
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
    ("export", "model.tr", "--to", "parquet", "--out", "new", "--sample"),
    ("serve", "model.tr", "--port", "0", "--quiet", "--workers"),
    ("serve", "model.tr", "--port", "0", "--max-in-flight"),
    ("serve", "model.tr", "--port"),
    ("demo", "--no-browser", "--factors"),
    ("demo", "--no-browser", "--port"),
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


def options(app, words=()):
    """Every option of every command, with what it holds."""
    for name in app:
        if not name.startswith("-"):
            command = app[name]
            yield from options(command, (*words, name))
            if command.default_command is not None:
                yield from (((*words, name), option) for option in command.assemble_argument_collection())


def kinds_of(option):
    return set(get_args(option.hint) or (option.hint,)) - {type(None)}


def needed(command):
    """What a command cannot do without: words that its other options can follow."""
    for option in command.assemble_argument_collection():
        if option.required:
            word = next(iter(option.get_choices() or ("1",)))
            yield from (option.name, word) if option.name.startswith("--") else (word,)


def parsed(words, option, value):
    command = reduce(operator.getitem, words, app)
    tokens = (*words, *needed(command), f"{option.name}={value}")
    return app.parse_args(tokens, exit_on_error=False, print_error=False)[1]


def test_no_option_of_any_command_takes_what_is_no_number():
    run("--version")  # as every program begins
    numbers = [(words, option) for words, option in options(app) if kinds_of(option) <= {int, float}]
    assert len(numbers) > 80
    for words, option in numbers:
        bad = ["x", "", "nan", "inf", "-inf", "1e400", "9" * 5000]
        for value in (*bad, "2.5", "1e3", "0x10") if kinds_of(option) == {int} else bad:
            with pytest.raises(CycloptsError, match=r"is not a (whole|finite) number") as complaint:
                parsed(words, option, value)
            assert len(str(complaint.value)) < 300, (words, option.name)


def test_a_share_is_not_rounded():
    run("--version")
    words, negatives = next(found for found in options(app) if found[1].name == "--negatives")
    for text, value in (("0.5", 0.5), ("3", 3), ("2.5", 2.5)):
        assert parsed(words, negatives, text).arguments["model_options"].negatives == value
