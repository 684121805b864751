"""Commits: what is measured, what is kept, what is called worse."""

from __future__ import annotations

import json

import pytest

from research.bench.speed import commits, first_steps
from taylorank.errors import DataError
from taylorank.machine import describe_machine

ONE = {"seconds": {"fit": 0.1}, "peak_mb": 90.0, "ndcg@10": {"RG2": 0.2}}


@pytest.fixture
def record(tmp_path, monkeypatch):
    file = tmp_path / "commits.json"
    monkeypatch.setattr(commits, "RECORD", file)
    monkeypatch.setattr(commits, "built", lambda commit: tmp_path)
    monkeypatch.setattr(commits, "measured", lambda folder, quick: ONE)
    monkeypatch.setattr(
        commits, "commit_named", lambda name: {"commit": name * 10, "date": f"2026-01-{name}", "words": "w"}
    )
    return file


def test_commits_are_added_in_the_order_of_time(record):
    record.write_text(json.dumps(commits.run("02")))
    found = commits.run("01", "03")
    assert [one["date"] for one in found["commits"]] == ["2026-01-01", "2026-01-02", "2026-01-03"]
    assert len(commits.describe(found)) == 3


def test_another_machine_begins_anew(record):
    record.write_text(json.dumps({"machine": {**describe_machine(), "cpu": "another"}, "commits": [ONE]}))
    assert len(commits.run("01")["commits"]) == 1


def test_prepared_commits_are_not_measured(record):
    assert commits.run("01", prepare=True)["commits"] == []


def test_what_is_worse_is_said():
    slow = {"commit": "b" * 40, "date": "2026-01-02", **ONE, "seconds": {"fit": 0.2}, "peak_mb": 180.0}
    lines = commits.describe({"commits": [{"commit": "a" * 40, "date": "2026-01-01", **ONE}, slow]})
    assert any("fit takes 2.00 times as long" in line for line in lines)
    assert any("2.00 times the memory" in line for line in lines)


def test_an_unknown_commit_is_named():
    with pytest.raises(DataError, match="no-such-commit"):
        commits.commit_named("no-such-commit")


def test_the_wheel_that_suits_a_python(tmp_path, monkeypatch):
    wheels = [tmp_path / "t-0.1.0-cp311-cp311-linux_x86_64.whl", tmp_path / "t-0.1.0-cp312-abi3-linux_x86_64.whl"]
    for version, wanted in (((3, 11, 7), wheels[0]), ((3, 12, 1), wheels[1]), ((3, 14, 0), wheels[1])):
        monkeypatch.setattr(first_steps, "version_of", lambda _, version=version: version)
        assert first_steps.wheel_for("python", wheels) == wanted
    monkeypatch.setattr(first_steps, "version_of", lambda _: (3, 11, 7))
    with pytest.raises(DataError, match=r"no wheel for Python 3\.11"):
        first_steps.wheel_for("python", wheels[1:])
    with pytest.raises(DataError, match="holds no wheel"):
        first_steps.run(str(tmp_path))


def test_the_first_steps_are_the_lines_of_the_readme():
    fit, recommend = first_steps.readme_lines()
    assert fit == "taylorank fit ratings.csv --seconds 60 --out model.tr"
    assert recommend.endswith("--out lists.csv")
    assert first_steps.readme_lines(quick=True)[0] == fit.replace("60", "5")
