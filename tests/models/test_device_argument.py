"""`device` of a call stands for the parameter of the model, which keeps its own."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank.errors import ParameterError
from taylorank.selection import Choice
from taylorank.torch_extra import on_device, uses_cuda

try:
    HAS_CUDA = uses_cuda("auto")
except ImportError:
    HAS_CUDA = False


@pytest.fixture(scope="module")
def parts():
    return tr.planted(120, 60, interactions=2000, random_state=1).split(random_state=0)


@pytest.fixture
def asked(monkeypatch):
    """The devices that models were told to compute on; they use the CPU."""
    devices = []
    for module in ("rg_family", "recommender", "item_based", "ease", "weighted"):
        monkeypatch.setattr(f"taylorank.models.{module}.torch_device", lambda device: devices.append(device))
    return devices


def test_evaluate_and_recommend(parts, asked):
    train, _, test = parts
    model = tr.RG2(4).fit(train)
    lists, found = model.recommend(train.user_ids)[0], tr.evaluate(model, test, k=10)
    assert set(asked) == {"auto"}
    asked.clear()
    np.testing.assert_array_equal(model.recommend(train.user_ids, device="cpu")[0], lists)
    assert dict(tr.evaluate(model, test, k=10, device="cpu")) == dict(found)
    assert set(asked) == {"cpu"}
    assert model.device == "auto"
    folded = model.fold_in([("new", 3), ("new", 5)])
    np.testing.assert_array_equal(folded.recommend(["new"], device="cpu")[0], folded.recommend(["new"])[0])


@pytest.mark.parametrize("model", [tr.RG2(4), tr.IALS(4), tr.EASE(), tr.ItemKNN(20)], ids=repr)
def test_tune(parts, asked, model):
    train, valid, _ = parts
    name = "factors" if "factors" in model.get_params() else next(iter(model.get_params()))
    space = {name: Choice((2, 4))}
    plain = tr.tune(model, train, valid, space=space)
    asked.clear()
    found = tr.tune(model, train, valid, space=space, device="cpu", refit=True)
    assert set(asked) == {"cpu"}
    assert (model.device, found.model.device) == ("auto", "cpu")
    assert (found.best, found.value) == (plain.best, plain.value)


def test_compare(parts, asked):
    found = tr.compare(parts[0], ["rg2", "ease", "popularity"], seeds=(0,), trials=0, device="cpu")
    assert set(asked) == {"cpu"}
    assert not any(run["error"] for run in found.record["runs"])
    assert [one["params"].get("device") for one in found.record["models"].values()] == ["cpu", "cpu", None]


@pytest.mark.parametrize("device", ["tpu", pytest.param("cuda", marks=pytest.mark.skipif(
    HAS_CUDA, reason="there is a CUDA device"))])  # fmt: skip
def test_a_device_that_is_not_there_is_refused(parts, device):
    train, valid, test = parts
    for kind in (tr.RG2, tr.Popularity):
        model = kind().fit(train) if kind is tr.Popularity else kind(4).fit(train)
        for call in (
            lambda model=model: tr.evaluate(model, test, device=device),
            lambda model=model: model.recommend(train.user_ids[:1], device=device),
            lambda model=model: tr.tune(model, train, valid, device=device),
            lambda model=model: tr.compare(train, [model], device=device),
        ):
            with pytest.raises(ParameterError, match=r"no CUDA device|is unknown"):
                call()


def test_models_without_one_stay_as_they_are():
    model, other = tr.Popularity(), object()
    assert on_device(model, "cpu") is model
    assert on_device(other, "cpu") is other
    own = tr.RG2(device="cpu")
    assert on_device(own, "cpu") is own
    assert on_device(own, None) is own
