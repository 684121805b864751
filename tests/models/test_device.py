"""Models fitted and ranked by tensors give what NumPy gives: on torch's CPU everywhere, on CUDA where there is one."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import taylorank as tr

torch = pytest.importorskip("torch", reason="torch is not installed")

MODELS = {
    "rg2": tr.RG2(12, tolerance=0),
    "rg2, lift": tr.RG2(12, tolerance=0, ranking="lift"),
    "rgx": tr.RGX(8, tolerance=0, proposal_exponent=0.8),
    "rg2, plain": tr.RG2.literal(6, regularization=5.0),
    "als": tr.RG2(8, solver="als", iterations=200, tolerance=0),
    "sampled-rg2": tr.SampledRG2(6, negatives=20),
    "sampled-rgx": tr.SampledRGX(6, negatives=20),
    "sampled, ranked by probability": tr.SampledRG2(6, proposal_exponent=0.5),
    "wrmf": tr.WRMF(6, alpha=5.0),
    "ials": tr.IALS(6),
    "ials, cg": tr.IALS(6, solver="cg", iterations=40),
}


@pytest.fixture(scope="module")
def parts():
    return tr.planted(900, 600, interactions=20_000, random_state=1).split(random_state=0)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.skipif(
    not torch.cuda.is_available(), reason="there is no CUDA device"))])  # fmt: skip
def on_device(request, monkeypatch):
    """A function that makes models compute with tensors, or not."""

    def switch(on):
        for module in ("rg_family", "weighted", "recommender", "item_based", "ease"):
            monkeypatch.setattr(f"taylorank.models.{module}.torch_device", lambda _: request.param if on else None)

    return switch


def fitted(name, train, switch, *, on):
    switch(on)
    model = type(MODELS[name])(**MODELS[name].get_params())
    return model.fit(train)


@pytest.mark.parametrize("name", MODELS)
def test_scores_lists_and_metrics_are_those_of_numpy(parts, on_device, name):
    train, valid, test = parts
    plain, tensors = (fitted(name, train, on_device, on=on) for on in (False, True))
    users = np.arange(train.n_users)
    on_device(False)
    expected, lists = plain.scores(users), plain.recommend(train.users.values, n=10)[0]
    metrics = tr.evaluate(plain, test, k=10, seen=[train, valid])
    on_device(True)
    assert name == "rg2, plain" or "item_factors_" in vars(tensors)["_tensors"]
    scale = np.abs(expected).max()
    np.testing.assert_allclose(tensors.scores(users), expected, atol=1e-4 * scale)
    same = (tensors.recommend(train.users.values, n=10)[0] == lists).all(axis=1)
    assert same.mean() > 0.98
    found = tr.evaluate(tensors, test, k=10, seen=[train, valid])
    assert found["ndcg@10"] == pytest.approx(metrics["ndcg@10"], abs=2e-3)
    assert isinstance(tensors.user_factors_, np.ndarray)


@pytest.mark.parametrize("name", ["rg2", "ials", "sampled-rg2"])
def test_a_model_goes_from_one_device_to_the_other(parts, on_device, tmp_path, name):
    train, _, _ = parts
    model = fitted(name, train, on_device, on=True)
    there = model.recommend(train.users.values, n=10)[0]
    model.save(tmp_path / "model.tr")
    copied = pickle.loads(pickle.dumps(model))
    for on in (False, True):
        on_device(on)
        for other in (tr.load(tmp_path / "model.tr"), copied):
            assert (other.recommend(train.users.values, n=10)[0] == there).all(axis=1).mean() > 0.99


def test_new_users_neighbours_explanations_and_exports(parts, on_device):
    train, _, _ = parts
    plain, tensors = (fitted("rg2", train, on_device, on=on) for on in (False, True))
    histories = [("new", 3), ("new", 5), ("new", 8)]
    lists = []
    for model, on in ((plain, False), (tensors, True)):
        on_device(on)
        lists.append(model.fold_in(histories).recommend(["new"], n=10)[0])
    np.testing.assert_array_equal(*lists)
    np.testing.assert_array_equal(plain.similar_items([4], n=5)[0], tensors.similar_items([4], n=5)[0])
    assert tensors.explain(0, 7).score == pytest.approx(plain.explain(0, 7).score, rel=1e-3)
    for mine, theirs in zip(tensors.export_factors(), plain.export_factors(), strict=True):
        assert mine.shape == theirs.shape
    again = tensors.partial_fit(parts[1])
    assert np.isfinite(again.user_factors).all()


def test_the_path_stays_on_the_device(parts, on_device):
    train, _, test = parts
    values = {}
    for on in (False, True):
        model = fitted("rg2", train, on_device, on=on)
        for part in model.path(factors=(4, 12), regularization=(0.0, 0.3)):
            values[on, part.factors, part.regularization] = tr.evaluate(part, test, k=10)["ndcg@10"]
    for on, factors, share in values:
        if on:
            assert values[on, factors, share] == pytest.approx(values[False, factors, share], abs=2e-3)


@pytest.mark.parametrize("kind", ["rg2", "ials"])
def test_an_interrupted_fit_goes_on_from_its_checkpoint(parts, on_device, tmp_path, kind):
    train, _, _ = parts
    on_device(True)
    make = {"rg2": lambda: tr.RG2(40, tolerance=0), "ials": lambda: tr.IALS(6, iterations=6)}[kind]
    whole, file = make().fit(train), tmp_path / "fit.npz"

    def interrupt(progress):
        if progress.step > 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make().fit(train, callback=interrupt, checkpoint=file)
    resumed = make().fit(train, checkpoint=file)
    np.testing.assert_allclose(resumed.item_factors, whole.item_factors, atol=1e-4)


@pytest.mark.parametrize("strengths", [False, True], ids=["binary", "strengths"])
@pytest.mark.parametrize("make", [lambda: tr.ItemKNN(30), lambda: tr.ItemKNN(900), lambda: tr.EASE(50.0)])
def test_models_of_items(parts, on_device, monkeypatch, make, strengths):
    from taylorank.models import ease_cuda, neighbours_cuda

    monkeypatch.setattr(ease_cuda, "BLOCK_CELLS", 600 * 70)
    monkeypatch.setattr(neighbours_cuda, "BLOCK_CELLS", 900 * 70)
    train, _, test = parts
    if strengths:
        values = np.random.default_rng(0).choice([0.5, 1.0, 3.0], train.nnz)
        train = tr.Interactions.from_arrays(train.by_user.row_of_entry(), train.by_user.indices, strengths=values)
    on_device(False)
    plain, users = make().fit(train), np.arange(train.n_users)
    expected, weights = plain.scores(users), _dense(plain.item_weights_)
    lists, metrics = plain.recommend(train.user_ids)[0], tr.evaluate(plain, test, k=10)
    on_device(True)
    tensors = make().fit(train)
    found = _dense(tensors.item_weights_)
    np.testing.assert_allclose(found, weights, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(found != 0, weights != 0)
    np.testing.assert_allclose(tensors.scores(users), expected, atol=1e-5 * np.abs(expected).max())
    assert (tensors.recommend(train.user_ids)[0] == lists).mean() > 0.99
    assert tr.evaluate(tensors, test, k=10)["ndcg@10"] == pytest.approx(metrics["ndcg@10"], abs=1e-3)


def _dense(weights):
    return weights.toarray() if hasattr(weights, "toarray") else weights


def test_counts_of_users_are_exact_in_single_precision(parts, monkeypatch):
    from taylorank.models import dense_parts, ease_cuda

    train = parts[0]
    expected = (train.matrix.T.astype(np.float64) @ train.matrix).toarray()
    for most, kind in ((1 << 24, torch.float32), (train.n_users, torch.float64)):
        monkeypatch.setattr(dense_parts, "EXACT_COUNTS", most)
        found = ease_cuda.item_products(train, "cpu")
        assert found.dtype == kind
        np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("name", ["rg2", "als"])
@pytest.mark.parametrize("strengths", [False, True], ids=["binary", "strengths"])
def test_data_that_do_not_fit_stream_through_the_device(parts, on_device, monkeypatch, name, strengths):
    from taylorank.kernels.cuda import StreamedRows, scaled

    train, streamed = parts[0], []
    if strengths:
        values = np.random.default_rng(0).choice([0.5, 1.0, 3.0], train.nnz)
        train = tr.Interactions.from_arrays(train.by_user.row_of_entry(), train.by_user.indices, strengths=values)
    whole = fitted(name, train, on_device, on=True)
    monkeypatch.setenv("TAYLORANK_DEVICE_MEMORY", "1kB")
    monkeypatch.setattr(scaled, "LEAST_BLOCK", 9000)
    real = StreamedRows.gather_sum
    monkeypatch.setattr(
        StreamedRows, "gather_sum", lambda rows, *a, **b: streamed.append(len(rows.blocks)) or real(rows, *a, **b)
    )
    part = fitted(name, train, on_device, on=True)
    assert min(streamed) > 5
    np.testing.assert_array_equal(part.item_factors, whole.item_factors)
    np.testing.assert_array_equal(part.user_factors, whole.user_factors)


def test_a_device_that_is_not_there_is_refused(parts):
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises(tr.errors.ParameterError, match="no CUDA device"):
        tr.RG2(4, device="cuda").fit(parts[0])
    with pytest.raises(tr.errors.ParameterError, match="unknown"):
        tr.IALS(4, device="tpu").fit(parts[0])
