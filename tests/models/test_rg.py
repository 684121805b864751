from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from scipy import sparse

import taylorank as tr
from taylorank.errors import DataError, NotFittedError, ParameterError, UnknownIdError
from taylorank.ranking import Ranker, recommend


@pytest.fixture(scope="module")
def parts():
    return tr.planted(400, 150, interactions=8000, random_state=4).core(5).split()


def test_probability_ranking_sums_to_one_and_beats_popularity_and_lift(parts):
    train, valid, test = parts
    model = tr.RG2(factors=8, regularization=0.1).fit(train)
    np.testing.assert_allclose(model.scores(np.arange(5)).sum(axis=1), 1, atol=1e-3)
    score = {
        "rg2": model,
        "popularity": tr.Popularity().fit(train),
        "lift": tr.RG2(factors=8, regularization=0.1, ranking="lift").fit(train),
    }
    ndcg = {name: tr.evaluate(m, test, seen=[train, valid])["ndcg@10"] for name, m in score.items()}
    assert ndcg["rg2"] > 1.2 * ndcg["popularity"]
    assert ndcg["rg2"] > ndcg["lift"]


def test_for_a_uniform_proposal_both_rankings_agree(parts):
    train = parts[0]
    by_probability = tr.RG2.paper(factors=8).fit(train)
    by_lift = tr.RG2.paper(factors=8, ranking="lift").fit(train)
    users = train.user_ids[:20]
    assert by_probability.recommend(users)[0].tolist() == by_lift.recommend(users)[0].tolist()


def test_exported_factors_are_the_scores(parts):
    model = tr.RG2(factors=6).fit(parts[0])
    users, items = model.export_factors()
    np.testing.assert_allclose(users @ items.T, model.scores(np.arange(len(users))), rtol=1e-5, atol=1e-7)


def test_rgx_and_als_reach_the_same_model(parts):
    """The threshold 0.79 σ₁ lies between σ₆ and σ₇, so that the optimum of rank 6 is unique and ALS gets there."""
    train = parts[0]
    exponents = {"proposal_exponent": 0.8, "context_exponent": 1.0}
    spectral = tr.RG2(factors=6, regularization=0.79, **exponents, tolerance=0).fit(train)
    values = tr.RG2(factors=7, **exponents, tolerance=0).fit(train).path_.svd.values
    assert values[6] < 0.79 * values[0] < values[5]
    expected = spectral.user_factors @ spectral.item_factors.T
    for other in (
        tr.RGX(factors=6, regularization=0.79, **exponents, tolerance=0),
        tr.RG2(factors=6, regularization=0.79, **exponents, solver="als", tolerance=0, iterations=3000),
    ):
        got = other.fit(train)
        np.testing.assert_allclose(got.user_factors @ got.item_factors.T, expected, atol=2e-3 * np.abs(expected).max())


def test_the_path_gives_what_refitting_gives(parts):
    train = parts[0]
    model = tr.RG2(factors=12, tolerance=1e-5).fit(train)
    for other in model.path([4, 12], [0.0, 0.4]):
        again = tr.RG2(factors=other.factors, regularization=other.regularization, tolerance=1e-5).fit(train)
        expected = again.user_factors @ again.item_factors.T
        np.testing.assert_allclose(
            other.user_factors @ other.item_factors.T, expected, atol=2e-3 * np.abs(expected).max()
        )
    assert model.factors == 12
    with pytest.raises(ParameterError, match="spectral"):
        next(tr.RG2(factors=2, solver="als").fit(train).path())


def test_folding_in_a_training_user_returns_its_factor(parts):
    train = parts[0]
    model = tr.RG2(factors=6, regularization=0.2, tolerance=0).fit(train)
    again = model.fold_in(train)
    np.testing.assert_allclose(again.user_factors, model.user_factors, atol=1e-4 * np.abs(model.user_factors).max())


def test_folding_in_strangers(parts):
    train = parts[0]
    model = tr.RG2(factors=6).fit(train)
    a, b = train.item_ids[:2].tolist()
    guests = model.fold_in([("new", a), ("new", b), ("odd", 10**9), ("odd", a)])
    ids, _ = guests.recommend(["new"], n=5)
    assert not {a, b} & set(ids[0].tolist())
    assert model.users != guests.users
    with pytest.raises(DataError, match="none of these items"):
        model.fold_in([("new", 10**9)])


def test_neighbours_leave_out_oneself(parts):
    model = tr.RG2(factors=6).fit(parts[0])
    item = model.items.values[3]
    ids, cosines = model.similar_items([item], n=5)
    assert item not in ids[0]
    assert np.all(np.diff(cosines[0]) <= 0)
    assert model.similar_users(model.users.values[:2], n=3)[0].shape == (2, 3)
    with pytest.raises(UnknownIdError):
        model.similar_items([-7])


def test_a_saved_model_is_the_same_model(parts, tmp_path):
    train = parts[0]
    model = tr.RG2(factors=6, regularization=0.25).fit(train)
    model.save(tmp_path / "m.tr")
    again = tr.load(tmp_path / "m.tr")
    assert again.get_params() == model.get_params()
    users = train.user_ids[:7]
    for got, expected in zip(again.recommend(users), model.recommend(users), strict=True):
        np.testing.assert_array_equal(got, expected)
    np.testing.assert_allclose(again.fold_in(train).user_factors, model.fold_in(train).user_factors)
    model.save(tmp_path / "small.tr", with_seen=False)
    assert tr.load(tmp_path / "small.tr").seen.nnz == 0
    texts = tr.Interactions.from_arrays(["ä", "b", "ä"], ["007", "7", "7"])
    tr.RG2(factors=1).fit(texts).save(tmp_path / "t.tr")
    assert tr.load(tmp_path / "t.tr").items.values.tolist() == ["007", "7"]


def test_damaged_and_foreign_files_are_refused(parts, tmp_path):
    from safetensors.numpy import save_file

    good = tmp_path / "m.tr"
    tr.RG2(factors=2).fit(parts[0]).save(good)
    whole = good.read_bytes()
    (tmp_path / "cut.tr").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.tr").write_text("hello")
    save_file({"a": np.ones(3)}, str(tmp_path / "foreign.tr"))
    length = struct.unpack("<Q", whole[:8])[0]
    header = json.loads(whole[8 : 8 + length])
    manifest = json.loads(header["__metadata__"]["taylorank"])
    for change in ({"model": "Popularity"}, {"format": 99}, {"parameters": {"depth": 3}}):
        header["__metadata__"]["taylorank"] = json.dumps({**manifest, **change})
        text = json.dumps(header).encode()
        (tmp_path / f"{next(iter(change))}.tr").write_bytes(struct.pack("<Q", len(text)) + text + whole[8 + length :])
    for name in ("cut", "text", "foreign", "model", "format", "parameters", "absent"):
        with pytest.raises(DataError):
            tr.load(tmp_path / f"{name}.tr")


@pytest.mark.parametrize(
    "params",
    [{"factors": 0}, {"factors": 10_000}, {"factors": 2.5}, {"regularization": -0.1}, {"regularization": 1.0},
     {"ranking": "best"}, {"solver": "magic"}, {"tolerance": -1}, {"proposal_exponent": np.nan}],
)  # fmt: skip
def test_bad_parameters_are_refused(parts, params):
    with pytest.raises(ParameterError):
        tr.RG2(**params).fit(parts[0])


def test_small_and_odd_data():
    one_user = tr.Interactions.from_arrays([1, 1], [1, 2])
    assert tr.RG2(factors=1).fit(one_user).recommend([1], n=2)[0].tolist() == [[-1, -1]]
    one_item = tr.Interactions.from_arrays([1, 2], [1, 1])
    assert np.isfinite(tr.RG2(factors=1).fit(one_item).user_factors).all()
    matrix = sparse.csr_matrix(np.array([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 0, 0]]))  # an empty row and column
    model = tr.RG2(factors=2).fit(matrix)
    assert np.isfinite(model.scores(np.arange(3))).all()
    assert model.recommend([1], n=4)[0].tolist()[0][0] == 0  # nothing known: the most popular first
    with pytest.raises(NotFittedError):
        tr.RG2().recommend([1])
    with pytest.raises(DataError, match="no interactions"):
        tr.RG2(factors=1).fit(sparse.csr_array((3, 3)))


def test_seeds_reproduce_and_parameters_follow_the_conventions(parts):
    a, b = (tr.RG2(factors=4, random_state=7).fit(parts[0]) for _ in range(2))
    np.testing.assert_array_equal(a.user_factors, b.user_factors)
    assert tr.RG2(**tr.RG2(factors=9).get_params()).factors == 9
    assert tr.RG2().set_params(factors=3).factors == 3
    assert tr.RG2.paper(32).get_params()["proposal_exponent"] == 0


def test_ranking_by_products_and_by_scores_agree(parts):
    """The model is ranked without scores; hidden behind a plain scorer, by its scores."""
    train, valid, test = parts
    model = tr.RG2(factors=6).fit(train)

    plain_model = Ranker(model.users, model.items, train, scores=model.scores)
    ours, plain = (tr.evaluate(m, test, seen=[train, valid]) for m in (model, plain_model))
    assert ours == pytest.approx(plain, abs=1e-3)
    first, second = (recommend(m, train.user_ids, 10, seen=[train, valid]) for m in (model, plain_model))
    assert np.mean(first[0] == second[0]) > 0.999
    np.testing.assert_allclose(first[1], second[1], rtol=1e-4)
    allowed = train.item_ids[:20].tolist()
    first, second = (recommend(m, train.user_ids, 30, items=allowed, exclude=allowed[:3]) for m in (model, plain_model))
    assert np.mean(first[0] == second[0]) > 0.999


@pytest.mark.parametrize("kind", [tr.RG2, tr.SampledRG2, tr.SampledRGX])
def test_a_popularity_discount_divides_what_ranks(kind):
    train = tr.planted(80, 40, interactions=900, random_state=2)
    plain, discounted = (kind(factors=5, proposal_exponent=0.7, popularity_discount=d).fit(train) for d in (0.0, 0.4))
    users = np.arange(train.n_users)
    counts = np.maximum(train.matrix.toarray().sum(axis=0), 1)
    np.testing.assert_allclose(discounted.scores(users), plain.scores(users) / counts**0.4, rtol=2e-4, atol=1e-7)
    with pytest.raises(ParameterError, match="discount"):
        kind(factors=5, popularity_discount=0.4, ranking="lift").fit(train)


@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_the_path_of_folded_users_is_theirs(penalty):
    train = tr.planted(80, 50, interactions=1500, random_state=2)
    others = train.select(train.by_user.row_of_entry() >= 70, "the last users")
    others = tr.Interactions.from_arrays(others.by_user.row_of_entry() + 1000, others.by_user.indices)
    model = tr.RG2(factors=6, score_penalty=penalty, tolerance=0).fit(train)
    for own, theirs in zip(model.path([3, 6], [0.1, 0.3]), model.fold_in(others).path([3, 6], [0.1, 0.3]), strict=True):
        assert theirs.user_factors.shape == (len(others.users), own.factors)
        np.testing.assert_allclose(theirs.user_factors, own.fold_in(others).user_factors)


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_the_path_refuses_what_a_fit_refuses(share):
    model = tr.RG2(factors=3).fit(tr.planted(40, 30, interactions=500))
    with pytest.raises(ParameterError, match="outside"):
        next(model.path([2], [share]))
