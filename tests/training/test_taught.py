"""Encoders that learn a teacher's lists: their loss and its gradient, cold items, parameters, files, refusals."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy import sparse

import taylorank as tr
from taylorank.errors import ParameterError
from taylorank.models.teacher_lists import teacher_lists

torch = pytest.importorskip("torch")

from taylorank.training.build import build  # noqa: E402
from taylorank.training.run import make_loop  # noqa: E402

DATA = tr.planted(120, 60, interactions=1800, seed=3)
TEACHER = tr.RG2(16).fit(DATA)
LISTS = teacher_lists(TEACHER.ranker, top=12, sharpness=1.4)
BACKBONES = ("mf", "lightgcn", "two-tower")


def model_on(backbone, **others):
    given = {"factors": 6, "temperature": 0.2, "epochs": 2, "context_exponent": 0.5, "device": "cpu"}
    return tr.Neural("softmax", backbone, teacher=TEACHER, top=12, sharpness=1.4, **{**given, **others})


def loss_by_the_formula(queries, items):
    """Σ_x n_x^ρ Σ_y π_xy (log Σ_j e^s_xj − s_xy) over Σ_x n_x^ρ, the plain way in double precision."""
    scores = queries @ items.T
    logs = np.log(np.exp(scores).sum(axis=1, keepdims=True))
    weights = DATA.by_user.row_lengths.astype(np.float64) ** 0.5
    weights[LISTS.row_lengths == 0] = 0
    return float(weights @ (LISTS.to_scipy().toarray() * (logs - scores)).sum(axis=1)) / weights.sum()


def loop_of(model):
    parts = build(model, DATA, device="cpu")
    return parts, make_loop(model, parts, DATA, "cpu", model._lists(DATA))


@pytest.mark.parametrize("backbone", BACKBONES)
def test_the_loss_is_the_soft_target_softmax_over_all_items(backbone):
    model = model_on(backbone, batch_size=DATA.n_users)
    parts, loop = loop_of(model)
    (batch,) = loop.feed.batches(loop.generator)
    encoded = parts.backbone.encode()
    users, items = encoded.queries(torch.arange(DATA.n_users)), encoded.items()
    expected = loss_by_the_formula(*(side.detach().double().numpy() for side in (users, items)))
    assert float(loop.loss(batch).detach()) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_its_gradient_agrees_with_differences(backbone):
    model = model_on(backbone, batch_size=DATA.n_users)
    parts, loop = loop_of(model)
    (batch,) = loop.feed.batches(loop.generator)
    loop.loss(batch).backward()

    def value():
        encoded = parts.backbone.encode()
        users, items = encoded.queries(torch.arange(DATA.n_users)), encoded.items()
        return loss_by_the_formula(*(side.detach().double().numpy() for side in (users, items)))

    rng = np.random.default_rng(0)
    for parameter in parts.parameters():
        found = parameter.grad.double().numpy().copy()
        direction = rng.standard_normal(parameter.shape)
        direction /= np.linalg.norm(direction)
        start, ends = parameter.detach().clone(), []
        for step in (2e-3, -2e-3):
            with torch.no_grad():
                parameter.copy_(start + torch.as_tensor(step * direction, dtype=start.dtype))
            ends.append(value())
        with torch.no_grad():
            parameter.copy_(start)
        assert (found * direction).sum() == pytest.approx((ends[0] - ends[1]) / 4e-3, rel=2e-2, abs=2e-5)


def clusters(seed=0, count=20, each=10, users=400):
    """Users who like one cluster of items; features name the cluster, with noise; a fifth of the items is unseen."""
    rng = np.random.default_rng(seed)
    likes = rng.integers(count, size=users)
    who = np.repeat(np.arange(users), 12)
    what = likes[who] * each + rng.integers(each, size=len(who))
    anything = rng.random(len(who)) < 0.1
    what[anything] = rng.integers(count * each, size=anything.sum())
    data = tr.Interactions.from_arrays(who, what)
    of_item = data.item_ids // each
    features = (np.equal.outer(of_item, np.arange(count)) ^ (rng.random((data.n_items, count)) < 0.02)).astype(
        np.float32
    )
    is_cold = rng.random(data.n_items) < 0.2
    of_cold = is_cold[data.by_user.indices]
    return data.select(~of_cold, "warm"), data.select(of_cold, "cold"), sparse.csr_array(features), is_cold


TRAIN, COLD, FEATURES, IS_COLD = clusters()


def towers(**others):
    given = {
        "options": {"item_features": FEATURES, "id_dropout": 0.5},
        "factors": 16,
        "temperature": 0.15,
        "epochs": 40,
        "batch_size": 64,
        "device": "cpu",
    }
    return tr.Neural("softmax", "two-tower", teacher=tr.RG2(20), top=50, **{**given, **others})


@pytest.fixture(scope="module")
def taught():
    return towers().fit(TRAIN)


def ndcg_of_cold(scores):
    """NDCG@5 of the cold items, ranked among themselves."""
    cold = np.flatnonzero(IS_COLD)
    wanted = COLD.matrix[:, cold].toarray() > 0
    best = np.argsort(-scores[:, cold], axis=1)[:, :5]
    gains = np.take_along_axis(wanted, best, axis=1) / np.log2(np.arange(2, 7))
    some = wanted.any(axis=1)
    ideal = np.array([(1 / np.log2(np.arange(2, 2 + n))).sum() for n in np.minimum(wanted.sum(axis=1), 5)])
    return float((gains.sum(axis=1)[some] / ideal[some]).mean())


def test_items_that_nobody_has_are_ranked_by_their_features(taught):
    assert not TRAIN.item_popularity[IS_COLD].any()
    scores = taught.user_factors @ taught.item_factors.T
    rng = np.random.default_rng(0)
    random = ndcg_of_cold(rng.random(scores.shape))
    popular = ndcg_of_cold(np.tile(TRAIN.item_popularity + 1e-6 * rng.random(TRAIN.n_items), (TRAIN.n_users, 1)))
    found = ndcg_of_cold(scores)
    assert found > 0.5
    assert found > 2.5 * max(random, popular)
    cold = TRAIN.item_ids[IS_COLD]
    lists = taught.recommend(TRAIN.user_ids, n=10)[0]
    assert np.isin(lists, cold).mean() > 0.05  # they are recommended
    without = towers(options=None, epochs=5).fit(TRAIN)
    assert not np.isin(without.recommend(TRAIN.user_ids, n=10)[0], cold).any()


def test_cold_items_are_no_negatives_and_nothing_of_them_is_random():
    model = towers(epochs=1)
    parts = build(model, TRAIN, device="cpu")
    loop = make_loop(model, parts, TRAIN, "cpu", model._lists(TRAIN))
    loop.epoch()
    assert loop.optimizer.state_dict()["state"]
    fresh = build(model, TRAIN, device="cpu")
    learned, before = (part.backbone.items.ids.detach().numpy() for part in (parts, fresh))
    np.testing.assert_array_equal(learned[IS_COLD], before[IS_COLD])
    assert (learned[~IS_COLD] != before[~IS_COLD]).any(axis=1).mean() > 0.9  # some were left out in every step
    parts.backbone.eval()
    same = FEATURES[[0]].toarray()
    twins = np.flatnonzero((FEATURES.toarray() == same).all(axis=1) & IS_COLD)
    vectors = parts.backbone.encode().items().detach().numpy()
    for twin in twins[1:]:
        np.testing.assert_allclose(vectors[twin], vectors[twins[0]], atol=1e-6)


def test_items_without_ids_and_features_are_not_recommended():
    features = FEATURES.tolil()
    blank = np.flatnonzero(IS_COLD)[:2]
    features[blank] = 0
    model = towers(options={"item_features": sparse.csr_array(features), "id_dropout": 0.5}, epochs=2)
    model.fit(TRAIN)
    assert not model.item_factors[blank].any()
    assert not np.isin(model.recommend(TRAIN.user_ids, n=50)[0], TRAIN.item_ids[blank]).any()


def test_a_file_keeps_lists_parameters_and_cold_items(taught, tmp_path):
    taught.save(tmp_path / "m.tr")
    loaded = tr.load(tmp_path / "m.tr")
    for got, expected in zip(loaded.recommend(TRAIN.user_ids), taught.recommend(TRAIN.user_ids), strict=True):
        np.testing.assert_array_equal(got, expected)
    assert loaded.get_params()["teacher__factors"] == 20
    assert (loaded.top, type(loaded.teacher)) == (50, tr.RG2)


def test_parameters_of_the_teacher_are_nested():
    base = tr.RG2(16)
    model = tr.Neural(teacher=base)
    assert model.get_params()["teacher__factors"] == 16
    assert "teacher__factors" not in model.get_params(deep=False)
    model.set_params(teacher__factors=8, sharpness=2.0)
    assert (model.teacher.factors, base.factors, model.sharpness) == (8, 16, 2.0)
    again = type(model)(**model.get_params(deep=False))
    assert again.settled_params() == model.settled_params()
    assert tr.Neural().get_params().get("teacher") is None
    with pytest.raises(ParameterError, match="there is no teacher to have 'factors'"):
        tr.Neural().set_params(teacher__factors=3)
    with pytest.raises(ParameterError, match="RG2 has no parameter 'magic'"):
        model.set_params(teacher__magic=1)


def test_a_fitted_teacher_gives_the_same_student_as_one_that_is_fitted_first():
    fitted = model_on("mf").fit(DATA)
    first = model_on("mf")
    first.teacher = tr.RG2(16)
    assert first.prepared(DATA).teacher.train_.nnz == DATA.nnz
    assert first.fit(DATA).user_factors.tobytes() == fitted.user_factors.tobytes()
    assert not hasattr(first.teacher, "train_")
    assert tr.Neural(epochs=1).prepared(DATA).teacher is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": "bpr"}, "learned by a loss over all items, which bpr is not; choose softmax"),
        ({"backbone": "sasrec"}, "sasrec learns from every place of a history; choose mf, lightgcn or two-tower"),
        ({"loss": "rg2", "optimizer": "newton", "temperature": None}, "newton learns from the data"),
        ({"top": 0}, "top=0"),
        ({"sharpness": -1.0}, r"sharpness=-1\.0"),
        ({"teacher": None}, "top=12 is of a teacher's lists, and there is no teacher"),
        ({"backbone": "two-tower", "options": {"id_dropout": 0.5}}, "give item_features"),
        ({"backbone": "mf", "options": {"id_dropout": 0.5}}, "has no option 'id_dropout'"),
    ],
)
def test_what_does_not_fit_together_is_refused(change, message):
    model = model_on("mf", context_exponent=1.0)
    for name, value in change.items():
        setattr(model, name, value)
    with pytest.raises(ParameterError, match=message) as caught:
        model.fit(DATA)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan"), "half"])
def test_a_share_of_ids_is_between_0_and_1(share):
    with pytest.raises(ParameterError, match="id_dropout"):
        towers(options={"item_features": FEATURES, "id_dropout": share}).fit(TRAIN)


def test_an_interrupted_fit_goes_on_to_the_same_bits(tmp_path):
    whole = towers(epochs=4).fit(TRAIN)

    def interrupt(progress):
        if progress.step == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        towers(epochs=4).fit(TRAIN, callback=interrupt, checkpoint=tmp_path / "c")
    rest = towers(epochs=4).fit(TRAIN, checkpoint=tmp_path / "c")
    assert rest.item_factors.tobytes() == whole.item_factors.tobytes()


def test_a_model_fitted_without_a_teacher_is_as_before():
    plain = tr.Neural("softmax", factors=4, epochs=2, device="cpu")
    one, same = plain.fit(DATA), copy.deepcopy(plain).fit(DATA)
    assert one.user_factors.tobytes() == same.user_factors.tobytes()
