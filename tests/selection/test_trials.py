"""The file of a tuning run: resumed, refused, repaired."""

from __future__ import annotations

import json

import numpy as np
import pytest
from toy_model import Toy, table

import taylorank as tr
from taylorank.errors import DataError
from taylorank.selection import SPACES, Choice, Trial, tune
from taylorank.selection.trials import FORMAT, append_trial, open_trials


@pytest.mark.parametrize("name", ["rg2", "ials"])
def test_a_run_resumes_from_its_file_with_the_same_table(small_parts, tmp_path, name):
    train, valid, _ = small_parts
    space = {**SPACES[name], "factors": Choice((4, 8))}
    how = {"space": space, "trials": 8, "random_state": 5}
    whole = tune(name, train, valid, **how)
    file = tmp_path / "trials.jsonl"
    first = tune(name, train, valid, file=file, callback=lambda trial: trial.fit == 3, **how)
    assert 0 < len(first.trials) < len(whole.trials)
    resumed = tune(name, train, valid, file=file, **how)
    assert table(resumed) == table(whole)
    assert resumed.best == whole.best
    assert resumed.trials[: len(first.trials)] == first.trials  # not computed again: even the times are those
    again = tune(name, train, valid, file=file, **how)
    assert again.trials == resumed.trials
    np.testing.assert_array_equal(again.model.user_factors, whole.model.user_factors)


def test_an_interrupted_run_returns_what_it_knows_and_resumes(small_parts, tmp_path):
    train, valid, _ = small_parts
    file = tmp_path / "trials.jsonl"
    space = {"shift": Choice(tuple(range(12)))}
    whole = tune(Toy(), train, valid, space=space, trials=12)
    trials = []

    def interrupt(trial):
        trials.append(trial)
        if len(trials) == 5:
            raise KeyboardInterrupt

    first = tune(Toy(), train, valid, space=space, trials=12, file=file, callback=interrupt)
    assert first.status == "interrupted"
    assert first.trials == trials
    assert first.value == max(trial.value for trial in trials)
    resumed = tune(Toy(), train, valid, space=space, trials=12, file=file)
    assert resumed.status == "complete"
    assert table(resumed) == table(whole)


def test_a_cut_off_last_line_is_dropped(small_parts, tmp_path):
    train, valid, _ = small_parts
    file = tmp_path / "trials.jsonl"
    how = {"space": {"shift": Choice((0, 1, 2, 3))}, "trials": 4, "file": file}
    whole = tune(Toy(), train, valid, **how)
    file.write_text(file.read_text()[:-20])
    resumed = tune(Toy(), train, valid, **how)
    assert table(resumed) == table(whole)
    assert [json.loads(line)["params"] for line in file.read_text().splitlines()[1:]] == [
        trial.params for trial in whole.trials
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metric": "recall@10"}, 'metric "ndcg@10", this run "recall@10"'),
        ({"random_state": 1}, "seed 0, this run 1"),
        ({"model": Toy(mode="slow")}, "fixed"),
        ({"model": "itemknn", "space": None}, 'model "Toy"'),
        ({"space": {"shift": Choice((0, 1))}}, "space"),
        ({"swap": True}, "train"),
        ({"seen": []}, "seen"),
    ],
)
def test_a_file_of_another_run_is_refused(small_parts, tmp_path, change, words):
    train, valid, _ = small_parts
    file = tmp_path / "trials.jsonl"
    space = {"shift": Choice((0, 1, 2, 3))}
    tune(Toy(), train, valid, space=space, file=file)
    before = file.read_text()
    how = {"model": Toy(), "space": space, "file": file, **change}
    a, b = (valid, train) if how.pop("swap", False) else (train, valid)
    with pytest.raises(DataError, match=r"another file") as refusal:
        tune(how.pop("model"), a, b, **how)
    assert words in str(refusal.value)
    assert file.read_text() == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("hello\n", "not the file of a tuning run"),
        ('{"a": 1}\n', "not the file of a tuning run"),
        ("[]\n", "not the file of a tuning run"),
        ("HEADER\nnonsense\n{}\n", "line 2"),
        ('HEADER\n{"params": {}}\n', "not a trial"),
        (b"\xff\xfe\x00", "cannot read"),
    ],
)
def test_garbage_in_the_file_is_refused(small_parts, tmp_path, content, words):
    train, valid, _ = small_parts
    file = tmp_path / "trials.jsonl"
    tune(Toy(), train, valid, space={"shift": Choice((0, 1))}, file=file)
    header = file.read_text().splitlines()[0]
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        file.write_text(content.replace("HEADER", header))
    with pytest.raises(DataError, match=words):
        tune(Toy(), train, valid, space={"shift": Choice((0, 1))}, file=file)


def test_the_file_takes_the_numbers_of_numpy(small_parts, tmp_path):
    model, file = tr.IALS(factors=np.int64(4), iterations=2), tmp_path / "trials.jsonl"
    space = {"unobserved_weight": Choice((np.float32(0.1), np.float64(0.5))), "nu": Choice((np.int64(1),))}
    first = tune(model, *small_parts[:2], space=space, file=file)
    lines = file.read_text()
    assert [t.value for t in tune(model, *small_parts[:2], space=space, file=file).trials] == [
        t.value for t in first.trials
    ]
    assert file.read_text() == lines


def test_a_file_goes_on_with_other_threads_but_not_with_other_histories(small_parts, tmp_path):
    train, valid, test = small_parts
    space, file = {"regularization": Choice((0.01, 0.1))}, tmp_path / "trials.jsonl"
    tune(tr.IALS(factors=4, iterations=2, num_threads=1), train, valid, space=space, file=file)
    lines = file.read_text()
    tune(tr.IALS(factors=4, iterations=2, num_threads=2), train, valid, space=space, file=file)
    assert file.read_text() == lines
    with pytest.raises(DataError, match="fold_in"):
        tune(tr.IALS(factors=4, iterations=2), train, valid, space=space, file=file, fold_in=test)


LINE = (
    '{"params": {"shift": 3}, "value": 0.25, "seconds": 1.5, "status": "complete", "step_values": [0.1, 0.2], '
    '"fit": 2, "users": 40, "note": "", "steps": null}'
)


def test_the_format_of_the_file(tmp_path):
    file, trial = tmp_path / "trials.jsonl", Trial({"shift": 3}, 0.25, 1.5, "complete", (0.1, 0.2), 2, 40)
    header = f'{{"tuning": {FORMAT}, "version": "{tr.__version__}", "model": "Toy"}}'
    file.write_text(f"{header}\n{LINE}\n")
    assert open_trials(file, {"model": "Toy"}) == {('{"shift": 3}', 40): trial}
    append_trial(file, trial)
    assert file.read_text() == f"{header}\n{LINE}\n{LINE}\n"


def test_values_without_a_fraction_are_values(tmp_path):
    file = tmp_path / "trials.jsonl"
    file.write_text(f'{{"tuning": {FORMAT}, "version": "{tr.__version__}", "model": "Toy"}}\n')
    append_trial(file, Trial({"shift": 3}, 10**30, 1.5))
    (trial,) = open_trials(file, {"model": "Toy"}).values()
    assert isinstance(trial.value, float)
    assert np.isfinite(trial.value)


def test_a_file_of_an_earlier_search_is_refused_and_kept(tmp_path):
    file = tmp_path / "trials.jsonl"
    file.write_text(f'{{"tuning": 1, "version": "{tr.__version__}", "model": "Toy"}}\n{LINE}\n')
    with pytest.raises(DataError, match=r"trials of another version of the search .*give another file"):
        open_trials(file, {"model": "Toy"})
    assert LINE in file.read_text()
