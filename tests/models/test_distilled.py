"""Students: their loss by hand, their gradients by differences, what they learn, and all that a model does."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy import optimize

import taylorank as tr
from taylorank.data import CSR
from taylorank.errors import ParameterError
from taylorank.kernels import backend
from taylorank.models.student_descent import Descent, gradients
from taylorank.models.student_fold_in import StudentFoldIn
from taylorank.models.student_plan import Plan
from taylorank.models.teacher_lists import teacher_lists
from taylorank.ranking import Ranker
from taylorank.selection import Choice
from taylorank.torch_extra import uses_cuda

try:
    HAS_CUDA = uses_cuda("auto")
except ImportError:
    HAS_CUDA = False
CLUSTERS, EACH = 40, 12


def clustered():
    """Users who like one of 40 clusters of items, and a fifth of anything: too much for least squares of rank 8."""
    rng = np.random.default_rng(0)
    users = np.repeat(np.arange(600), 14)
    items = rng.integers(CLUSTERS, size=600)[users] * EACH + rng.integers(EACH, size=len(users))
    anything = rng.random(len(users)) < 0.2
    items[anything] = rng.integers(CLUSTERS * EACH, size=anything.sum())
    return tr.Interactions.from_arrays(users, items).split((0.7, 0.3), seed=0)


TRAIN, VALID = clustered()


def quality(model):
    return tr.evaluate(model, VALID, k=10, metrics="ndcg")["ndcg@10"]


@pytest.fixture(scope="module")
def teacher():
    return tr.RG2(64).fit(TRAIN)


@pytest.fixture(scope="module")
def student(teacher):
    return teacher.distil(8, steps=600)


def plan_of(lists, **others):
    values = {
        "temperature": 0.5,
        "bias": True,
        "learning_rate": 0.01,
        "batch": 2,
        "epochs": 1,
        "random_state": 0,
    }
    return Plan(lists, **{"weights": np.ones(lists.n_rows, dtype=np.float32), **values, **others})


def small_problem(users=4, items=9, width=3, seed=0):
    rng = np.random.default_rng(seed)
    u, v = (rng.standard_normal((count, width)) for count in (users, items))
    u, v = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (u, v))
    indices = np.concatenate([np.sort(rng.choice(items, 3, replace=False)) for _ in range(users)])
    shares = rng.random((users, 3))
    lists = CSR(
        np.arange(0, 3 * users + 1, 3),
        indices.astype(np.int32),
        (shares / shares.sum(axis=1, keepdims=True)).ravel().astype(np.float32),
        items,
    )
    return lists, u.astype(np.float32), v.astype(np.float32), rng.standard_normal(items).astype(np.float32)


def loss_by_the_formula(plan, rows, u, v, b):
    """Σ_x w_x Σ_y π_xy (log Σ_j e^s_xj − s_xy), in double precision and the plain way."""
    dense = plan.lists.to_scipy().toarray().astype(np.float64)[rows]
    scores = u.astype(np.float64) @ v.astype(np.float64).T / plan.temperature + b
    logs = np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return float(plan.weights[rows].astype(np.float64) @ (dense * (logs - scores)).sum(axis=1))


def test_the_loss_worked_by_hand():
    """s = (2, −2) and b = (0, log 3): log Σ e^s = log(e² + 3 e⁻²), less ¾ · 2 + ¼ (log 3 − 2)."""
    lists = CSR(np.array([0, 2]), np.array([0, 1], dtype=np.int32), np.array([0.75, 0.25], dtype=np.float32), 2)
    plan = plan_of(lists, weights=np.array([2.0], dtype=np.float32))
    u, v = np.array([[1.0]], dtype=np.float32), np.array([[1.0], [-1.0]], dtype=np.float32)
    loss, *_ = gradients(plan, np.array([0]), u, v, np.array([0.0, np.log(3)], dtype=np.float32))
    assert loss == pytest.approx(2 * (np.log(np.exp(2) + 3 * np.exp(-2)) - 1.5 - 0.25 * (np.log(3) - 2)), rel=1e-5)


@pytest.mark.parametrize("native", [True, False])
def test_gradients_agree_with_differences(native, monkeypatch):
    if not native:
        monkeypatch.setattr(backend, "native", None)
    lists, u, v, b = small_problem()
    plan = plan_of(lists, weights=np.array([1.0, 0.5, 2.0, 1.5], dtype=np.float32))
    rows = np.array([0, 2, 3])
    loss, *found = gradients(plan, rows, u[rows], v, b)
    parts = [u[rows].astype(np.float64), v.astype(np.float64), b.astype(np.float64)]
    assert loss == pytest.approx(loss_by_the_formula(plan, rows, *parts), rel=1e-5)
    for which, gradient in enumerate(found):
        for place in np.ndindex(parts[which].shape):
            ends = []
            for step in (1e-5, -1e-5):
                moved = [part.copy() for part in parts]
                moved[which][place] += step
                ends.append(loss_by_the_formula(plan, rows, *moved))
            assert gradient[place] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=2e-4)


def dense_adam(plan, users, items):
    """Adam on all vectors in every step, users outside the batch with a gradient of 0, in double precision."""
    raw = [users.astype(np.float64), items.astype(np.float64), np.zeros(len(items))]
    moments = [(np.zeros_like(part), np.zeros_like(part)) for part in raw]
    unit = lambda side: side / np.linalg.norm(side, axis=1, keepdims=True)  # noqa: E731
    step = 0
    for batches in plan.batches():
        for batch in batches:
            step += 1
            u, v = unit(raw[0]), unit(raw[1])
            singles = (side.astype(np.float32) for side in (u[batch], v, raw[2]))
            _, by_users, *others = gradients(plan, batch, *singles)
            whole = np.zeros_like(u)
            whole[batch] = by_users
            for number, (gradient, side) in enumerate(zip((whole, *others), (u, v, None), strict=True)):
                if side is not None:
                    gradient = gradient - (gradient * side).sum(axis=1, keepdims=True) * side
                    gradient /= np.linalg.norm(raw[number], axis=1, keepdims=True)
                first, second = moments[number]
                first[...] = 0.9 * first + 0.1 * gradient
                second[...] = 0.999 * second + 0.001 * gradient**2
                raw[number] -= plan.rates[step] * first / (np.sqrt(second) + 1e-12)
    return unit(raw[0]), unit(raw[1]), raw[2]


def test_users_who_wait_move_on_as_in_plain_adam():
    lists, u, v, _ = small_problem(users=11, items=15, width=4)
    plan = plan_of(lists, batch=3, epochs=9)
    descent = Descent(plan, u, v)
    for batches in plan.batches():
        assert sorted(np.concatenate(batches)) == list(range(11))
        for batch in batches:
            descent.learn(batch)
    for got, expected in zip(descent.snapshot(), dense_adam(plan, u, v), strict=True):
        np.testing.assert_allclose(got, expected, atol=2e-3)


def test_the_torch_path_makes_the_same_steps():
    pytest.importorskip("torch")
    from taylorank.models.student_torch import TorchDescent

    lists, u, v, _ = small_problem(users=40, items=30, width=5)
    weights = np.linspace(0, 2, 40, dtype=np.float32)  # the first user is not taught
    plan = plan_of(lists, weights=weights, batch=9, epochs=6)
    native, other = Descent(plan, u, v), TorchDescent(plan, u, v, device="cpu")
    for batches in plan.batches():
        for batch in batches:
            assert float(other.learn(batch)) == pytest.approx(native.learn(batch), rel=1e-4)
    for got, expected in zip(other.snapshot(), native.snapshot(), strict=True):
        np.testing.assert_allclose(got, expected, atol=2e-3)
    assert not native.snapshot()[0][0].any()


@pytest.mark.skipif(not HAS_CUDA, reason="there is no CUDA device")
def test_a_student_taught_on_cuda_is_that_of_the_cpu(teacher, student):
    there = teacher.distil(8, steps=600, device="cuda")
    assert quality(there) == pytest.approx(quality(student), rel=0.05)
    assert np.mean((there.user_factors * student.user_factors).sum(axis=1)) > 0.9


def test_tensors_rank_as_arrays_do(student, monkeypatch):
    pytest.importorskip("torch")
    there = copy.copy(student)
    monkeypatch.setattr("taylorank.models.recommender.torch_device", lambda _: "cpu")
    ids, scores = there.recommend(TRAIN.user_ids)
    assert there.ranker.vectors.are_on_device
    monkeypatch.undo()
    assert not student.ranker.vectors.are_on_device
    expected = student.recommend(TRAIN.user_ids)
    assert np.mean(ids == expected[0]) > 0.99
    np.testing.assert_allclose(scores, expected[1], rtol=1e-4)
    monkeypatch.setattr("taylorank.models.recommender.torch_device", lambda _: "cpu")
    np.testing.assert_allclose(there.fold_in(VALID).user_factors, student.fold_in(VALID).user_factors, atol=1e-5)


def test_lists_made_by_torch_are_those_of_the_kernel(teacher):
    pytest.importorskip("torch")
    from taylorank.models.teacher_lists_torch import list_parts

    lengths, items, shares, known = zip(
        *list_parts(teacher.ranker, teacher.ranker.vectors, top=20, sharpness=1.5, device="cpu"), strict=True
    )
    expected = teacher_lists(teacher.ranker, top=20, sharpness=1.5)
    np.testing.assert_array_equal(np.concatenate(lengths), expected.row_lengths)
    assert np.mean(np.concatenate(items) == expected.indices) > 0.999
    np.testing.assert_allclose(np.concatenate(shares), expected.weights, rtol=1e-2, atol=1e-6)
    assert sum(known) == TRAIN.n_users


@pytest.mark.parametrize("kind", ["vectors", "scores"])
def test_lists_are_the_sharpened_scores_of_the_best_items(kind, teacher):
    ranker = teacher.ranker
    if kind == "scores":
        ranker = Ranker(teacher.users, teacher.items, TRAIN, scores=teacher.scores)
    lists = teacher_lists(ranker, top=30, sharpness=1.5)
    dense = lists.to_scipy().toarray()
    for x in (0, 17, 599):
        p = np.maximum(teacher.scores(np.array([x]))[0].astype(np.float64), 0)
        p[np.argsort(-p)[30:]] = 0
        np.testing.assert_allclose(dense[x], p**1.5 / (p**1.5).sum(), rtol=1e-3, atol=1e-7)
    assert (np.diff(lists.indices[:30]) > 0).all()


def test_what_teaches_nothing_is_refused(teacher):
    negative = Ranker(TRAIN.users, TRAIN.items, TRAIN, scores=lambda users: -np.ones((len(users), TRAIN.n_items)))
    with pytest.raises(ParameterError, match="no score of the teacher the model is above 0"):
        tr.Distilled(negative, 4, steps=1).fit(TRAIN)
    with pytest.raises(ParameterError, match="is not of the users and items of this data"):
        tr.Distilled(teacher.ranker, 4, steps=1).fit(VALID.select(np.arange(VALID.nnz) < 50, "some").core(1))
    with pytest.raises(ParameterError, match=r"temperature=0\.01 is not"):
        teacher.distil(4, temperature=0.01)


def test_a_student_ranks_like_its_teacher_where_the_same_rank_does_not(teacher, student):
    truncated = tr.RG2(8).fit(TRAIN)
    assert quality(student) > 0.93 * quality(teacher)
    assert quality(student) > 2 * quality(truncated)
    losses = [epoch["loss"] for epoch in student.history_]
    assert losses[-1] < losses[0]


def test_any_model_can_teach():
    for model, sharpness in ((tr.EASE(20.0), 1.0), (tr.IALS(40, iterations=5), 2.0)):  # iALS' scores differ little
        taught = tr.Distilled(model, 8, sharpness=sharpness, steps=300).fit(TRAIN)
        assert quality(taught) > 0.8 * quality(taught.teacher_)


def test_vectors_are_unit_and_their_products_are_the_scores(student):
    for side in (student.user_factors, student.item_factors):
        np.testing.assert_allclose(np.linalg.norm(side, axis=1), 1, rtol=1e-5)
    users, items = student.export_factors()
    np.testing.assert_allclose(users @ items.T, student.scores(np.arange(TRAIN.n_users)), rtol=1e-4, atol=1e-4)
    _, cosines = student.similar_items([TRAIN.item_ids[0]], n=3)
    products = student.item_factors @ student.item_factors[0]
    np.testing.assert_allclose(cosines[0], np.sort(products)[::-1][1:4], rtol=1e-5)
    plain = student.teacher_.distil(8, steps=5, bias=False)
    assert plain.export_factors()[0].shape[1] == 8
    assert not plain.item_biases_.any()


def test_the_same_seed_gives_the_same_bits_and_another_others(teacher):
    one, same, other = (teacher.distil(8, steps=20, random_state=seed) for seed in (3, 3, 4))
    assert one.user_factors.tobytes() == same.user_factors.tobytes()
    assert one.item_biases_.tobytes() == same.item_biases_.tobytes()
    assert one.user_factors.tobytes() != other.user_factors.tobytes()


def test_parameters_of_the_teacher_are_nested():
    base = tr.RG2(16)
    model = tr.Distilled(base, 4)
    assert model.get_params()["teacher__regularization"] == base.regularization
    assert "teacher__factors" not in model.get_params(deep=False)
    model.set_params(teacher__regularization=0.4, factors=5)
    assert (model.teacher.regularization, model.teacher.factors, model.factors) == (0.4, 16, 5)
    assert base.regularization != 0.4
    with pytest.raises(ParameterError, match="RG2 has no parameter 'magic'"):
        model.set_params(teacher__magic=1)
    default = tr.Distilled()
    assert default.teacher.factors == 1024
    default.set_params(teacher__factors=8)
    assert tr.Distilled().teacher.factors == 1024
    again = type(model)(**model.get_params(deep=False))
    assert again.settled_params() == model.settled_params()


def test_a_fitted_teacher_is_used_and_others_are_fitted_as_copies(teacher, student):
    assert student.teacher_ is teacher
    unfitted = tr.RG2(64)
    model = tr.Distilled(unfitted, 8, steps=600).fit(TRAIN)
    assert not hasattr(unfitted, "train_")
    assert model.user_factors.tobytes() == student.user_factors.tobytes()
    elsewhere = tr.Distilled(teacher, 4, steps=5).fit(VALID)
    assert elsewhere.teacher_ is not teacher
    assert elsewhere.teacher_.train_ is elsewhere.train_
    few = TRAIN.select(TRAIN.by_user.row_of_entry() < 9, "few").core(1)
    assert tr.Distilled(factors=4, steps=5).fit(few).teacher_.factors == min(few.n_users, few.n_items)


def best_on_the_sphere(student, lists, x):
    """The minimum of the loss of one user by a general method."""
    v, b, T = student.item_factors.astype(np.float64), student.item_biases_, student.temperature
    wanted = lists.to_scipy()[[x]].toarray()[0] @ v

    def loss(w):
        u = w / np.linalg.norm(w)
        scores = v @ u / T + b
        return np.log(np.exp(scores - scores.max()).sum()) + scores.max() - u @ wanted / T

    found = optimize.minimize(loss, student.user_factors[x].astype(np.float64), method="BFGS").x
    return found / np.linalg.norm(found)


def test_folding_in_reaches_the_minimum(student):
    folded = student.fold_in(TRAIN)
    lists = teacher_lists(student.teacher_.ranker, top=student.top, sharpness=student.sharpness)
    for x in (0, 100, 333, 599):
        best = best_on_the_sphere(student, lists, x)
        assert folded.user_factors[x] @ best > 0.999


def test_one_user_alone_is_folded_in_as_with_others(student):
    """Alone a user takes the kernel of few rows, with others that of many."""
    together = student.fold_in(TRAIN).user_factors
    for x in (0, 17, 333):
        history = TRAIN.by_user.indices[slice(*TRAIN.by_user.indptr[x : x + 2])]
        alone = student.fold_in([(7, TRAIN.item_ids[item]) for item in history]).user_factors[0]
        assert alone @ together[x] > 0.9999


def test_a_sample_of_the_items_leads_to_the_same_minimum(student, monkeypatch):
    from taylorank.models import student_fold_in

    exact = student.fold_in(TRAIN).user_factors
    for sample, before in ((40, 2), (40, 0), (10_000, 5)):
        monkeypatch.setattr(student_fold_in, "SAMPLE", sample)
        monkeypatch.setattr(student_fold_in, "STEPS_BEFORE", before)
        monkeypatch.setattr(student_fold_in, "STEPS", 40)
        found = copy.copy(student).fold_in(TRAIN).user_factors
        assert np.quantile((exact * found).sum(axis=1), 0.01) > 0.999


def test_screened_lists_are_those_of_all_items(teacher, monkeypatch):
    from taylorank.kernels import best

    before = teacher_lists(teacher.fold_in(VALID).ranker, top=20, sharpness=1.5)
    monkeypatch.setattr(best, "LEAST_SIZE", 1)
    for x in (0, 5, 77):
        items = VALID.by_user.indices[slice(*VALID.by_user.indptr[x : x + 2])]
        few = copy.copy(teacher).fold_in([(1, VALID.item_ids[item]) for item in items])
        lists = teacher_lists(few.ranker, top=20, sharpness=1.5)
        part = slice(*before.indptr[x : x + 2])
        np.testing.assert_array_equal(lists.indices, before.indices[part])
        np.testing.assert_allclose(lists.weights, before.weights[part], rtol=1e-5)


def test_one_item_leaves_no_curvature_to_divide_by():
    """All probability is on the only item, whatever the user's vector is."""
    data = tr.Interactions.from_arrays([7], [3])
    everything = CSR(np.array([0, 1]), np.array([0], dtype=np.int32), np.ones(1, dtype=np.float32), 1)
    vector, bias = np.eye(1, 4, dtype=np.float32), np.zeros(1, dtype=np.float32)
    fold_in = StudentFoldIn(vector, bias, 0.1, np.ones(1), lambda _: everything)
    np.testing.assert_allclose(fold_in.rows(data), vector, atol=1e-6)


def test_folded_in_users_rank_as_they_were_trained(student):
    folded = student.fold_in(TRAIN)
    own, other = student.recommend(TRAIN.user_ids)[0], folded.recommend(TRAIN.user_ids)[0]
    shared = np.mean([len(np.intersect1d(a, b)) / 10 for a, b in zip(own, other, strict=True)])
    assert shared > 0.85
    assert quality(folded) > 0.97 * quality(student)
    nobody = student.fold_in([(7, TRAIN.item_ids[0])])
    assert nobody.recommend([7])[0].shape == (1, 10)


def test_a_file_has_the_student_alone_unless_asked(student, tmp_path):
    student.save(tmp_path / "alone.tr")
    student.save(tmp_path / "both.tr", keep_teacher=True)
    alone, both = tr.load(tmp_path / "alone.tr"), tr.load(tmp_path / "both.tr")
    for model in (alone, both):
        assert model.settled_params() == student.settled_params()
        for got, expected in zip(model.recommend(TRAIN.user_ids), student.recommend(TRAIN.user_ids), strict=True):
            np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(both.fold_in(VALID).user_factors, student.fold_in(VALID).user_factors)
    user, item = TRAIN.user_ids[3], TRAIN.item_ids[5]
    assert both.explain(user, item).score == student.explain(user, item).score
    assert both.explain(user, item).score == pytest.approx(student.teacher_.explain(user, item).score)
    both.save(tmp_path / "again.tr", keep_teacher=True)
    assert (tmp_path / "again.tr").read_bytes() == (tmp_path / "both.tr").read_bytes()
    with pytest.raises(ParameterError, match="its teacher is not here"):
        alone.explain(user, item)
    with pytest.raises(ParameterError, match="no teacher to keep"):
        alone.save(tmp_path / "x.tr", keep_teacher=True)
    assert (tmp_path / "alone.tr").stat().st_size < (tmp_path / "both.tr").stat().st_size


def test_without_a_teacher_new_users_are_taught_by_their_histories(student, tmp_path):
    student.save(tmp_path / "alone.tr")
    folded = tr.load(tmp_path / "alone.tr").fold_in(TRAIN)
    x = 12
    history = np.zeros(TRAIN.n_items)
    history[TRAIN.by_user.indices[slice(*TRAIN.by_user.indptr[x : x + 2])]] = 1
    lists = CSR(np.array([0, int(history.sum())]), np.flatnonzero(history).astype(np.int32), None, TRAIN.n_items)
    shares = CSR(lists.indptr, lists.indices, np.full(lists.nnz, 1 / lists.nnz, dtype=np.float32), TRAIN.n_items)
    one = copy.copy(student)
    one.user_factors_ = student.user_factors[x : x + 1]
    assert folded.user_factors[x] @ best_on_the_sphere(one, shares, 0) > 0.999
    assert quality(folded) > 0.5 * quality(student)


def test_progress_validation_and_stopping(teacher):
    seen = []

    def callback(progress):
        seen.append((progress.step, progress.loss, quality(progress.model())))
        return len(seen) == 2

    model = tr.Distilled(teacher, 8, steps=100).fit(TRAIN, VALID, callback)
    assert [step for step, _, _ in seen] == [1, 2]
    assert seen[1][1] < seen[0][1]
    assert model.history_[-1]["metric"] == pytest.approx(seen[1][2])
    before = model.user_factors_

    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(TRAIN, callback=interrupt)
    assert model.user_factors_ is before


def test_tuning_takes_it_with_parameters_of_its_own_or_of_the_teacher():
    base = tr.Distilled(tr.RG2(16), 4, steps=10)
    found = tr.tune(base, TRAIN, VALID, trials=3)
    assert set(found.best) == {"sharpness", "temperature", "top"}
    assert found.model.teacher_ is found.model.teacher  # fitted once for all trials
    alone = tr.Distilled(tr.RG2(16), 4, steps=10, **found.best).fit(TRAIN)
    assert alone.user_factors.tobytes() == found.model.user_factors.tobytes()
    chosen = tr.tune(base, TRAIN, VALID, space={"teacher__factors": Choice((2, 40))}, trials=2)
    assert chosen.best == {"teacher__factors": 40}
    assert base.teacher.factors == 16


def test_comparing_takes_it():
    few = tr.planted(60, 40, interactions=900)
    models = {"student": tr.Distilled(tr.RG2(10), 4, steps=10), "popularity": tr.Popularity()}
    result = tr.compare(few, models, seeds=[0], trials=2)
    assert {run["model"]: run["error"] for run in result.record["runs"]} == {"student": None, "popularity": None}
