"""The file of a comparison: small, whole, and readable in both versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import taylorank as tr
from taylorank.report.record import by_columns, by_rows, load_record, save_record
from taylorank.selection import Choice, Comparison, compare
from taylorank.selection.comparison import join_comparisons
from taylorank.selection.significance import METHOD

VERSION_1 = Path(__file__).with_name("version_1.json")  # of `make_version_1` below, by the code of that time
SPACES = {"ease": {"regularization": Choice((1.0, 30.0))}}


def test_a_file_holds_what_the_record_holds(record, tmp_path):
    save_record(record, tmp_path / "c.json")
    assert load_record(tmp_path / "c.json")["summary"] == record["summary"]
    again = load_record(tmp_path / "c.json")
    save_record(again, tmp_path / "d.json")
    assert load_record(tmp_path / "d.json") == again
    assert (tmp_path / "d.json").stat().st_size < len(json.dumps(again)) * 0.8


@pytest.mark.parametrize(
    "value",
    [
        [{"a": 1, "b": {"c": [1, 2]}}, {"a": 2, "b": {"c": []}}],
        [{"a": 1}, {"a": 2, "b": 3}],
        [{"a": 1, "b": 2}, {"b": 2, "a": 1}],
        [{"a": 1}],
        [{}, {}],
        [],
        {"a": [[1, 2], [3, 4]], "columns": 5},
        {"params": [{"x": {"y": 1, "z": None}}, {"x": {"y": 2, "z": "q"}}]},
        [{"steps": [{"k": 1}, {"k": 2}]}, {"steps": []}],
    ],
)
def test_tables_by_columns_become_rows_again(value):
    found = by_rows(by_columns(value))
    assert found == value
    assert json.dumps(found) == json.dumps(value)  # the order of the keys too


def make_version_1(path, **more):
    """The comparison that `VERSION_1` is of."""
    data = tr.planted(40, 20, interactions=400)
    how = {"seeds": (0, 1), "trials": 2, "metrics": ["ndcg@10", "coverage@10"], "spaces": SPACES}
    return compare(data, ["ease", "popularity"], name="planted", file=path, **how, **more)


def with_present_tests(summary):
    """The summary with its tests by the present method: of two models the adjusted p is p."""
    changed = json.loads(json.dumps(summary))
    for found in changed["models"].values():
        for test in found["versus_best"].values():
            test["p_adjusted"] = test.pop("p_holm")
    return {**changed, "test": METHOD}


def test_version_1_is_read_with_the_values_per_user_inside(tmp_path):
    old = json.loads(VERSION_1.read_text())
    assert old["version"] == 1
    found = Comparison.load(VERSION_1)
    assert found.record["version"] == 2
    assert found.record["summary"] == old["summary"]
    assert found.per_user.keys() == {(name, seed) for name in ("ease", "popularity") for seed in (0, 1)}
    for run in found.record["runs"]:
        assert "per_user" not in run
        values = found.per_user[run["model"], run["seed"]].metrics
        assert list(values) == ["ndcg@10"]
        assert values["ndcg@10"].mean() == pytest.approx(run["metrics"]["ndcg@10"], abs=1e-6)
    trials = found.record["runs"][0]["tuning"]["trials"]
    assert [trial["params"] for trial in trials] == [t["params"] for t in old["runs"][0]["tuning"]["trials"]]
    assert "step_values" not in trials[0]
    assert join_comparisons([found]).record["summary"] == with_present_tests(old["summary"])  # computed from the values


def test_a_comparison_goes_on_from_version_1(tmp_path):
    path = tmp_path / "c.json"
    old = json.loads(VERSION_1.read_text())
    here = compare(tr.planted(40, 20, interactions=400), ["popularity"], seeds=(0,), trials=0).record["machine"]
    path.write_text(json.dumps({**old, "machine": here}))  # seconds of two machines would not compare
    found = make_version_1(path, callback=pytest.fail)
    assert found.record["summary"] == with_present_tests(old["summary"])
    assert json.loads(path.read_text())["version"] == 2
    assert load_record(path) == found.record
