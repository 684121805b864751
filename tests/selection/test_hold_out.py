"""What is held back, and what is said about it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import taylorank as tr
from taylorank.data.tail import split_tail
from taylorank.errors import DataError, ParameterError
from taylorank.selection import hold_back, split_blocks


@pytest.fixture(scope="module")
def data():
    return tr.planted(60, 30, interactions=700, random_state=5)


def test_the_last_where_an_order_is_known(data):
    held = hold_back(data, 0.2)
    assert (held.train, held.valid) == split_tail(data, (0.8, 0.2))
    assert held.line == (
        "held back: the last 20 % of each user's items, as their order is known and what comes next is wanted"
    )
    dated = replace(data, timestamps=1_700_000_000 + data.timestamps)
    assert "as their times are known" in hold_back(dated).line


def test_a_random_part_without_times_or_with_times_that_say_nothing(data):
    timeless = replace(data, timestamps=None)
    held = hold_back(timeless, random_state=3)
    assert (held.train, held.valid) == timeless.split((0.9, 0.1), random_state=3)
    assert held.line == "held back: a random 10 % of each user's items, as the data has no times"
    tied = hold_back(replace(data, timestamps=np.zeros(data.nnz, dtype=np.int64)))
    assert tied.kind == "random"
    assert "do not tell the items of most users apart" in tied.line


def test_what_is_asked_for_is_done(data):
    held = hold_back(data, hold_out="random", random_state=3)
    assert (held.train, held.valid) == data.split((0.9, 0.1), random_state=3)
    assert held.line.endswith("as asked for")
    blocks = hold_back(data, hold_out="blocks", random_state=3)
    assert (blocks.train, blocks.valid) == split_blocks(data, 0.1, random_state=3)


def test_what_cannot_be_done_is_refused(data):
    with pytest.raises(DataError, match="what came last is unknown"):
        hold_back(replace(data, timestamps=None), hold_out="last")
    with pytest.raises(ParameterError, match="hold_out='first' is unknown; choose from last, random, blocks"):
        hold_back(data, hold_out="first")
    with pytest.raises(ParameterError, match="share=1"):
        hold_back(data, 1.0)
