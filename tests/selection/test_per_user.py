"""Each user's values go to a file beside the record and come back the same."""

from __future__ import annotations

import numpy as np
import pytest

from taylorank.errors import DataError
from taylorank.selection.per_user import UserValues, load_per_user, save_per_user

RECORD = {"written": "2026-11-16T10:00:00Z", "settings": {"fingerprint": "abc"}}


@pytest.fixture
def values():
    def run(count, *metrics):
        rng = np.random.default_rng(count)
        return UserValues(np.arange(count) * 2, {name: rng.random(count, dtype=np.float32) for name in metrics})

    return {
        ("bpr/lightgcn", 0): run(5, "ndcg@10", "mrr@10"),
        ("my model ✓", 12): run(3, "ndcg@10"),
        ("none", 1): run(4),
    }


def test_values_come_back(values, tmp_path):
    values["my model ✓", 12].metrics["ndcg@10"][1] = np.nan
    save_per_user(values, tmp_path / "c.users.npz", RECORD)
    found = load_per_user(tmp_path / "c.users.npz", RECORD)
    assert list(found) == list(values)
    for run, expected in values.items():
        np.testing.assert_array_equal(found[run].users, expected.users)
        assert list(found[run].metrics) == list(expected.metrics)
        for metric, numbers in expected.metrics.items():
            np.testing.assert_array_equal(found[run].metrics[metric], numbers)


def test_a_file_that_is_not_there_holds_nothing(tmp_path):
    assert load_per_user(tmp_path / "c.users.npz", RECORD) == {}


def test_values_of_another_record_and_damaged_ones_are_refused(values, tmp_path):
    path = tmp_path / "c.users.npz"
    save_per_user(values, path, RECORD)
    with pytest.raises(DataError, match="the users of another comparison"):
        load_per_user(path, {**RECORD, "written": "2026-11-16T10:00:01Z"})
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match="is damaged"):
        load_per_user(path, RECORD)
    path.write_text("no archive")
    with pytest.raises(DataError, match="is damaged"):
        load_per_user(path, RECORD)
