"""Damaged Parquet: an error of one line and nothing else on standard error, although polars panics."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import polars as pl
import pytest

from taylorank.data import read_interactions
from taylorank.data.panics import without_panics
from taylorank.errors import DataError, TaylorankError


def whole(path):
    frame = pl.DataFrame({"user": [k % 97 for k in range(3000)], "item": [k % 53 for k in range(3000)]})
    frame.with_columns(name=pl.format("n{}", "user")).write_parquet(path)
    return path.read_bytes()


def test_any_damage_is_read_or_refused_quietly(tmp_path, capfd):
    path = tmp_path / "log.parquet"
    content = whole(path)
    rng = random.Random(1)
    refused = 0
    for _ in range(150):
        damaged = bytearray(content)
        for _ in range(rng.choice([1, 1, 3])):
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            read_interactions(path)
        except TaylorankError:
            refused += 1
    assert refused > 10
    assert "panicked" not in capfd.readouterr().err


def test_a_panic_is_silent_and_other_words_are_not(capfd):
    def panic(words):
        with without_panics():
            os.write(2, words)
            raise DataError("damaged")

    for words in (b"thread 'x' panicked at y\n", b"a warning\n"):
        with pytest.raises(DataError):
            panic(words)
    with without_panics(), without_panics():
        os.write(2, b"all is well\n")
    assert capfd.readouterr().err == "a warning\nall is well\n"


def test_it_works_where_there_is_no_standard_error(tmp_path):
    whole(tmp_path / "log.parquet")
    code = "import os; os.close(2); import taylorank as tr; print(tr.read_interactions('log.parquet').nnz)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, timeout=60)
    assert done.returncode == 0
    assert int(done.stdout) > 1000
