"""`--device` of every command that fits or ranks."""

from __future__ import annotations

import json

import pytest

import taylorank as tr
from taylorank.torch_extra import uses_cuda
from tests.cli.command import run

try:
    HAS_CUDA = uses_cuda("auto")
except ImportError:
    HAS_CUDA = False

COMMANDS = {
    "train": ("train", "data.npz", "--factors", "3", "--out", "new.tr"),
    "tune": ("tune", "data.npz", "--trials", "1"),
    "compare": ("compare", "data.npz", "--models", "rg2,popularity", "--trials", "0", "--seeds", "1"),
    "evaluate": ("evaluate", "m.tr", "test.npz", "--resamples", "10"),
    "recommend": ("recommend", "m.tr", "--for-user", "3"),
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train, _, test = tr.planted(60, 30, interactions=500, random_state=1).split(random_state=0)
    train.save_npz("data.npz")
    test.save_npz("test.npz")
    tr.RG2(factors=3).fit(train).save("m.tr")
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_it_names_a_device(place, capsys, monkeypatch, name):
    devices = []
    for module in ("rg_family", "recommender"):
        monkeypatch.setattr(f"taylorank.models.{module}.torch_device", lambda device: devices.append(device))
    assert run(*COMMANDS[name], "--device", "cpu") == 0
    assert set(devices) == {"cpu"}
    assert run(*COMMANDS[name], "--device", "tpu") != 0
    assert "tpu" in "".join(capsys.readouterr())


@pytest.mark.skipif(HAS_CUDA, reason="there is a CUDA device")
@pytest.mark.parametrize("name", COMMANDS)
def test_one_that_is_not_there_is_refused(place, capsys, name):
    assert run(*COMMANDS[name], "--device", "cuda") == 2
    assert "there is no CUDA device; choose device='cpu'" in " ".join(capsys.readouterr().err.split())


def test_models_without_one_say_so(place, capsys):
    assert run("train", "data.npz", "--model", "popularity", "--device", "cpu", "--out", "p.tr") == 2
    assert "popularity has no option --device" in capsys.readouterr().err
    assert run("tune", "data.npz", "--model", "popularity", "--device", "cpu", "--json", "t.json") == 0
    assert json.loads((place / "t.json").read_text())["status"] == "complete"
