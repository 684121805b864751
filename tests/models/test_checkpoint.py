"""The file of a fit in progress: other files are left alone, damaged ones refused, and the fit outlives it."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import nullcontext

import numpy as np
import pytest

import taylorank as tr
from taylorank.data.arrays import load_arrays, save_arrays
from taylorank.errors import DataError, TrainingWarning
from taylorank.models import checkpoint as checkpoint_module


@pytest.fixture(scope="module")
def parts():
    return tr.planted(300, 120, interactions=5000, random_state=3).core(5).split()


def interrupting(after):
    def callback(progress):
        if progress.step == after:
            raise KeyboardInterrupt

    return callback


def test_a_file_of_another_kind_is_not_said_to_be_a_checkpoint_to_delete(parts, tmp_path):
    file = tmp_path / "ratings.csv"
    os.mkfifo(tmp_path / "pipe")
    parts[0].save_npz(tmp_path / "data.npz")
    for content in (b"", b"user,item\n1,2\n", (tmp_path / "data.npz").read_bytes()):
        file.write_bytes(content)
        with pytest.raises(DataError, match="is not a checkpoint; give another file"):
            tr.IALS(factors=4).fit(parts[0], checkpoint=file)
        assert file.read_bytes() == content
    with pytest.raises(DataError, match="is not a checkpoint"):
        tr.IALS(factors=4).fit(parts[0], checkpoint=tmp_path / "pipe")


def kept_by_an_interrupted_fit(train, file):
    with pytest.raises(KeyboardInterrupt):
        tr.IALS(factors=4).fit(train, callback=interrupting(3), checkpoint=file)
    arrays, _ = load_arrays(file)
    return arrays, json.loads(str(arrays["manifest"]))


@pytest.mark.parametrize(
    "changes",
    [{"sweep": float("nan")}, {"sweep": -3}, {"sweep": 2.5}, {"sweep": "2"}, {"sweep": None}, {"kind": None},
     {"last_loss": None}, {"history": None}, {"history": [3]}, {"history": [{}]}, {"best": 3}, {"best": {"step": -1}},
     {"history": [{"step": 1, "seconds": float("nan")}]}, {"history": [{"step": 1, "seconds": "x"}]}],
)  # fmt: skip
def test_manifests_that_make_no_sense_are_refused(parts, tmp_path, changes):
    file = tmp_path / "fit.npz"
    arrays, manifest = kept_by_an_interrupted_fit(parts[0], file)
    save_arrays(file, {"manifest": np.array(json.dumps({**manifest, **changes})), **without(arrays, "manifest")})
    with pytest.raises(DataError, match="is a damaged checkpoint"):
        tr.IALS(factors=4).fit(parts[0], checkpoint=file)


def without(arrays, name):
    return {key: value for key, value in arrays.items() if key != name}


def test_a_checkpoint_without_manifest_checksum_or_bounds_is_refused(parts, tmp_path):
    file = tmp_path / "fit.npz"
    arrays, _ = kept_by_an_interrupted_fit(parts[0], file)
    np.savez(file, **arrays)
    with pytest.raises(DataError, match="is a damaged checkpoint"):
        tr.IALS(factors=4).fit(parts[0], checkpoint=file)
    for text in ("[" * 100_000, "3", "[]", '{"identity": 3}', '{"identity": {}}'):
        save_arrays(file, {**arrays, "manifest": np.array(text)})
        with pytest.raises(DataError, match=r"is a damaged checkpoint|another fit"):
            tr.IALS(factors=4).fit(parts[0], checkpoint=file)


@pytest.mark.parametrize("interrupt", [False, True])
def test_a_fit_goes_on_when_its_checkpoint_cannot_be_written(parts, tmp_path, monkeypatch, interrupt):
    monkeypatch.setattr(checkpoint_module, "SECONDS_BETWEEN", 0.0)
    folder = tmp_path / "folder"
    folder.mkdir()

    def vanish(progress):
        if progress.step == 2:
            folder.rmdir() if not os.listdir(folder) else shutil.rmtree(folder)
        if progress.step == 4 and interrupt:
            raise KeyboardInterrupt

    whole = tr.IALS(factors=4).fit(parts[0])
    model = tr.IALS(factors=4)
    ends = pytest.raises(KeyboardInterrupt) if interrupt else nullcontext()
    with pytest.warns(TrainingWarning, match="goes on without checkpoint: cannot write") as warned, ends:
        model.fit(parts[0], callback=vanish, checkpoint=folder / "fit.npz")
    assert len(warned) == 1
    assert interrupt or model.item_factors.tobytes() == whole.item_factors.tobytes()
