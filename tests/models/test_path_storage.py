"""Files that keep the SVD: the path after loading is that of before."""

import numpy as np
import pytest
from safetensors.numpy import load as read_arrays
from safetensors.numpy import save as write_arrays

import taylorank as tr
from taylorank.errors import DataError, ParameterError
from taylorank.models.storage import with_checksum


@pytest.fixture(scope="module")
def data():
    return tr.planted(60, 30, interactions=900, random_state=1)


@pytest.mark.parametrize("kind", [tr.RG2, tr.RGX])
@pytest.mark.parametrize("params", [{}, {"penalty": "plain", "proposal_exponent": 0.0, "context_exponent": 0.0}])
def test_the_path_of_a_loaded_model_is_that_of_the_saved_one(kind, params, data, tmp_path):
    model = kind(8, **params).fit(data)
    model.save(tmp_path / "m.tr", path=True)
    loaded = tr.load(tmp_path / "m.tr")
    for a, b in zip(model.path([2, 8], [0.0, 0.3]), loaded.path([2, 8], [0.0, 0.3]), strict=True):
        assert np.array_equal(a.user_factors, b.user_factors)
        assert np.array_equal(a.item_factors, b.item_factors)
        assert a.penalty_ == b.penalty_
        assert np.array_equal(a.recommend(data.user_ids, 5)[0], b.recommend(data.user_ids, 5)[0])
    assert loaded.path_.svd.converged == model.path_.svd.converged
    assert loaded.path_.svd.passes == model.path_.svd.passes
    loaded.save(tmp_path / "again.tr", path=True)
    assert (tmp_path / "again.tr").read_bytes() == (tmp_path / "m.tr").read_bytes()


def test_without_asking_the_path_is_not_kept(data, tmp_path):
    model = tr.RG2(8).fit(data)
    model.save(tmp_path / "small.tr")
    model.save(tmp_path / "large.tr", path=True)
    assert (tmp_path / "small.tr").stat().st_size < (tmp_path / "large.tr").stat().st_size
    with pytest.raises(ParameterError, match=r"has no SVD, .*; fit the model again, and save it with path=True"):
        next(tr.load(tmp_path / "small.tr").path())


def test_only_a_fitted_model_of_the_spectral_solver_has_one_to_keep(data, tmp_path):
    fitted = tr.RG2(4).fit(data)
    updated = tr.RG2(4).fit(data).partial_fit([(1, 2)])
    for model in (tr.Popularity().fit(data), tr.RG2(4, solver="als", iterations=2).fit(data), updated):
        with pytest.raises(ParameterError, match='no path to keep; fit RG2 or RGX with solver="spectral"'):
            model.save(tmp_path / "m.tr", path=True)
    for model, seen in ((fitted.fold_in([("new", 2)]), True), (fitted, False)):
        with pytest.raises(ParameterError, match="a path is of the users that were fitted"):
            model.save(tmp_path / "m.tr", path=True, with_seen=seen)
    assert not (tmp_path / "m.tr").exists()


def test_a_damaged_path_is_refused(data, tmp_path):
    file = tmp_path / "m.tr"
    tr.RG2(4).fit(data).save(file, path=True)
    whole = bytearray(file.read_bytes())
    whole[-20] ^= 1
    (tmp_path / "bad.tr").write_bytes(whole)
    with pytest.raises(DataError, match=r"bad\.tr is damaged"):
        tr.load(tmp_path / "bad.tr")


@pytest.mark.parametrize("name", ["path.left", "path.values", "path.right", "path.residuals", "path.context"])
def test_a_path_of_another_shape_is_refused(name, data, tmp_path):
    import json

    from safetensors import safe_open

    file = tmp_path / "m.tr"
    tr.RG2(4).fit(data).save(file, path=True)
    with safe_open(str(file), framework="numpy") as opened:
        manifest = json.loads(opened.metadata()["taylorank"])
    arrays = dict(read_arrays(file.read_bytes()))
    arrays[name] = arrays[name][:-1]
    del manifest["checksum"]
    file.write_bytes(write_arrays(arrays, metadata={"taylorank": with_checksum(manifest, arrays)}))
    with pytest.raises(DataError, match=r"m\.tr is damaged \("):
        tr.load(file)
