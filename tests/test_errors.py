"""Messages are one line that can be printed, of bearable length, whatever the values in them."""

from __future__ import annotations

import pickle

import pytest

from taylorank.data import read_interactions
from taylorank.errors import DataError, TaylorankError, UnknownIdError, in_one_line, shortened
from tests.cli.command import run


@pytest.mark.parametrize("kind", [TaylorankError, DataError, UnknownIdError])
def test_long_and_broken_texts(kind):
    error = kind("x" * 50_000 + "\nfile\0\x1b[31m", "give\tanother")
    assert "\n" not in str(error)
    assert str(error).isprintable()
    assert len(str(error)) < 1000
    assert str(error).startswith("xxx")
    assert error.cause.endswith("file\\x00\\x1b[31m")
    assert error.remedy == "give another"
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.cause) == (kind, str(error), error.cause)
    assert len(in_one_line(RuntimeError("y" * 10_000))) < 1000


def test_ordinary_texts_stay_as_they_are():
    for text in ("", "2³¹ − 1 é → 猫", "a" * 800):
        assert shortened(text) == text


def test_values_of_any_length_in_messages(tmp_path, capsys):
    long = "n" * 20_000
    for call in (
        lambda: read_interactions([(long, 1), (2, 1)]),
        lambda: read_interactions({long: [1], "item": [2]}),
        lambda: read_interactions({"user": [1], "item": [2]}, user=long),
        lambda: read_interactions({"user": [1], "item": [2], "s": [long]}, strength="s"),
        lambda: read_interactions(tmp_path / "x.csv", format=long),
    ):
        with pytest.raises(TaylorankError) as raised:
            call()
        assert len(str(raised.value)) < 2000
    assert run("train", "data.csv", "--model", long, "--out", "m") == 2
    assert run("recommend", "m", "--number", long) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) < 2000
