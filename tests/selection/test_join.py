"""Comparisons made apart are joined only if they were made alike."""

from __future__ import annotations

import copy

import pytest

import taylorank as tr
from taylorank.errors import DataError
from taylorank.selection.join import join_records, narrowed


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


def test_records_with_other_metrics_and_names_are_joined_on_what_they_share(records):
    data = tr.planted(100, 40, interactions=1500)
    other = tr.compare(
        data, ["itemknn"], seeds=(0,), trials=0, metrics=["ndcg@10", "map@10", "recall@5"], name="elsewhere"
    ).record
    with pytest.raises(DataError, match="differ in data, settings"):
        join_records([records[0], other])
    shared = ["ndcg@10", "map@10"]
    joined = join_records([narrowed(one, shared, like=records[0]) for one in (records[0], other)])
    assert set(joined["settings"]["metrics"]) == set(shared)
    assert (
        joined["summary"]["models"]["itemknn"]["metrics"]["map@10"]
        == records[2]["summary"]["models"]["itemknn"]["metrics"]["map@10"]
    )
    assert set(joined["runs"][1]["metrics"]) == set(shared)
    assert "recall@5" in other["settings"]["metrics"]  # the parts are left alone
    with pytest.raises(DataError, match="lacks recall@5"):
        narrowed(records[0], ["recall@5"], like=records[0])
    with pytest.raises(DataError, match="ndcg@10, which chose"):
        narrowed(records[0], ["map@10"], like=records[0])


def test_other_data_is_not_joined(records):
    other = tr.compare(
        tr.planted(100, 40, interactions=1500, seed=5), ["itemknn"], seeds=(0,), trials=0, name="b"
    ).record
    with pytest.raises(DataError, match="of other data"):
        narrowed(other, ["ndcg@10"], like=records[0])
