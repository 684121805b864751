"""The estimator from the outside: it learns, resumes, stops, refuses, and comes back from a file."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch")

import taylorank as tr  # noqa: E402
from taylorank import losses  # noqa: E402
from taylorank.errors import DataError, ParameterError, TrainingError  # noqa: E402
from taylorank.losses import Positives  # noqa: E402
from taylorank.models import Popularity  # noqa: E402
from taylorank.models.fitting import FitMonitor  # noqa: E402
from taylorank.ranking import evaluate  # noqa: E402
from taylorank.training.build import build  # noqa: E402
from taylorank.training.first_order import FirstOrder  # noqa: E402
from taylorank.training.run import default_batch_size, make_feed, recipe_of  # noqa: E402

QUICK = {"factors": 8, "epochs": 15, "learning_rate": 0.05, "random_state": 0}


@pytest.fixture(scope="module")
def parts():
    return tr.planted(200, 60, interactions=5000).split((0.8, 0.1, 0.1), seed=0)


def quick(loss="softmax", *rest, **more):
    return tr.Neural(loss, *rest, **{**QUICK, **more})


def fit_quality(model, train):
    """How well the training data itself is ranked: what any loss must raise, whatever it does to other data."""
    return evaluate(model, train, seen=[])["ndcg@10"]


@pytest.mark.parametrize("loss", tr.losses.names())
def test_every_loss_learns_to_rank(parts, loss):
    train = parts[0]
    floor = fit_quality(Popularity().fit(train), train)
    size = 50 if tr.losses.get(loss).batch_of == "users" else 500
    more = {"temperature": 0.2} if losses.get(loss).needs_bounded_scores else {}  # made for cosines
    model = quick(loss, epochs=40, negatives=16, batch_size=size, regularization=1e-3, **more).fit(train)
    assert fit_quality(model, train) > floor + 0.05


@pytest.mark.parametrize("backbone", ["lightgcn", "sasrec", "two-tower"])
@pytest.mark.parametrize("loss", ["softmax", "bpr", "rg2", "hsm"])
def test_every_kind_of_loss_works_on_every_backbone(parts, backbone, loss):
    train = parts[0]
    untrained = quick(loss, backbone, epochs=1, learning_rate=0.0).fit(train)
    model = quick(loss, backbone, epochs=20, learning_rate=0.02).fit(train)
    assert model.history_[-1]["loss"] < model.history_[0]["loss"]
    if backbone != "sasrec":  # which learns what comes next, not what has been
        assert fit_quality(model, train) > fit_quality(untrained, train) + 0.02


@pytest.mark.parametrize("sampler", tr.samplers.names())
def test_every_sampler_works(parts, sampler):
    train = parts[0]
    model = quick("bpr", "mf", sampler, epochs=40, negatives=8, batch_size=500).fit(train)
    assert fit_quality(model, train) > fit_quality(Popularity().fit(train), train) + 0.05


@pytest.mark.parametrize(
    ("loss", "backbone", "optimizer"),
    [
        ("softmax", "mf", "adam"),
        ("bpr", "lightgcn", "adamw"),
        ("softmax", "sasrec", "adam"),
        ("sml", "mf", "sgd"),
        ("bpr", "mf", "sparse-adam"),
        ("hsm", "two-tower", "sgd"),
    ],
)
def test_interrupted_fit_goes_on_to_the_same_bits(parts, tmp_path, loss, backbone, optimizer):
    train, valid, _ = parts
    model = quick(loss, backbone, epochs=6, optimizer=optimizer)
    whole = model.fit(train, valid)

    def interrupt(progress):
        if progress.step == 3:
            raise KeyboardInterrupt

    broken = quick(loss, backbone, epochs=6, optimizer=optimizer)
    for _ in range(2):  # in the same epoch: what was restored is not what the broken one wrote over
        with pytest.raises(KeyboardInterrupt):
            broken.fit(train, valid, interrupt, checkpoint=tmp_path / "fit.npz")
    assert not hasattr(broken, "weights_")
    again = broken.fit(train, valid, checkpoint=tmp_path / "fit.npz")
    assert not (tmp_path / "fit.npz").exists()
    np.testing.assert_array_equal(again.weights_, whole.weights_)
    np.testing.assert_array_equal(again.user_factors, whole.user_factors)
    assert [record["loss"] for record in again.history_] == [record["loss"] for record in whole.history_]


def test_checkpoint_of_another_fit_is_refused(parts, tmp_path):
    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quick(epochs=3).fit(
            parts[0], callback=lambda p: interrupt(p) if p.step == 2 else None, checkpoint=tmp_path / "c"
        )
    with pytest.raises(DataError, match="parameters differs"):
        quick(epochs=4).fit(parts[0], checkpoint=tmp_path / "c")


def test_same_seed_same_bits_and_the_callers_randomness_is_left_alone(parts):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first, second = (quick("bpr", "sasrec", epochs=2).fit(parts[0]) for _ in range(2))
    np.testing.assert_array_equal(first.weights_, second.weights_)
    assert torch.equal(torch.get_rng_state(), before)
    other = quick("bpr", "sasrec", epochs=2, random_state=1).fit(parts[0])
    assert not np.array_equal(first.weights_, other.weights_)


def test_a_metric_that_falls_before_it_rises_does_not_end_a_fit(parts, monkeypatch):
    """As softmax on lightgcn does on ml-100k, whose metric is below that of its third epoch until the thirteenth."""
    curve = [0.09, 0.14, 0.138, 0.137, 0.135, 0.134, 0.135, 0.16, 0.18, *[0.17] * 31]
    values = iter(curve)
    monkeypatch.setattr(FitMonitor, "measure", lambda monitor, model: next(values))
    model = quick(epochs=40).fit(*parts[:2])
    assert [record["metric"] for record in model.history_] == curve[: 9 + 10]  # waits for a quarter of the epochs
    values = iter(curve)
    weights = []
    stopped = quick(epochs=40).fit(*parts[:2], lambda progress: weights.append(progress.model().weights_), patience=5)
    assert len(stopped.history_) == 7
    np.testing.assert_array_equal(stopped.weights_, weights[1])
    np.testing.assert_array_equal(model.weights_, _after(parts[0], 9))


def _after(train, epochs):
    found = []
    quick(epochs=40).fit(train, callback=lambda p: p.step == epochs and (found.append(p.model().weights_) or True))
    return found[0]


@pytest.mark.parametrize(("loss", "backbone"), [("softmax", "lightgcn"), ("bpr", "mf"), ("softmax", "sasrec")])
def test_an_epoch_of_small_data_has_sixteen_steps(loss, backbone):
    data = tr.planted(943, 100, interactions=20_000)
    model = tr.Neural(loss, backbone, factors=2, device="cpu")
    assert make_feed(model, build(model, data, device="cpu"), data, "cpu").steps == 16
    assert default_batch_size("users", 10**6) == 512


def test_best_epoch_on_validation_data_is_kept(parts):
    train, valid, _ = parts
    model = quick(epochs=60, learning_rate=0.3, schedule="constant").fit(train, valid, patience=4)
    values = [record["metric"] for record in model.history_]
    assert len(values) < 60
    assert len(values) - 1 - int(np.argmax(values)) == 4
    assert evaluate(model, valid, metrics="ndcg@10")["ndcg@10"] == pytest.approx(max(values), abs=1e-6)


def test_callback_hears_of_every_epoch_and_stops_the_fit(parts):
    calls = []
    quick(epochs=9).fit(parts[0], callback=lambda p: calls.append((p.step, p.loss, p.seconds)) or p.step == 4)
    assert [step for step, *_ in calls] == [1, 2, 3, 4]
    assert all(np.isfinite(loss) and seconds > 0 for _, loss, seconds in calls)


def test_towers_with_features_come_back_from_a_file(parts, tmp_path):
    train = parts[0]
    features = sparse.random_array((train.n_items, 5), density=0.4, rng=np.random.default_rng(0), format="csr")
    model = quick("bpr", "two-tower", epochs=2, options={"item_features": features}).fit(train)
    model.save(tmp_path / "m.tr")
    back = tr.load(tmp_path / "m.tr")
    np.testing.assert_array_equal(back.scores(np.arange(9)), model.scores(np.arange(9)))
    with pytest.raises(ParameterError, match="item_features is not a sparse matrix"):  # rather than fit without them
        back.fit(train)


def test_in_batch_draws_know_how_often_items_come_not_how_strong_they_are():
    data = tr.Interactions.from_arrays(["a", "b", "c", "d"], ["x", "x", "x", "y"], strengths=[1.0, 1.0, 1.0, 9.0])
    parts = build(quick("sampled-softmax-all", "mf", "in-batch"), data, device="cpu")
    batch = Positives(torch.arange(2), torch.tensor([0, 1]), torch.ones(2))
    drawn = parts.sampler.draw(batch, 1, generator=torch.Generator())
    np.testing.assert_allclose(drawn.positive_log_q.exp(), [0.75, 0.25])


def test_draws_that_look_at_scores_look_at_distances_where_these_rank(parts, monkeypatch):
    def draw(sampler, positives, n, *, queries, items, users, generator):
        raise Looked(queries @ items(torch.arange(60)).T)

    class Looked(Exception):
        pass

    monkeypatch.setattr(tr.samplers.DynamicSampler, "draw", draw)
    data = parts[0].select(parts[0].by_user.row_of_entry() < 1, "one user")
    with pytest.raises(Looked) as found:
        quick("sml", "mf", "dynamic", options={"std": 0.5}).fit(data)
    start = build(quick("sml", "mf", options={"std": 0.5}), data, device="cpu").backbone
    distances = torch.cdist(start.user_factors[:1], start.item_factors)[0].square().detach()
    looked_at = found.value.args[0][0]
    np.testing.assert_allclose(torch.diff(looked_at), torch.diff(-distances), atol=1e-5)


def test_divergence_stops_with_a_diagnosis_and_leaves_the_model_as_it_was(parts):
    model = quick(epochs=2).fit(parts[0])
    kept = model.weights_.copy()
    model.set_params(learning_rate=1e30, optimizer="sgd", epochs=30)
    with pytest.raises(TrainingError, match=r"batch \d+ of epoch \d+.*lower learning_rate \(now 1e\+30\)"):
        model.fit(parts[0])
    np.testing.assert_array_equal(model.weights_, kept)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"loss": "sofmax"}, "no loss is called 'sofmax'"),
        ({"backbone": "gcn"}, "no backbone is called 'gcn'"),
        ({"loss": "bpr", "sampler": "hard"}, "no sampler is called 'hard'"),
        ({"loss": "softmax", "sampler": "uniform"}, "softmax draws no negatives"),
        ({"loss": "nce", "sampler": "dynamic"}, "nce needs the probability of each draw"),
        ({"loss": "sml", "temperature": 0.1}, "sml ranks by distances"),
        ({"loss": "softmax", "optimizer": "sparse-adam"}, "sparse-adam needs a loss with draws on mf"),
        ({"loss": "uib", "optimizer": "sparse-adam"}, "sparse-adam cannot move what uib itself learns"),
        ({"loss": "sml", "optimizer": "sparse-adam"}, "sparse-adam cannot move what sml itself learns"),
        ({"loss": "ccl"}, "ccl falls without end.*give a temperature"),
        ({"backbone": "sasrec", "context_exponent": 0.5}, "context_exponent=0.5 would do nothing"),
        ({"options": {"alpha": 1.5}}, "softmax/mf has no option 'alpha'"),
        ({"options": {"item_bias": "no"}}, "item_bias='no' is neither True nor False"),
        ({"backbone": "two-tower", "options": {"hidden": 32}}, "hidden=32 is no list of widths"),
        ({"loss": "rg2", "options": {"refresh": True}}, "refresh=True is not a whole number"),
        ({"loss": "rg2", "options": {"decay": 7.0}}, "decay=7.0 is not in"),
        ({"random_state": None}, "random_state=None is not a whole number"),
        ({"optimizer": "lbfgs"}, "optimizer='lbfgs' is unknown"),
        ({"precision": "float16"}, "precision='float16' is unknown"),
        ({"device": "tpu"}, "device='tpu' is unknown"),
        ({"temperature": 0.0}, "temperature"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"epochs": 0}, "epochs"),
        ({"batch_size": 0}, "batch_size"),
    ],
)
def test_what_cannot_work_is_refused_with_the_reason(parts, params, words):
    with pytest.raises(ParameterError, match=words.replace("'", ".")):
        quick(**params).fit(parts[0])


def test_sequences_need_times(parts):
    data = tr.Interactions.from_matrix(tr.planted(50, 20, interactions=400).matrix)
    with pytest.raises(DataError, match="timestamps"):
        quick("softmax", "sasrec").fit(data)


@pytest.mark.parametrize(
    ("loss", "backbone"), [("softmax", "mf"), ("hsm", "mf"), ("sml", "lightgcn"), ("softmax", "sasrec")]
)
def test_file_gives_back_the_same_model(parts, tmp_path, loss, backbone):
    train, _, test = parts
    model = quick(loss, backbone, epochs=3).fit(train)
    model.save(tmp_path / "m.tr")
    back = tr.load(tmp_path / "m.tr")
    assert back.get_params() == model.settled_params()
    np.testing.assert_array_equal(back.scores(np.arange(20)), model.scores(np.arange(20)))
    assert evaluate(back, test) == evaluate(model, test)


def test_sasrec_folds_in_new_histories(parts, tmp_path):
    train, _, _ = parts
    model = quick("softmax", "sasrec", epochs=3).fit(train)
    some = train.select(train.by_user.row_of_entry() < 7, "seven users")
    np.testing.assert_allclose(model.fold_in(some).user_factors[:7], model.user_factors[:7], atol=1e-5)
    rows = some.by_user.row_of_entry()
    others = tr.Interactions.from_arrays(  # other users, and an item more that the model does not know
        [*(f"new {x}" for x in rows), "new 0"],
        [*some.item_ids[some.by_user.indices], some.item_ids.max() + 1],
        timestamps=[*some.timestamps, some.timestamps.max()],
    )
    folded = model.fold_in(others)
    assert list(folded.users.values) == [f"new {x}" for x in range(7)]
    np.testing.assert_allclose(folded.user_factors, model.user_factors[:7], atol=1e-5)
    with pytest.raises(ParameterError, match="cannot fold in"):
        quick(epochs=1).fit(train).fold_in(some)


@pytest.mark.parametrize("loss", ["rg2", "rgx", "sml", "uib", "hsm"])
def test_histories_that_were_there_in_training_get_their_scores_back(parts, loss):
    """Whatever the loss has of its own: a proposal, margins of users, a boundary, a tree."""
    train, _, _ = parts
    model = quick(loss, "sasrec", epochs=3).fit(train)
    rows = train.by_user.row_of_entry()
    there = rows < 7
    some = tr.Interactions.from_arrays(
        train.user_ids[rows[there]],
        train.item_ids[train.by_user.indices[there]],
        timestamps=train.timestamps[there],
    )
    np.testing.assert_allclose(model.fold_in(some).scores(np.arange(7)), model.scores(np.arange(7)), atol=1e-5)


def test_a_user_must_have_two_items_for_one_to_come_next():
    data = tr.Interactions.from_arrays(["ann", "bob"], ["tea", "milk"], timestamps=[1, 2])
    with pytest.raises(DataError, match="no user has two items"):
        quick("softmax", "sasrec").fit(data)


def test_users_without_history_are_cold(parts):
    train, _, _ = parts
    rows = train.by_user.row_of_entry()
    model = quick(epochs=2).fit(train.select(rows != 3, "without user 3"))
    assert model.ranker.is_cold(np.array([3]))[0]
    popular = Popularity().fit(model.seen)
    np.testing.assert_array_equal(model.recommend([train.user_ids[3]])[0], popular.recommend([train.user_ids[3]])[0])


def test_graded_strengths_and_context_weights_count(parts):
    train, _, _ = parts
    plain = quick(epochs=2).fit(train)
    heavy = quick(epochs=2, context_exponent=0.0).fit(train)
    assert not np.allclose(plain.weights_, heavy.weights_)


def test_sparse_adam_learns(parts):
    history = quick("bpr", optimizer="sparse-adam", epochs=30).fit(parts[0]).history_
    assert history[-1]["loss"] < 0.9 * history[0]["loss"]


@pytest.mark.parametrize(("optimizer", "moves"), [("sparse-adam", False), ("adam", True)])
def test_sparse_adam_leaves_alone_what_a_batch_does_not_touch(parts, optimizer, moves):
    """A user's row, touched by one step, in the next one, which is of others: Adam moves it on, by its momentum."""
    train = parts[0]
    of_user = train.by_user.row_of_entry() == 3
    model = quick("bpr", optimizer=optimizer, batch_size=train.nnz)
    pieces = build(model, train, device="cpu")
    alone, others = (make_feed(model, pieces, train.select(kept, "a part"), "cpu") for kept in (of_user, ~of_user))
    loop = FirstOrder(pieces, alone, recipe_of(model), generator=torch.Generator().manual_seed(0))
    rows = [pieces.backbone.user_factors[3].detach().clone()]
    for feed in (alone, others):
        loop.feed = feed
        loop.epoch()
        rows.append(pieces.backbone.user_factors[3].detach().clone())
    assert not torch.equal(rows[0], rows[1])
    assert torch.equal(rows[1], rows[2]) != moves


def test_scikit_learn_conventions():
    model = tr.Neural("entmax", options={"alpha": 1.3})
    again = tr.Neural(**model.get_params())
    assert again.get_params() == model.get_params()
    assert "entmax" in repr(model)


def test_a_start_that_cannot_serve_is_refused(parts):
    train = parts[0]
    wide = quick("rg2", epochs=1).fit(train)  # ranks by probability: its vectors have one number more
    with pytest.raises(ParameterError, match="give a model whose vectors are its factors"):
        quick().fit(train, start=wide)
    with pytest.raises(ParameterError, match="tree has no vectors"):
        quick("hsm").fit(train, start=quick(epochs=1).fit(train))


def test_a_file_of_other_features_is_refused(parts, tmp_path):
    train = parts[0]
    features = sparse.csr_array(np.tile(np.eye(40, dtype=np.float32), (train.n_items, 1))[: train.n_items])

    def interrupted(progress):
        if progress.step == 2:
            raise KeyboardInterrupt

    def model(matrix):
        return quick("bpr", "two-tower", epochs=3, options={"item_features": matrix})

    file = tmp_path / "fit"
    with pytest.raises(KeyboardInterrupt):
        model(features).fit(train, callback=interrupted, checkpoint=file)
    other = features.copy()
    other.data[train.n_items // 2] = 2.0  # in the middle, where a print leaves out
    elsewhere = sparse.coo_array(features[:, ::-1])  # the same values in other places
    for matrix in (other, elsewhere):
        with pytest.raises(DataError, match="another fit"):
            model(matrix).fit(train, checkpoint=file)
    model(sparse.coo_array(features)).fit(train, checkpoint=file)


def test_a_list_is_no_name():
    with pytest.raises(ParameterError, match="no loss is called"):
        tr.Neural(["bpr"]).fit(tr.planted(20, 10, interactions=60))


def test_a_seed_of_numpy_is_the_same_seed(parts):
    plain, numpys = (quick("bpr", epochs=1, random_state=seed).fit(parts[0]) for seed in (3, np.int64(3)))
    np.testing.assert_array_equal(plain.user_factors, numpys.user_factors)
