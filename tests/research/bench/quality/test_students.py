"""The study of students: data to and fro, the search, the rule of the ranges, parts that are kept."""

from __future__ import annotations

import json

import numpy as np
import pytest

import taylorank as tr
from research.bench.quality.students import run
from research.bench.quality.students.fixed import fixed_ranges
from research.bench.quality.students.search import Search
from research.bench.quality.students.sets import read, write
from research.bench.quality.students.stages import SMALL
from taylorank.errors import ParameterError

TRAIN, VALID, TEST = tr.planted(120, 60, interactions=2000).split()


def searched(**others):
    return Search(TRAIN, VALID, SMALL, **{"factors": 4, "seconds": 0.0, "device": "cpu", **others})


def test_parts_come_back_as_they_were(tmp_path):
    few = TEST.select(TEST.by_user.row_of_entry() % 3 == 0, "some users have nothing")
    write(tmp_path / "a.npz", (TRAIN, few))
    for part, kept in zip((TRAIN, few), read(tmp_path / "a.npz"), strict=True):
        np.testing.assert_array_equal(kept.by_user.indptr, part.by_user.indptr)
        np.testing.assert_array_equal(kept.by_user.indices, part.by_user.indices)
        assert (kept.n_users, kept.n_items) == (part.n_users, part.n_items)


def test_a_search_without_time_still_has_a_teacher_and_a_student():
    search = searched()
    best = search.run()
    assert len(search.trials) == 1
    assert {teacher["teacher__factors"] for teacher in search.teachers} == {8, 16}
    student = search.student(best)
    assert search.measure(student) == pytest.approx(search.trials[0]["value"], abs=1e-6)
    assert student.teacher_.regularization == best["teacher__regularization"]


def test_the_best_student_is_that_with_the_highest_value_and_nothing_is_fitted_twice():
    search = searched(seconds=2.0)
    best = search.run()
    values = [trial["value"] for trial in search.trials]
    assert search.value(best) == max(values)
    settings = [
        json.dumps({k: v for k, v in trial.items() if k not in ("value", "seconds")}) for trial in search.trials
    ]
    assert len(set(settings)) == len(settings)


def test_neighbours_differ_in_one_place():
    search = searched()
    search.search_teachers()
    middle = {name: values[0] for name, values in search.ranges.items()}
    for other in search.neighbours(middle):
        changed = [name for name in middle if other[name] != middle[name]]
        assert len(changed) == 1
        assert other[changed[0]] == search.ranges[changed[0]][1]


def test_ranges_are_what_was_good_on_two_sets_or_more():
    wide = {"a": (1, 2, 3, 4), "b": (True, False)}

    def part(*trials):
        return {"trials": [{"a": a, "b": b, "value": value} for a, b, value in trials]}

    parts = {
        "ranges/x/0": part((1, True, 0.9), (2, True, 1.0), (3, False, 0.5)),
        "ranges/y/0": part((2, True, 1.0), (3, True, 0.999), (4, True, 0.996)),
        "ranges/z/0": part((4, True, 0.2), (1, False, 0.1)),
        "dense/z/0": {"rows": []},
    }
    found = fixed_ranges(parts, wide)
    assert found["ranges"] == {"a": [2, 3, 4], "b": [True]}
    assert found["good_on"]["a"] == {"1": [], "2": ["x", "y"], "3": ["y"], "4": ["y", "z"]}


@pytest.mark.parametrize("stage", ["dense", "public", "bytes", "others"])
def test_every_stage_runs_and_is_kept(stage, tmp_path):
    file = tmp_path / "one.json"
    lines = []
    record = run(stages=stage, quick=True, device="cpu", file=file, log_line=lines.append)
    ((key, part),) = record["parts"].items()
    assert "error" not in part
    assert "unfinished" not in part
    before = file.read_text()
    run(stages=stage, quick=True, device="cpu", file=file, log_line=lines.append)
    assert len(lines) == 1
    joined = run(join=str(tmp_path), log_line=lines.append)
    assert joined["parts"].keys() == {key}
    assert json.loads(before)["parts"] == json.loads(file.read_text())["parts"]


def test_dense_goes_on_from_what_is_measured_and_drops_what_students_lack(tmp_path):
    file, how = tmp_path / "one.json", {"stages": "dense", "quick": True, "device": "cpu"}
    key, first = next(iter(run(**how, file=file)["parts"].items()))
    gone = {"model": "student", "factors": 4, "change": {"mix": 0.1}, "value": 1.0, "ndcg@10": 1.0}
    marked = [{**row, "fit_s": -1.0} for row in first["rows"] if row.get("change") == {}][:1]
    others = [row for row in first["rows"] if row["model"] != "student"]
    record = json.loads(file.read_text())
    record["parts"][key]["rows"] = [*others, *marked, gone]
    file.write_text(json.dumps(record))
    rows = run(**how, file=file, more=True)["parts"][key]["rows"]
    assert rows[: len(others)] == others
    assert [row["fit_s"] for row in rows if row.get("change") == {} and row["factors"] == 4] == [-1.0]
    assert [row["factors"] for row in rows if row.get("change") == {}] == [4, 8]
    assert gone not in rows


def test_further_students_take_what_public_chose(tmp_path):
    (tmp_path / "known").mkdir()
    public = run(stages="public", quick=True, device="cpu", file=tmp_path / "known" / "public.json")
    chosen = public["parts"]["public/gowalla/0"]
    how = {"known": str(tmp_path / "known"), "quick": True, "device": "cpu", "widths": "3"}
    found = run(stages="bytes", **how)["parts"]["bytes/gowalla/0"]["models"]
    assert [name for name in found if name.startswith("student")] == ["student 3"]
    settings = found["student 3"]["settings"]
    assert settings["temperature"] == chosen["models"]["student 4"]["settings"]["temperature"]
    assert settings["teacher"]["proposal_exponent"] == chosen["best"]["teacher__proposal_exponent"]


def test_unknown_stages_are_refused():
    with pytest.raises(ParameterError, match="no stage 'tests'"):
        run(stages="tests", quick=True)
