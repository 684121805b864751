"""Files: whatever happens to one, it loads as the same model or is refused in one clear line."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from fitted import CLOSED_FORM, small
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load as read_arrays
from safetensors.numpy import save as write_arrays
from scipy import sparse

import taylorank as tr
from taylorank.errors import DataError, ParameterError
from taylorank.models.storage import with_checksum
from taylorank.registry import MODELS


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    users, items = np.nonzero(rng.random((12, 9)) < 0.4)
    names = [f"ü{k}" for k in items]
    return tr.Interactions.from_arrays(users, names, strengths=rng.choice([1.0, 2.0], len(users)))


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    models = {name: small(name, factors=2).fit(data) for name in MODELS}
    for name, model in models.items():
        model.save(folder / f"{name}.tr")
    return {name: (models[name], (folder / f"{name}.tr").read_bytes()) for name in MODELS}


def same(a, b):
    return (
        type(a) is type(b)
        and a.settled_params() == b.settled_params()
        and a.seen == b.seen
        and a.data_fingerprint == b.data_fingerprint
        and np.array_equal(a.item_popularity, b.item_popularity)
        and all(_equal(getattr(a, name), getattr(b, name)) for name in a.learned_shapes)
    )


def _equal(a, b):
    if sparse.issparse(a) or sparse.issparse(b):
        return sparse.issparse(a) and sparse.issparse(b) and _equal(a.toarray(), b.toarray())
    return np.array_equal(a, b) and np.asarray(a).dtype == np.asarray(b).dtype


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_the_saved_one(name, files, data, tmp_path):
    model, _ = files[name]
    model.save(tmp_path / "m.tr")
    again = tr.load(tmp_path / "m.tr")
    assert same(again, model)
    for users in (data.user_ids, data.user_ids[:1]):
        for got, expected in zip(again.recommend(users), model.recommend(users), strict=True):
            np.testing.assert_array_equal(got, expected)
    if name in CLOSED_FORM:
        history = [(1, "ü2"), (1, "ü3"), (2, "ü3")]
        lists, others = (which.fold_in(history).recommend([1]) for which in (again, model))
        for got, expected in zip(lists, others, strict=True):
            np.testing.assert_array_equal(got, expected)
        assert again.explain(1, "ü5").score == model.explain(1, "ü5").score
    again.save(tmp_path / "again.tr")
    assert (tmp_path / "again.tr").read_bytes() == (tmp_path / "m.tr").read_bytes()


@given(name=st.sampled_from(list(MODELS)), place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_is_harmless_or_refused(name, place, bit, files, tmp_path_factory):
    model, whole = files[name]
    damaged = bytearray(whole)
    damaged[int(place * len(whole))] ^= 1 << bit
    check_refused_or_same(model, bytes(damaged), tmp_path_factory)


@given(name=st.sampled_from(list(MODELS)), place=st.floats(0, 1, exclude_max=True), extra=st.binary(max_size=20))
def test_a_cut_file_is_refused(name, place, extra, files, tmp_path_factory):
    model, whole = files[name]
    check_refused_or_same(model, whole[: int(place * len(whole))] + extra, tmp_path_factory)


@given(name=st.sampled_from(list(MODELS)), data=st.data())
def test_flips_in_the_header_are_refused(name, data, files, tmp_path_factory):
    """The header is a small part of a file, so that flips anywhere seldom meet it."""
    model, whole = files[name]
    length = struct.unpack("<Q", whole[:8])[0]
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 2))):
        damaged[data.draw(st.integers(0, 8 + length - 1))] = data.draw(st.integers(0, 255))
    check_refused_or_same(model, bytes(damaged), tmp_path_factory)


def check_refused_or_same(model, content, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "damaged.tr"
    path.write_bytes(content)
    try:
        loaded = tr.load(path)
    except DataError as error:
        complaint, loaded = str(error), None
    assert same(loaded, model) if loaded is not None else "\n" not in complaint


def rewritten(whole, arrays=None, **changes):
    """The file as a version would write it whose manifest differs."""
    length = struct.unpack("<Q", whole[:8])[0]
    manifest = json.loads(json.loads(whole[8 : 8 + length])["__metadata__"]["taylorank"])
    del manifest["checksum"]
    arrays = read_arrays(whole) if arrays is None else arrays
    return write_arrays(arrays, metadata={"taylorank": with_checksum({**manifest, **changes}, arrays)})


def test_files_of_newer_versions_say_so(files, tmp_path):
    _, whole = files["rg2"]
    cases = {
        "parameter 'depth' that is unknown": {"parameters": {"factors": 2, "depth": 3}},
        "model 'RG9' that is unknown": {"model": "RG9"},
        "model 'load' that is unknown": {"model": "load"},
        "in format 99": {"format": 99},
    }
    for words, change in cases.items():
        (tmp_path / "m.tr").write_bytes(rewritten(whole, taylorank="9.9", **change))
        with pytest.raises(DataError, match=f"written by taylorank 9.9.*{words}.*update taylorank"):
            tr.load(tmp_path / "m.tr")
    (tmp_path / "m.tr").write_bytes(rewritten(whole))
    assert tr.load(tmp_path / "m.tr").factors == 2


def test_arrays_that_do_not_fit_are_refused(files, tmp_path):
    _, whole = files["rg2"]
    for name, value in (("user_factors_", np.ones((3, 2))), ("item_factors_", np.ones((9, 5))), ("proposal_", None)):
        arrays = read_arrays(whole)
        if value is None:
            del arrays[name]
        else:
            arrays[name] = value
        (tmp_path / "m.tr").write_bytes(rewritten(whole, arrays))
        with pytest.raises(DataError, match="damaged"):
            tr.load(tmp_path / "m.tr")


def test_what_a_file_does_not_hold(data, tmp_path):
    model = tr.RG2(factors=np.int64(2), num_threads=1).fit(data)
    assert list(model.path([1], [0.0]))
    model.save(tmp_path / "m.tr")
    again = tr.load(tmp_path / "m.tr")
    assert again.factors == 2
    assert again.num_threads is None  # a matter of the machine
    with pytest.raises(ParameterError, match="has no SVD"):
        next(again.path())
    with pytest.raises(ParameterError, match="not a plain value"):
        tr.RG2(factors=2).fit(data).set_params(random_state=np.random.default_rng(0)).save(tmp_path / "x.tr")
    assert not (tmp_path / "x.tr").exists()
