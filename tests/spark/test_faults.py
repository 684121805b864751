"""What is lost is computed again, to the same bits; an interrupted fit goes on where it stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import killed_driver
import numpy as np
import pytest
from planted_frame import frame_of, lists_of

import taylorank as tr
from taylorank.spark import IALS, RG2, estimators, normal, prepared, reduction, row_als
from taylorank.spark.folder import Folder


@pytest.fixture(scope="module")
def data():
    return tr.planted(150, 400, interactions=3000, random_state=6)


def _fails_once(folder: str) -> Callable[[int], np.ndarray]:
    """A part of a sum whose first attempt on block 1 fails."""

    def part(number: int) -> np.ndarray:
        mark = Path(folder, "was here")
        if number == 1 and not mark.exists():
            mark.touch()
            raise RuntimeError("this task fails once")
        rng = np.random.default_rng(number)
        return rng.standard_normal((40, 3)).astype(np.float32)

    return part


@pytest.mark.parametrize("direct", [True, False])
def test_a_task_that_fails_once_changes_no_bit(spark, tmp_path, monkeypatch, direct):
    monkeypatch.setattr(reduction, "DIRECT", 1 << 20 if direct else 0)
    shape = reduction.Shape(4, 40, 3)
    found = reduction.sum_by_item(spark, Folder(str(tmp_path)), _fails_once(str(tmp_path)), shape, 3)
    assert (tmp_path / "was here").exists()
    expected = np.zeros((40, 3), np.float32)
    for number in range(4):
        expected += np.random.default_rng(number).standard_normal((40, 3)).astype(np.float32)
    np.testing.assert_array_equal(found, expected)


class Interrupted(Exception):
    """In the place of a driver that dies."""


def test_an_interrupted_svd_goes_on_from_its_last_pass(spark, data, tmp_path, monkeypatch):
    """With fewer cores than before: blocks and bits are those of the fit that was interrupted."""
    frame, estimator = frame_of(spark, data), RG2(rank=4)
    known = estimator.copy({estimator.numUserBlocks: 3}).fit(frame)
    calls = []

    def counted(*args, **others):
        calls.append(1)
        if len(calls) == 5:
            raise Interrupted
        return whole(*args, **others)

    whole = normal.sum_by_item
    monkeypatch.setattr(normal, "sum_by_item", counted)
    own = estimator.copy({estimator.workDir: str(tmp_path)})
    monkeypatch.setattr(prepared, "slots", lambda _: 3)
    with pytest.raises(Interrupted):
        own.fit(frame)
    monkeypatch.setattr(prepared, "slots", lambda _: 1)
    model = own.fit(frame)
    assert model.facts["blocks"] == 3
    assert len(calls) == 5 + known.facts["passes"] - 4  # four passes were there
    assert lists_of(model.recommendForAllUsers(5)) == lists_of(known.recommendForAllUsers(5))
    assert [name for name in Folder(str(tmp_path)).names() if name.startswith("fit-")] == []


def test_interrupted_sweeps_go_on_from_the_last(spark, data, tmp_path, monkeypatch):
    frame, estimator = frame_of(spark, data), IALS(rank=4, maxIter=4, numUserBlocks=2)
    known = lists_of(estimator.fit(frame).recommendForAllUsers(5))
    sweeps = []

    def counted(data, weights, sweep, *others):
        sweeps.append(sweep)
        if sweeps == [0, 1, 2]:
            raise Interrupted
        return whole(data, weights, sweep, *others)

    whole = row_als._sweep
    monkeypatch.setattr(row_als, "_sweep", counted)
    own = estimator.copy({estimator.workDir: str(tmp_path)})
    with pytest.raises(Interrupted):
        own.fit(frame)
    model = own.fit(frame)
    assert sweeps == [0, 1, 2, 2, 3]
    assert lists_of(model.recommendForAllUsers(5)) == known


@pytest.mark.parametrize("during", ["the last loss", "what follows it"])
def test_sweeps_that_had_settled_when_the_driver_died_are_not_gone_on_with(spark, data, tmp_path, monkeypatch, during):
    frame, estimator = frame_of(spark, data), IALS(rank=2, maxIter=9, numUserBlocks=2, tol=0.2, workDir=str(tmp_path))
    known = estimator.fit(frame)
    assert 2 <= known.facts["sweeps"] < 9

    def interrupted(*args, **others):
        raise Interrupted

    def loss(data, weights, sweep, *others):
        return interrupted() if sweep == known.facts["sweeps"] - 1 else whole(data, weights, sweep, *others)

    whole = row_als._loss
    module, name, broken = (row_als, "_loss", loss) if "loss" in during else (estimators, "write_model", interrupted)
    with monkeypatch.context() as patch:
        patch.setattr(module, name, broken)
        with pytest.raises(Interrupted):
            estimator.fit(frame)
    monkeypatch.setattr(row_als, "_sweep", interrupted)
    model = estimator.fit(frame)
    assert model.facts["losses"] == known.facts["losses"]
    assert lists_of(model.recommendForAllUsers(5)) == lists_of(known.recommendForAllUsers(5))


def test_other_data_do_not_go_on_from_there(spark, data, tmp_path, monkeypatch):
    frame, estimator = frame_of(spark, data), RG2(rank=4, numUserBlocks=2, workDir=str(tmp_path))
    whole = normal.sum_by_item
    monkeypatch.setattr(normal, "sum_by_item", lambda *_: (_ for _ in ()).throw(Interrupted()))
    with pytest.raises(Interrupted):
        estimator.fit(frame)
    monkeypatch.setattr(normal, "sum_by_item", whole)
    other = frame.where("item % 7 != 0")
    found = estimator.fit(other)
    assert found.facts["interactions"] == other.count()


def test_a_killed_driver_is_taken_up(spark, tmp_path, monkeypatch):
    script = Path(__file__).with_name("killed_driver.py")
    killed = subprocess.run([sys.executable, script, tmp_path, "4"], capture_output=True, text=True, timeout=300)
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-3000:]
    frame, estimator = frame_of(spark, killed_driver.data()), killed_driver.ESTIMATOR
    calls, whole = [], normal.sum_by_item
    monkeypatch.setattr(normal, "sum_by_item", lambda *args: calls.append(1) or whole(*args))
    model = estimator.copy({estimator.workDir: str(tmp_path)}).fit(frame)
    taken_up = len(calls)
    known = estimator.fit(frame)
    assert taken_up == len(calls) - taken_up - 3  # three products were there
    assert lists_of(model.recommendForAllUsers(5)) == lists_of(known.recommendForAllUsers(5))
