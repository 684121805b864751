"""What scripts written for implicit rely on, model by model."""

from __future__ import annotations

import io
import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from taylorank.compat import implicit
from taylorank.compat.implicit.als import AlternatingLeastSquares
from taylorank.compat.implicit.evaluation import (
    AUC_at_k,
    leave_k_out_split,
    mean_average_precision_at_k,
    ndcg_at_k,
    precision_at_k,
    train_test_split,
)
from taylorank.compat.implicit.utils import ParameterWarning
from taylorank.errors import DataError, NotFittedError

neighbours = implicit.nearest_neighbours
MAKERS = {
    "als": lambda: AlternatingLeastSquares(factors=3, regularization=0.1, random_state=1),
    "exact als": lambda: AlternatingLeastSquares(factors=3, regularization=0.1, use_cg=False, random_state=1),
    "rg": lambda: implicit.rg.RG2(factors=3),
    "cosine": lambda: neighbours.CosineRecommender(K=60),
    "tfidf": lambda: neighbours.TFIDFRecommender(K=60),
    "bm25": lambda: neighbours.BM25Recommender(K=60),
    "products": lambda: neighbours.ItemItemRecommender(K=60),
}
FACTORS = [name for name in MAKERS if name in ("als", "exact als", "rg")]
every = pytest.mark.parametrize("name", MAKERS)
factors = pytest.mark.parametrize("name", FACTORS)


def two_tastes(size: int) -> csr_matrix:
    """Users and items are even or odd; a user has all items of the own kind but the one of the own number."""
    same = np.arange(size)[:, None] % 2 == np.arange(size) % 2
    return csr_matrix((same & ~np.eye(size, dtype=bool)).astype(np.float32))


LIKES = two_tastes(50)


@pytest.fixture(scope="module")
def fitted() -> dict[str, object]:
    return {name: make().fit(LIKES, show_progress=False) for name, make in MAKERS.items()}


@every
def test_the_missing_item_comes_first_alone_and_in_a_batch(fitted, name):
    model = fitted[name]
    ids, scores = model.recommend(np.arange(50), LIKES, N=1)
    assert ids[:, 0].tolist() == list(range(50))
    for user in (0, 17, 49):
        one, value = model.recommend(user, LIKES[user], N=1)
        assert one.shape == value.shape == (1,)
        assert one[0] == user
        assert value[0] == pytest.approx(scores[user, 0], rel=1e-5)
    assert model.recommend(np.array([4, 2]), LIKES[[4, 2]], N=1)[0].ravel().tolist() == [4, 2]


@every
def test_more_items_than_there_are_give_what_there_is(fitted, name):
    ids, _ = fitted[name].recommend(0, LIKES[0], N=10_000)
    assert 0 < len(ids) <= 50
    assert len(set(ids.tolist())) == len(ids)


@every
def test_filtered_items_are_not_recommended(fitted, name):
    assert 0 not in fitted[name].recommend(0, LIKES[0], N=1, filter_items=[0])[0]
    assert not (fitted[name].recommend(np.arange(50), LIKES, N=1, filter_items=[4, 5])[0] == 4).any()


@every
def test_liked_items_come_back_if_they_are_wanted(fitted, name):
    ids, scores = fitted[name].recommend(3, LIKES[3], N=24, filter_already_liked_items=False)
    assert set(LIKES[3].indices) & set(ids.tolist())
    assert (np.diff(scores) <= 1e-6).all()


@every
def test_chosen_items_are_all_ranked_the_liked_ones_last(fitted, name):
    chosen = [1, 2, 3, 4, 5, 6]
    ids, _ = fitted[name].recommend(0, LIKES[0], N=20, items=chosen)
    assert sorted(ids.tolist()) == chosen
    if name in FACTORS:
        assert set(ids[3:].tolist()) == {2, 4, 6}
    batch, _ = fitted[name].recommend(np.arange(50), LIKES, items=np.arange(10) * 3)
    assert all(set(row.tolist()) == set(range(0, 30, 3)) for row in batch)


@every
@pytest.mark.parametrize("wrong", [-1, 50, 300])
def test_items_that_are_not_in_the_model_are_an_index_error(fitted, name, wrong):
    with pytest.raises(IndexError, match="not in the model"):
        fitted[name].recommend(0, LIKES[0], items=[1, wrong])


@every
def test_neighbours_are_of_the_same_kind_and_begin_with_the_item(fitted, name):
    ids, _ = fitted[name].similar_items(np.arange(20), N=10)
    assert ids.shape == (20, 10)
    assert ids[:, 0].tolist() == list(range(20)) or name not in FACTORS
    assert (ids % 2 == np.arange(20)[:, None] % 2).all()
    one, scores = fitted[name].similar_items(7, N=10)
    assert one.tolist() == ids[7].tolist()
    assert (np.diff(scores) <= 1e-6).all()


@every
def test_neighbours_can_be_filtered_and_chosen(fitted, name):
    ids, _ = fitted[name].similar_items(np.arange(20), N=8, filter_items=np.arange(10) * 5)
    assert (ids % 5 != 0).all()
    ids, _ = fitted[name].similar_items(np.arange(20), N=10, items=np.arange(10))
    assert all(set(row.tolist()) == set(range(10)) for row in ids)


@factors
def test_similar_users_are_of_the_same_kind(fitted, name):
    ids, scores = fitted[name].similar_users(np.arange(20), N=10)
    assert ids[:, 0].tolist() == list(range(20))
    assert np.allclose(scores[:, 0], 1, atol=1e-3)
    assert (ids % 2 == np.arange(20)[:, None] % 2).all()
    assert (fitted[name].similar_users(4, N=5, filter_users=[4])[0] != 4).all()
    assert set(fitted[name].similar_users(4, N=9, users=[1, 2, 3])[0].tolist()) == {1, 2, 3}


def test_item_neighbours_know_no_users_and_take_no_callback(fitted):
    with pytest.raises(NotImplementedError):
        fitted["cosine"].similar_users(0)
    with pytest.raises(NotImplementedError):
        neighbours.CosineRecommender().fit(LIKES, callback=print)
    with pytest.raises(NotImplementedError):
        fitted["cosine"].similar_items(0, recalculate_item=True, item_users=LIKES[0])


@factors
def test_a_user_can_be_calculated_anew_from_a_row(fitted, name):
    model = fitted[name]
    known, scores = model.recommend(np.arange(50), LIKES, N=1)
    anew, again = model.recommend(np.arange(50), LIKES, N=1, recalculate_user=True)
    assert anew.tolist() == known.tolist()
    assert np.allclose(again, scores, atol=1e-2)
    one, _ = model.recommend(userid=0, user_items=LIKES[13], N=1, recalculate_user=True)
    assert one.tolist() == [13]


@pytest.mark.parametrize("name", ["als", "exact als"])
def test_an_item_can_be_calculated_anew_from_its_users(fitted, name):
    columns = LIKES.T.tocsr()
    ids, scores = fitted[name].similar_items(np.arange(20), N=10)
    anew, again = fitted[name].similar_items(np.arange(20), N=10, recalculate_item=True, item_users=columns[:20])
    assert (anew % 2 == ids % 2).all()
    assert np.allclose(again, scores, atol=1e-2)


@every
def test_users_and_items_without_interactions_do_no_harm(name):
    dense = LIKES.toarray()
    for number in (42, 49):
        dense[number] = dense[:, number] = 0
    model = MAKERS[name]().fit(csr_matrix(dense), show_progress=False)
    for item in range(40):
        assert 42 not in model.similar_items(item, 10)[0]
    assert np.isfinite(model.recommend(0, csr_matrix(dense)[0], N=5)[1]).all()


@factors
@pytest.mark.parametrize("form", ["tocoo", "tolil"])
def test_other_formats_are_converted_with_a_warning(name, form):
    with pytest.warns(ParameterWarning, match="converted to CSR"):
        MAKERS[name]().fit(getattr(LIKES, form)(), show_progress=False)


@every
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_both_precisions_are_taken(name, kind):
    assert MAKERS[name]().fit(LIKES.astype(kind), show_progress=False).recommend(5, LIKES[5], N=1)[0] == [5]


@every
@pytest.mark.parametrize("form", ["tocsc", "tocoo"])
def test_rows_of_users_must_be_csr(fitted, name, form):
    with pytest.raises(ValueError, match="CSR"):
        fitted[name].recommend(0, user_items=getattr(LIKES[0], form)())


@every
def test_one_row_is_needed_for_each_user(fitted, name):
    with pytest.raises(ValueError, match="one row for each"):
        fitted[name].recommend([0, 1], LIKES[:3])


@every
def test_models_are_pickled_and_kept_in_files(fitted, name, tmp_path):
    model = fitted[name]
    model.save(str(tmp_path / "model"))
    buffer = io.BytesIO()
    model.save(buffer)
    buffer.seek(0)
    for other in (pickle.loads(pickle.dumps(model)), type(model).load(str(tmp_path / "model")), model.load(buffer)):
        assert other.similar_items(1)[0].tolist() == model.similar_items(1)[0].tolist()
        assert other.recommend(3, LIKES[3])[0].tolist() == model.recommend(3, LIKES[3])[0].tolist()


@every
def test_an_unfitted_model_is_kept_too_and_says_that_it_is_not_fitted(name, tmp_path):
    model = MAKERS[name]()
    model.save(tmp_path / "empty.npz")
    for other in (model.load(tmp_path / "empty.npz"), pickle.loads(pickle.dumps(model))):
        with pytest.raises(NotFittedError, match="call fit"):
            other.recommend(0, LIKES[0])


def test_a_file_of_another_model_is_refused(fitted, tmp_path):
    fitted["als"].save(tmp_path / "als.npz")
    with pytest.raises(DataError, match="no file of RG2"):
        implicit.rg.RG2.load(tmp_path / "als.npz")


@factors
def test_the_callback_is_called_after_every_iteration(name):
    calls = []
    MAKERS[name]().fit(LIKES, show_progress=False, callback=lambda *given: calls.append(given))
    assert [step for step, _, _ in calls] == list(range(len(calls)))
    assert len(calls) >= 1
    assert all(seconds >= 0 for _, seconds, _ in calls)


@pytest.mark.parametrize("use_cg", [True, False])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_factors_reconstruct_the_matrix(use_cg, kind):
    counts = csr_matrix(
        np.array([[1, 1, 0, 1, 0, 0], [0, 1, 1, 1, 0, 0], [1, 0, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 1]])
    ).astype(np.float64)
    model = AlternatingLeastSquares(6, 1e-4, alpha=2.0, dtype=kind, use_cg=use_cg, iterations=40, random_state=23)
    model.fit(counts, show_progress=False)
    assert model.user_factors.dtype == model.item_factors.dtype == kind
    assert np.abs(model.user_factors @ model.item_factors.T - counts.toarray()).max() < 1e-2


def test_no_iterations_leave_random_factors_and_the_same_seed_gives_the_same():
    make = lambda: AlternatingLeastSquares(4, iterations=0, calculate_training_loss=True, random_state=5)  # noqa: E731
    a, b = (make().fit(LIKES, show_progress=False) for _ in range(2))
    assert np.array_equal(a.item_factors, b.item_factors)
    assert a.item_factors.min() >= 0
    assert a.item_factors.max() <= 0.01


def test_a_second_fit_goes_on_from_the_first():
    loss = []
    model = AlternatingLeastSquares(3, iterations=2, calculate_training_loss=True, random_state=1)
    for _ in range(3):
        model.fit(LIKES, show_progress=False, callback=lambda step, seconds, value: loss.append(value))
    assert len(loss) == 6
    assert all(later <= earlier * (1 + 1e-6) for earlier, later in pairwise(loss))


def test_the_loss_is_the_one_of_its_definition():
    X = csr_matrix(np.array([[2.0, 0, -1.0], [0, 3.0, 0]], dtype=np.float32))
    seen = []
    model = AlternatingLeastSquares(
        2, regularization=0.5, alpha=2.0, iterations=3, calculate_training_loss=True, random_state=0
    ).fit(X, show_progress=False, callback=lambda *given: seen.append(given[2]))
    dense = X.toarray()
    c = np.where(dense != 0, 2.0 * np.abs(dense), 1.0)
    o = model.user_factors @ model.item_factors.T
    loss = (c * (o - (dense > 0)) ** 2).sum() + 0.5 * ((model.user_factors**2).sum() + (model.item_factors**2).sum())
    assert seen[-1] == pytest.approx(loss / c.sum(), rel=1e-5)


def test_a_dislike_lowers_the_score():
    plain = AlternatingLeastSquares(4, random_state=1).fit(LIKES, show_progress=False)
    dislike = LIKES.tolil()
    dislike[0, 0] = -20
    told = AlternatingLeastSquares(4, random_state=1).fit(dislike.tocsr(), show_progress=False)
    scores = [float(model.user_factors[0] @ model.item_factors[0]) for model in (plain, told)]
    assert scores[1] < scores[0] - 0.2


@pytest.mark.parametrize("N", [1, 10])
def test_an_explanation_adds_up_to_the_score(fitted, N):
    model = fitted["exact als"]
    total, reasons, weights = model.explain(4, LIKES, itemid=4, N=N)
    vector = model.recalculate_user(4, LIKES[4])
    assert total == pytest.approx(float(vector @ model.item_factors[4]), abs=1e-4)
    assert len(reasons) == N
    assert [value for _, value in reasons] == sorted((value for _, value in reasons), reverse=True)
    again = model.explain(4, LIKES, itemid=4, user_weights=weights, N=N)
    assert again[0] == pytest.approx(total)
    everything = model.explain(4, LIKES, itemid=4, N=50)[1]
    assert sum(value for _, value in everything) == pytest.approx(total)


def test_users_and_items_are_added_without_a_fit():
    model = AlternatingLeastSquares(4, regularization=0.1, random_state=1).fit(LIKES[:48, :48], show_progress=False)
    assert model.user_factors.shape == model.item_factors.shape == (48, 4)
    model.partial_fit_users([48, 50], LIKES[[48, 46], :48])
    assert model.user_factors.shape == (51, 4)
    assert not model.user_factors[49].any()
    assert model.recommend(50, LIKES[46, :48], N=1)[0] == [46]
    model.partial_fit_items([48], csr_matrix((np.ones(25), (np.zeros(25, int), np.arange(0, 50, 2))), shape=(1, 51)))
    ids, _ = model.recommend(0, LIKES[0, :48], N=2)
    assert set(ids.tolist()) == {0, 48}
    with pytest.raises(ValueError, match="rows for"):
        model.partial_fit_users([1, 2], LIKES[:1])


@pytest.mark.parametrize("shape", [(4, 6), (3, 3)])
def test_a_matrix_without_entries_can_be_fitted(shape):
    model = AlternatingLeastSquares(3, random_state=0).fit(csr_matrix(shape, dtype=np.float32), show_progress=False)
    assert np.isfinite(model.user_factors).all()


@every
def test_precision_of_the_missing_item_is_one(fitted, name):
    model, test = fitted[name], csr_matrix(np.eye(50))
    quiet = {"K": 1, "show_progress": False}
    assert precision_at_k(model, LIKES, test, **quiet) == 1
    assert ndcg_at_k(model, LIKES, test, **quiet) == mean_average_precision_at_k(model, LIKES, test, **quiet) == 1
    assert AUC_at_k(model, LIKES, test, **quiet) == 1


def test_a_random_split_loses_nothing_and_hides_dislikes():
    X = LIKES.tolil()
    X[0, 1] = -3
    X = X.tocsr()
    train, test = train_test_split(X, 0.7, random_state=2)
    both = train + test
    assert abs(both - X).max() in (0, 3)
    assert (test.data > 0).all()
    assert 0.6 < train.nnz / X.nnz < 0.8


@pytest.mark.parametrize("K", [1, 3])
def test_leaving_out_k_takes_k_of_every_user(K):
    train, test = leave_k_out_split(LIKES, K=K, random_state=0)
    assert (np.diff(test.indptr) == K).all()
    assert (train + test != LIKES).nnz == 0
    assert train.multiply(test).nnz == 0


def test_users_with_few_items_and_a_share_of_the_others_stay_in_training():
    X = csr_matrix(np.tril(np.ones((20, 20))))
    _, test = leave_k_out_split(X, K=2, random_state=0)
    assert np.flatnonzero(np.diff(test.indptr)).tolist() == list(range(3, 20))
    _, test = leave_k_out_split(LIKES, train_only_size=0.8, random_state=0)
    assert (np.diff(test.indptr) > 0).sum() == 10
    for wrong in ({"K": 0}, {"train_only_size": 1.0}, {"train_only_size": -0.1}):
        with pytest.raises(ValueError, match=r"K=0|no share"):
            leave_k_out_split(LIKES, **wrong)


@every
def test_selected_items_are_ranked(fitted, name):
    ids, _ = fitted[name].rank_items(4, LIKES[4], [3, 4, 9, 20])
    assert sorted(ids.tolist()) == [3, 4, 9, 20]
    assert set(ids[:2].tolist()) == {4, 20}


@every
def test_lists_of_all_users_are_those_of_each(fitted, name):
    assert (fitted[name].recommend_all(LIKES, N=1)[:, 0] == np.arange(50)).all()


@pytest.mark.parametrize("kind", ["Annoy", "NMSLib", "Faiss"])
def test_an_approximate_index_gives_way_to_exact_lists_and_says_so(kind):
    with pytest.warns(ParameterWarning, match=r"exact here, and nlist left out; .* model\.export"):
        model = getattr(implicit.approximate_als, f"{kind}AlternatingLeastSquares")(factors=3, nlist=9, random_state=1)
    model.fit(LIKES, show_progress=False)
    assert (model.recommend(np.arange(50), LIKES, N=1)[0][:, 0] == np.arange(50)).all()


@pytest.mark.parametrize("name", ["ann", "cpu", "datasets", "recommender_base"])
def test_what_is_not_there_says_what_is(name):
    with pytest.raises(ImportError, match=f"has no {name}; "):
        getattr(implicit, name)
    with pytest.raises(ImportError, match=f"has no {name}; "):
        exec(f"from taylorank.compat.implicit import {name}")
    assert not hasattr(implicit, "no_such_thing")


def test_a_script_can_ask_for_a_gpu():
    assert implicit.gpu.HAS_CUDA in (True, False)


def test_logistic_factors_learn_the_two_tastes_and_a_stronger_penalty_shortens_them(tmp_path):
    pytest.importorskip("torch")
    models = [
        implicit.lmf.LogisticMatrixFactorization(factors=4, regularization=strength, neg_prop=5, random_state=1)
        for strength in (0.01, 10.0)
    ]
    for model in models:
        model.fit(LIKES, show_progress=False)
    ids, scores = models[0].recommend(np.arange(50), LIKES, N=1)
    assert (ids[:, 0] == np.arange(50)).mean() > 0.8
    assert np.abs(models[1].item_factors[:, :4]).mean() < np.abs(models[0].item_factors[:, :4]).mean()
    models[0].save(tmp_path / "lmf.npz")
    again = implicit.lmf.LogisticMatrixFactorization.load(tmp_path / "lmf.npz")
    assert again.neg_prop == 5
    assert np.array_equal(again.recommend(3, LIKES[3], N=1)[1], scores[3])


def test_bpr_learns_the_two_tastes():
    pytest.importorskip("torch")
    model = implicit.bpr.BayesianPersonalizedRanking(factors=4, iterations=25, random_state=1)
    model.fit(LIKES, show_progress=False)
    ids, _ = model.recommend(np.arange(50), LIKES, N=1)
    assert (ids[:, 0] == np.arange(50)).mean() > 0.8
