"""What is called with an argument of another type says so in one line, whatever it is."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import taylorank as tr
from taylorank.checks import typed
from taylorank.errors import DataError, ParameterError, TaylorankError
from taylorank.selection import Comparison


@pytest.fixture(scope="module")
def data():
    return tr.planted(30, 20, interactions=200, random_state=0)


@pytest.mark.parametrize(
    "given",
    [{"per_user": "x"}, {"resamples": []}, {"random_state": [1]}, {"random_state": None}, {"gain": np.zeros(2)},
     {"metrics": np.float32(1)}, {"k": np.array(3)}, {"confidence": {}}, {"num_threads": np.array(3)}],
)  # fmt: skip
def test_of_evaluate(given, data):
    with pytest.raises(TaylorankError, match=f"{next(iter(given))}="):
        tr.evaluate(tr.Popularity().fit(data), data, seen=[], **given)


@pytest.mark.parametrize(
    "given",
    [{"train": 3}, {"valid": np.float16(2)}, {"seconds": "x"}, {"seconds": True}, {"callback": 7}, {"refit": [1]},
     {"random_state": {}}],
)  # fmt: skip
def test_of_tune(given, data):
    with pytest.raises(TaylorankError, match=f"{next(iter(given))}="):
        tr.tune(**{"model": "itemknn", "train": data, "valid": data, "trials": 1, **given})


@pytest.mark.parametrize(
    "given",
    [{"data": pd.NaT}, {"models": sparse.csr_array((2, 2))}, {"spaces": [1, 2]}, {"seeds": [1, "x"]}, {"seeds": pd.NaT},
     {"protocol": 2}, {"callback": "x"}, {"per_user": 1}, {"metrics": 0.5}],
)  # fmt: skip
def test_of_compare(given, data):
    with pytest.raises(TaylorankError, match=f"{next(iter(given))}="):
        tr.compare(**{"data": data, "models": ["popularity"], "trials": 0, "seeds": [0], **given})


def test_of_data(data):
    calls = [
        lambda: tr.Interactions.from_arrays([1], 2.5),
        lambda: tr.Interactions.from_matrix(data.matrix, items=float("nan")),
        lambda: data.split("auto"),
        lambda: data.split_users(fold_in=[1, 2]),
        lambda: data.split_last(test=10**30),
        lambda: data.to_frame(sparse.csr_array((2, 2))),
        lambda: tr.planted(20, 10, taste={}),
        lambda: tr.planted(20, 10, factors=2**31),
        lambda: tr.RG2(3).fit(data).fold_in({"a": 1}),
        lambda: tr.RG2(3).fit(data).fold_in(np.array(3)),
        lambda: list(tr.RG2(3).fit(data).path(factors=7)),
        lambda: tr.RG2(3).fit(data, callback=3),
        lambda: tr.Popularity().fit(data).recommend(sparse.csr_array((2, 2))),
        lambda: tr.IALS(3, solver=sparse.csr_array((2, 2))).fit(data),
    ]
    for call in calls:
        with pytest.raises(TaylorankError) as raised:
            call()
        assert "\n" not in str(raised.value)


def test_numbers_of_numpy_are_numbers(data):
    assert len(data.split([np.float32(0.5), 0.5])) == 2
    assert tr.Popularity().fit(data).recommend(np.arange(3), np.uint8(2))[0].shape == (3, 2)
    discounted = tr.SampledRG2(3, popularity_discount=np.uint8(2)).fit(data)
    assert np.isfinite(discounted.recommend([0], 3)[1]).all()


def test_what_is_open_stays_open():
    @typed
    def call(values, count: int | None = None, *, more: Unknown = 3):  # noqa: F821
        return values, count, more

    assert call("x", None, more=object)[0] == "x"
    with pytest.raises(ParameterError, match="count='x' is not a whole number or None; give one"):
        call(1, "x")


def test_a_model_whose_checksum_fits_and_whose_parameters_do_not(data, tmp_path):
    from safetensors.numpy import load_file, save_file

    from taylorank.models.storage import with_checksum

    path = tmp_path / "m.tr"
    tr.RG2(3).fit(data).save(path)
    length = int.from_bytes(path.read_bytes()[:8], "little")
    header = json.loads(path.read_bytes()[8 : 8 + length])
    arrays, good = load_file(path), json.loads(header["__metadata__"]["taylorank"])
    good.pop("checksum")
    crafted = [{**good, "parameters": "x"}, {**good, "parts": 2.5}, {key: good[key] for key in good if key != "model"}]
    crafted += [{**good, "parameters": {**good["parameters"], "popularity_discount": [1]}}]
    for manifest in crafted:
        save_file(arrays, path, metadata={"taylorank": with_checksum(manifest, arrays)})
        with pytest.raises(TaylorankError):
            tr.load(path).recommend([0], 3)


def test_trials_and_comparisons_with_values_that_are_none(data, tmp_path):
    train, valid = data.split((0.8, 0.2))
    file = tmp_path / "t.jsonl"
    tr.tune("itemknn", train, valid, trials=2, file=file)
    head, first, *rest = file.read_text().splitlines()
    for name, value in (("value", []), ("value", float("nan")), ("users", [1]), ("seconds", {}), ("status", 3)):
        file.write_text("\n".join([head, json.dumps({**json.loads(first), name: value}), *rest, ""]))
        with pytest.raises(DataError, match=r"line 2 of .* is not a trial"):
            tr.tune("itemknn", train, valid, trials=3, file=file)
    place = tmp_path / "c.json"
    tr.compare(data, ["popularity"], trials=0, seeds=[0]).save(place)
    record = json.loads(place.read_text())
    record["summary"]["models"] = [1, 2]
    place.write_text(json.dumps(record))
    with pytest.raises(DataError, match=r"is not as it was written|is no comparison"):
        Comparison.load(place)
