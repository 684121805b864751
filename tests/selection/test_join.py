"""Comparisons made apart are joined only if they were made alike."""

from __future__ import annotations

import copy

import pytest

import taylorank as tr
from taylorank.errors import DataError
from taylorank.selection.join import join_records


@pytest.fixture(scope="module")
def records():
    data = tr.planted(100, 40, interactions=1500)
    return [tr.compare(data, [name], seeds=(0,), trials=0).record for name in ("ease", "popularity", "itemknn")]


def test_joined_is_what_one_comparison_says(records):
    data = tr.planted(100, 40, interactions=1500)
    whole = tr.compare(data, ["ease", "popularity", "itemknn"], seeds=(0,), trials=0).record
    joined = join_records(records)
    assert list(joined["models"]) == ["ease", "popularity", "itemknn"]
    for name, found in whole["summary"]["models"].items():
        assert joined["summary"]["models"][name]["metrics"] == found["metrics"]
        assert joined["summary"]["models"][name]["versus_best"] == found["versus_best"]
    assert len(records[0]["models"]) == 1  # the parts are left alone


def test_others_are_refused(records):
    other = copy.deepcopy(records[1])
    other["budget"]["trials"] = 9
    with pytest.raises(DataError, match="differ in budget"):
        join_records([records[0], other])
    with pytest.raises(DataError, match="two of the comparisons have ease"):
        join_records([records[0], records[0]])
    with pytest.raises(DataError, match="no comparison to join"):
        join_records([])
