"""Comparison files that a hand has edited: reported, taken up, or refused in one line, and never a traceback."""

from __future__ import annotations

import copy
import json
from contextlib import suppress

import numpy as np
import pytest

import taylorank as tr
from taylorank.errors import DataError, TaylorankError
from taylorank.report.record import as_it_was_written, load_record, save_record
from taylorank.selection.comparison import Comparison

CHANGES = (None, "x", -1, 1e400, [], {}, [3], {"columns": {"a": [1], "b": []}}, True)


def places(value, path=()):
    """Where a value stands in a document, for every value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


def edited(document, path, change):
    """The document with another value at a place, or without it."""
    document = copy.deepcopy(document)
    if not path:
        return change
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    if change is KeyError:
        del holder[path[-1]]
    else:
        holder[path[-1]] = change
    return document


@pytest.fixture(scope="module")
def data():
    return tr.planted(80, 30, interactions=900, random_state=0)


@pytest.fixture(scope="module")
def document(data, tmp_path_factory):
    file = tmp_path_factory.mktemp("edited") / "found.json"
    tr.compare(data, ["popularity", "itemknn"], seeds=(0,), trials=1, file=file)
    return json.loads(file.read_text())


def edits(document, count, seed):
    rng = np.random.default_rng(seed)
    every = list(places(document))
    for place in rng.choice(len(every), count, replace=len(every) < count).tolist():
        path, change = every[place], [KeyError, *CHANGES][rng.integers(len(CHANGES) + 1)]
        if path or change is not KeyError:
            yield path, change


def test_edited_files_are_taken_up_or_refused(data, document, tmp_path):
    file = tmp_path / "found.json"
    outcomes = {"taken up": 0, "refused": 0}
    for path, change in edits(document, 60, seed=1):
        file.write_text(json.dumps(edited(document, path, change)))
        try:
            tr.compare(data, ["popularity", "itemknn"], seeds=(0,), trials=1, file=file)
            outcomes["taken up"] += 1
        except TaylorankError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 3, outcomes


@pytest.mark.parametrize(("part", "value"), [("seed", 10**30), ("seed", 1), ("model", "itemknn-2")])
def test_a_run_of_no_seed_or_model_of_the_comparison_is_refused(data, document, tmp_path, part, value):
    file = tmp_path / "found.json"
    file.write_text(json.dumps(edited(document, ("runs", 0, part), value)))
    with pytest.raises(TaylorankError) as error:
        tr.compare(data, ["popularity", "itemknn"], seeds=(0,), trials=1, file=file)
    assert "\n" not in str(error.value)


def test_edited_files_are_loaded_or_refused(document, tmp_path):
    file = tmp_path / "found.json"
    for path, change in edits(document, 200, seed=2):
        file.write_text(json.dumps(edited(document, path, change)))
        with suppress(TaylorankError), as_it_was_written(file):
            repr(Comparison.load(file))


def test_edited_files_are_drawn_or_refused(document, tmp_path, capsys):
    pytest.importorskip("altair", reason="the extra [report] is not installed")
    from tests.cli.command import run

    file = tmp_path / "found.json"
    for path, change in edits(document, 12, seed=3):
        file.write_text(json.dumps(edited(document, path, change)))
        code = run("report", str(file), "--quiet")
        complaint = capsys.readouterr().err
        assert code in (0, 2), (path, change)
        assert code == 0 or complaint.count("\n") == 1, (path, change, complaint)


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [("runs", {}, "runs of .* is not what it should be"), ("models", [], "models of"), ("settings", 3, "settings of"),
     ("runs", [3], "run 1 of .* is not what it should be"), ("runs", [{"model": "x"}], "run 1 of")],
)  # fmt: skip
def test_parts_of_another_kind_are_named(document, tmp_path, part, value, words):
    file = tmp_path / "found.json"
    file.write_text(json.dumps({**document, part: value}))
    with pytest.raises(DataError, match=words):
        load_record(file)
    file.write_text("[" * 100_000)
    with pytest.raises(DataError, match="is not JSON"):
        load_record(file)


def test_a_whole_file_is_read_back(document, tmp_path):
    file = tmp_path / "found.json"
    file.write_text(json.dumps(document))
    record = load_record(file)
    save_record(record, tmp_path / "again.json")
    assert load_record(tmp_path / "again.json") == record
