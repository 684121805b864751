"""EASE with weights from all items and from few: the plain regressions, strips, limits, files."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank.errors import ParameterError
from taylorank.models import ease, largest_entries, local_ease


@pytest.fixture(scope="module")
def parts():
    return tr.planted(300, 60, interactions=5000, random_state=4).split()


def test_ease_solves_its_constrained_problem(parts):
    """Column j of W is ridge regression of r_j on all the other columns."""
    train = parts[0]
    R = train.matrix.toarray().astype(np.float64)
    W = tr.EASE(regularization=7.0).fit(train).item_weights_
    assert np.all(np.diag(W) == 0)
    for j in (0, 11, 59):
        others = np.delete(np.arange(60), j)
        A = R[:, others]
        expected = np.linalg.solve(A.T @ A + 7.0 * np.eye(59), A.T @ R[:, j])
        np.testing.assert_allclose(W[others, j], expected, atol=1e-5)


def test_ease_in_strips_is_the_plain_inverse():
    """More items than one strip has, the last one not whole."""
    data = tr.planted(400, 1300, interactions=9000, random_state=1)
    R = data.matrix.toarray().astype(np.float64)
    P = np.linalg.inv(R.T @ R + 20.0 * np.eye(data.n_items))
    expected = P / -np.diag(P)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(tr.EASE(20.0).fit(data).item_weights_, expected, atol=1e-6)


def test_ease_tells_how_many_columns_are_done(parts):
    steps = []
    tr.EASE().fit(parts[0], callback=steps.append)
    assert [progress.step for progress in steps] == [60]
    assert steps[0].seconds > 0


def test_a_fit_of_ease_that_does_not_end_leaves_the_model_as_it_was(parts, monkeypatch):
    model = tr.EASE().fit(parts[0])
    before = model.recommend([0], n=3)[0].tolist()
    larger = tr.planted(50, 90, interactions=700)

    def stop(*_):
        raise MemoryError

    with pytest.raises(MemoryError):
        model.fit(larger, callback=stop)
    monkeypatch.setattr(ease, "_weights", stop)
    with pytest.raises(MemoryError):
        model.fit(larger)
    assert model.recommend([0], n=3)[0].tolist() == before


def test_an_error_of_the_callback_of_ease_is_not_one_of_its_penalty(parts):
    def refuse(_):
        raise ParameterError("the callback", "its remedy")

    with pytest.raises(ParameterError, match="the callback"):
        tr.EASE().fit(parts[0], callback=refuse)


def test_ease_refuses_what_memory_does_not_hold(parts, monkeypatch):
    monkeypatch.setattr(ease, "available_memory", lambda: 8 * 60**2)
    with pytest.raises(ParameterError, match=r"60 items needs about .* are free; .*max_items"):
        tr.EASE().fit(parts[0])
    tr.EASE(max_items=60).fit(parts[0])
    monkeypatch.setattr(ease, "available_memory", lambda: None)  # the free memory is unknown
    tr.EASE().fit(parts[0])
    monkeypatch.setattr(ease, "MOST_ITEMS", 59)
    with pytest.raises(ParameterError, match=r"60 items are more than max_items=59; .*raise max_items"):
        tr.EASE().fit(parts[0])


def likeness(R, strength):
    """S by the book: scaled products of columns, 0 on the diagonal."""
    scales = np.sqrt((R**2).sum(axis=0) + strength)
    found = (R.T @ R) / np.outer(scales, scales)
    np.fill_diagonal(found, 0)
    return found


@pytest.mark.parametrize("neighbours", [1, 5, 30])
def test_few_neighbours_are_the_regression_on_the_items_most_alike(neighbours):
    rng = np.random.default_rng(0)
    users, items = rng.integers(0, 120, 1500), (50 * rng.random(1500) ** 2).astype(int)
    data = tr.Interactions.from_arrays(users, items, strengths=rng.choice([0.5, 1.0, 3.0], 1500))
    R = data.matrix.toarray().astype(np.float64)
    S = likeness(R, 4.0)
    expected = np.zeros_like(S)
    for j in range(data.n_items):
        most = [i for i in np.argsort(-S[:, j], kind="stable")[:neighbours] if S[i, j] > 0]
        A = R[:, most]
        expected[most, j] = np.linalg.solve(A.T @ A + 4.0 * np.eye(len(most)), A.T @ R[:, j])
    found = tr.EASE(4.0, neighbours=neighbours).fit(data).item_weights_
    np.testing.assert_allclose(found.toarray(), expected, atol=2e-5)


@pytest.mark.parametrize("neighbours", [59, 60, 5000])
def test_all_other_items_as_neighbours_are_ease_itself(parts, neighbours):
    """Columns of the planted data all meet; where two never do, the regression on all may still give a weight."""
    train = parts[0]
    assert ((train.matrix.T @ train.matrix).toarray() > 0).all()
    whole = tr.EASE(20.0).fit(train).item_weights_
    few = tr.EASE(20.0, neighbours=neighbours).fit(train).item_weights_
    np.testing.assert_allclose(few.toarray(), whole, atol=1e-5)


@pytest.mark.parametrize("share", [0, np.inf])  # every block is thin, or none
def test_few_neighbours_with_and_without_all_products_in_memory(monkeypatch, share):
    data = tr.planted(400, 700, interactions=9000, random_state=1)
    held = tr.EASE(20.0, neighbours=30).fit(data).item_weights_
    monkeypatch.setattr(local_ease, "available_memory", lambda: 1000)
    monkeypatch.setattr(largest_entries, "SPARSE_SHARE", share)
    by_blocks = tr.EASE(20.0, neighbours=30).fit(data).item_weights_
    np.testing.assert_allclose(by_blocks.toarray(), held.toarray(), atol=1e-5)


@pytest.mark.parametrize("shape", [(5, 1), (1, 5), (3, 2)])
def test_few_neighbours_among_few_items(shape):
    users, items = (part.ravel() for part in np.indices(shape))
    model = tr.EASE(1.0, neighbours=8).fit(tr.Interactions.from_arrays(users, items))
    assert np.isfinite(model.item_weights_.toarray()).all()
    assert model.item_weights_.diagonal().sum() == 0


def test_few_neighbours_of_equal_columns_with_hardly_any_penalty():
    """S of equal columns is singular to single precision: weights may differ, what they predict does not."""
    users, items = np.repeat(np.arange(30), 6), np.tile(np.arange(6), 30)
    weights = tr.EASE(1e-6, neighbours=5).fit(tr.Interactions.from_arrays(users, items)).item_weights_.toarray()
    np.testing.assert_allclose(weights.sum(axis=0), 1.0, atol=1e-2)
    assert np.abs(weights).max() < 2


def test_few_neighbours_fold_in_explain_and_come_back_from_a_file(parts, tmp_path):
    train, valid, test = parts
    model = tr.EASE(30.0, neighbours=20).fit(train)
    users = train.user_ids[:5]
    model.save(tmp_path / "ease.taylorank")
    back = tr.load(tmp_path / "ease.taylorank")
    assert back.neighbours == 20
    assert back.recommend(users)[0].tolist() == model.recommend(users)[0].tolist()
    assert model.fold_in(train).recommend(users)[0].tolist() == model.recommend(users)[0].tolist()
    items, scores = model.recommend([users[0]], n=1)
    reasons = model.explain(users[0], items[0, 0], n=60)
    assert float(reasons.contributions.sum()) == pytest.approx(float(scores[0, 0]), abs=1e-5)
    assert (
        tr.evaluate(model, test, seen=[train, valid])["ndcg@10"]
        > 0.9 * (tr.evaluate(tr.EASE(30.0).fit(train), test, seen=[train, valid])["ndcg@10"])
    )


def test_few_neighbours_need_no_memory_for_all_pairs_and_tell_of_the_columns(parts, monkeypatch):
    monkeypatch.setattr(ease, "available_memory", lambda: 8)
    steps = []
    tr.EASE(neighbours=5).fit(parts[0], callback=steps.append)
    assert [progress.step for progress in steps] == [60]
    for bad in (0, -1, 2.5, "many"):
        with pytest.raises(ParameterError, match="neighbours"):
            tr.EASE(neighbours=bad).fit(parts[0])


def test_few_neighbours_on_the_gpu_are_those_of_the_cpu():
    torch = pytest.importorskip("torch", reason="needs torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    data = tr.planted(2000, 700, interactions=60_000, random_state=1)
    here, there = (tr.EASE(20.0, neighbours=100, device=device).fit(data) for device in ("cpu", "cuda"))
    users = data.user_ids[:200]
    same = here.recommend(users)[0] == there.recommend(users)[0]
    assert same.mean() > 0.99
    difference = abs(here.item_weights_ - there.item_weights_)
    assert (difference > 1e-4).sum() < 0.002 * here.item_weights_.nnz  # equally like items at the end of a list


@pytest.mark.parametrize("neighbours", [None, 1])
def test_weights_beyond_single_precision_are_refused(neighbours):
    data = tr.Interactions.from_arrays([0, 1, 0, 1], [0, 0, 1, 1], strengths=[1e30, 1e30, 1e-30, 2e-30])
    with pytest.raises(ParameterError, match=r"too small for strengths as .* as these; raise it"):
        tr.EASE(1e-55, neighbours=neighbours).fit(data)
    assert np.isfinite(tr.EASE(1e50, neighbours=neighbours).fit(data).recommend([0], seen=[])[1]).any()
