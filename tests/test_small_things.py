"""Small conveniences: what people write first works, or says what to write instead."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank import torch_extra
from taylorank.errors import DataError, MissingExtraError, MissingMethodError, ParameterError
from taylorank.registry import MODELS, model_named

DATA = tr.planted(80, 40, interactions=900, random_state=3)


def test_ids_are_sliced_iterated_and_asked_like_a_list():
    ids = tr.Interactions.from_arrays(["b", "a", "c"], [10, 20, 30])
    assert ids.users[:2].tolist() == ["a", "b"]
    assert ids.users[-1] == "c"
    assert list(ids.items) == [10, 20, 30]
    assert ids.items[[0, 2]].tolist() == [10, 30]
    assert "a" in ids.users
    assert 10 not in ids.users
    assert np.int64(10) in ids.items
    with pytest.raises(IndexError):
        ids.users[3]


def test_the_ids_of_a_slice_cannot_change_the_data():
    with pytest.raises(ValueError, match="read-only"):
        DATA.users[:3][0] = 99


def test_a_list_of_parts_is_merged_like_parts_one_by_one():
    a, b, c = DATA.split()
    assert tr.merge([a, b, c]) == tr.merge(a, b, c) == DATA
    assert tr.merge(iter([a, b])) == tr.merge(a, b)
    assert tr.merge(a) == a


@pytest.mark.parametrize("given", [([],), (), ([3],), (DATA, "ratings.csv"), (5,)])
def test_what_cannot_be_merged_is_named(given):
    with pytest.raises(DataError, match=r"merge\(\[a, b\]\)"):
        tr.merge(*given)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "neural"])
def test_models_without_partial_fit_say_so(name):
    model = model_named(name)
    if hasattr(type(model), "partial_fit"):
        assert callable(model.partial_fit)
        return
    assert not hasattr(model, "partial_fit")  # scikit-learn asks so
    with pytest.raises(MissingMethodError, match=rf"{type(model).__name__} has no partial_fit; fit again to tr.merge"):
        model.partial_fit(DATA)


def test_a_misspelled_method_is_an_ordinary_attribute_error():
    with pytest.raises(AttributeError, match="recomend"):
        tr.Popularity().recomend([0])
    with pytest.raises(MissingMethodError, match="Popularity has no similar_items"):
        tr.Popularity().fit(DATA).similar_items([0])


def test_a_space_takes_choices_ranges_whole_numbers_and_plain_lists():
    train, valid = DATA.split((0.8, 0.2))
    space = {"factors": tr.Int(2, 6), "nu": tr.Range(0.0, 1.0), "unobserved_weight": tr.Choice([0.1, 0.3])}
    found = tr.tune("ials", train, valid, space={**space, "iterations": [2, 3]}, trials=4)
    assert {type(trial.params["factors"]) for trial in found.trials} == {int}
    assert all(2 <= trial.params["factors"] <= 6 for trial in found.trials)
    assert {trial.params["iterations"] for trial in found.trials} <= {2, 3}
    assert {trial.params["unobserved_weight"] for trial in found.trials} <= {0.1, 0.3}


def test_every_whole_number_of_a_range_is_drawn_with_the_ends():
    rng = np.random.default_rng(0)
    assert {tr.Int(3, 5).draw(rng) for _ in range(100)} == {3, 4, 5}


@pytest.mark.parametrize(("make", "says"), [(lambda: tr.Int(0.5, 3), "whole"), (lambda: tr.Int(5, 3), "empty")])
def test_ranges_without_whole_numbers_are_refused(make, says):
    with pytest.raises(ParameterError, match=says):
        make()


def test_a_space_that_is_no_mapping_is_refused():
    with pytest.raises(ParameterError, match="is not a mapping"):
        tr.tune("ials", DATA, DATA, space=[8, 16])


def test_the_path_is_there_after_loading_if_it_was_saved(tmp_path):
    model = tr.RG2(factors=6).fit(DATA)
    model.save(tmp_path / "with.tr", path=True)
    model.save(tmp_path / "without.tr")
    loaded = tr.load(tmp_path / "with.tr")
    for ours, theirs in zip(model.path((2, 4), (0.1,)), loaded.path((2, 4), (0.1,)), strict=True):
        assert np.array_equal(ours.item_factors, theirs.item_factors)
    with pytest.raises(ParameterError, match="save it with path=True"):
        next(tr.load(tmp_path / "without.tr").path())


def test_a_missing_torch_comes_with_a_word_on_its_cpu_build(monkeypatch):
    monkeypatch.setattr(torch_extra.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"taylorank\[torch\].*CPU build"):
        torch_extra.require_torch()


def test_a_cpu_build_of_torch_is_named_where_cuda_is_asked_for(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch_extra, "has_driver", lambda: True)
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ParameterError, match="is a build for the CPU"):
        torch_extra.uses_cuda("cuda")
    assert not torch_extra.uses_cuda("auto")
