"""Around the solver: interrupted fits go on to the same bits, validation data stops a fit, models grow."""

from __future__ import annotations

import numpy as np
import pytest
from fitted import CLOSED_FORM
from scipy import sparse

import taylorank as tr
from taylorank.errors import DataError, NotFittedError, ParameterError
from taylorank.models import checkpoint as checkpoint_module
from taylorank.models.fold_in import SharedFoldIn
from taylorank.registry import MODELS

SWEEPING = {
    "rg2-als": tr.RG2(factors=6, solver="als", iterations=12, tolerance=0),
    "rg2-als-tolerance": tr.RG2(factors=6, solver="als", iterations=40, tolerance=1e-3),
    "sampled-rg2": tr.SampledRG2(factors=6, iterations=7),
    "sampled-rgx": tr.SampledRGX(factors=6, iterations=5, proposal_exponent=0.5),
    "ials": tr.IALS(factors=6, iterations=7, tolerance=1e-4),
    "ials-cg": tr.IALS(factors=6, iterations=7, solver="cg"),
    "wrmf": tr.WRMF(factors=6, iterations=7, solver="blocks"),
    "released": tr.ReleasedRG(factors=6, iterations=7),
}


@pytest.fixture(scope="module")
def parts():
    return tr.planted(300, 120, interactions=5000, random_state=3).core(5).split()


def interrupting(after):
    """A callback that is interrupted by the user at its step number `after`."""
    calls = []

    def callback(progress):
        calls.append(progress.step)
        if len(calls) == after:
            raise KeyboardInterrupt

    return callback


@pytest.mark.parametrize("name", SWEEPING)
@pytest.mark.parametrize("after", [1, 4])
@pytest.mark.parametrize("with_valid", [False, True])
def test_an_interrupted_fit_goes_on_to_the_same_bits(parts, tmp_path, name, after, with_valid):
    train, valid, _ = parts
    valid = valid if with_valid else None
    model = SWEEPING[name]
    whole = type(model)(**model.get_params()).fit(train, valid, callback=lambda p: None)
    file = tmp_path / "fit.npz"
    with pytest.raises(KeyboardInterrupt):
        type(model)(**model.get_params()).fit(train, valid, callback=interrupting(after), checkpoint=file)
    assert file.exists() == (after > 1)
    resumed = type(model)(**model.get_params()).fit(train, valid, callback=lambda p: None, checkpoint=file)
    assert resumed.user_factors.tobytes() == whole.user_factors.tobytes()
    assert resumed.item_factors.tobytes() == whole.item_factors.tobytes()
    assert [h["step"] for h in resumed.history_] == [h["step"] for h in whole.history_]
    assert not file.exists()


def test_an_interrupted_spectral_fit_goes_on_to_the_same_bits(tmp_path):
    train = tr.planted(900, 600, interactions=20_000, random_state=1)
    model = tr.RG2(factors=20, tolerance=1e-5)
    whole = model.fit(train)
    assert len(whole.history_) >= 3
    file = tmp_path / "fit.npz"
    with pytest.raises(KeyboardInterrupt):
        tr.RG2(factors=20, tolerance=1e-5).fit(train, callback=interrupting(2), checkpoint=file)
    assert file.exists()
    resumed = tr.RG2(factors=20, tolerance=1e-5).fit(train, checkpoint=file)
    assert resumed.user_factors.tobytes() == whole.user_factors.tobytes()
    assert [h["step"] for h in resumed.history_] == [h["step"] for h in whole.history_]


def test_checkpoints_of_other_fits_and_damaged_ones_are_refused(parts, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint_module, "SECONDS_BETWEEN", 0.0)
    train, valid, _ = parts
    file = tmp_path / "fit.npz"
    with pytest.raises(KeyboardInterrupt):
        tr.IALS(factors=4).fit(train, callback=interrupting(3), checkpoint=file)
    with pytest.raises(DataError, match=r"another fit \(parameters"):
        tr.IALS(factors=5).fit(train, checkpoint=file)
    with pytest.raises(DataError, match=r"another fit \(data"):
        tr.IALS(factors=4).fit(valid, checkpoint=file)
    content = file.read_bytes()
    for damaged in (content[: len(content) // 2], content[:-600] + b"x" + content[-599:]):
        file.write_bytes(damaged)
        with pytest.raises(DataError, match="is a damaged checkpoint; delete it"):
            tr.IALS(factors=4).fit(train, checkpoint=file)


@pytest.mark.parametrize("model", [tr.IALS(factors=8, iterations=60, regularization=1e-5), SWEEPING["sampled-rg2"]])
def test_validation_data_stops_the_fit_at_its_best(parts, model):
    train, valid, _ = parts
    fitted = model.fit(train, valid, patience=2)
    metrics = [h["metric"] for h in fitted.history_]
    best = int(np.argmax(metrics))
    assert len(metrics) <= best + 3
    assert tr.evaluate(fitted, valid, k=10)["ndcg@10"] == pytest.approx(metrics[best], abs=1e-9)
    with pytest.raises(ParameterError, match="no metric"):
        model.fit(train, valid, metric="luck@10")


def test_the_spectral_fit_reports_residual_passes_and_metric(parts):
    train, valid, _ = parts
    model = tr.RG2(factors=10).fit(train, valid)
    assert 0 <= model.residual_ <= 1e-2
    assert model.passes_ >= 1
    assert model.history_[-1]["metric"] == pytest.approx(tr.evaluate(model, valid, k=10)["ndcg@10"])


def test_what_a_callback_prints_are_numbers(parts):
    shown = []
    tr.IALS(factors=4, iterations=1).fit(parts[0], callback=lambda p: shown.append(repr(p)))
    assert shown[0].startswith("FitProgress(step=1, seconds=")
    assert "function" not in shown[0]


def test_progress_has_loss_and_a_usable_model(parts):
    train, valid, _ = parts
    seen = []
    tr.IALS(factors=4, iterations=3).fit(train, valid, callback=lambda p: seen.append((p.loss, p.metric, p.model())))
    assert seen[0][0] > seen[2][0]
    assert tr.evaluate(seen[1][2], valid, k=10)["ndcg@10"] == pytest.approx(seen[1][1])
    tr.RG2(factors=4).fit(train, callback=lambda p: seen.append((p.loss, p.residual, p.model())))
    assert seen[-1][0] is None and seen[-1][2] is None  # noqa: PT018
    assert seen[-1][1] >= 0


@pytest.mark.parametrize("name", [n for n in SWEEPING if n != "rg2-als-tolerance"])
def test_a_warm_start_begins_where_the_other_ended(parts, name):
    train, _, _ = parts
    model = SWEEPING[name]
    first = type(model)(**model.get_params()).set_params(iterations=30, tolerance=0.0).fit(train)
    losses = {}
    for start in (None, first):
        seen = []
        again = type(model)(**model.get_params()).set_params(iterations=1, tolerance=0.0)
        again.fit(train, callback=lambda p, seen=seen: seen.append(p.loss), start=start)
        losses[start is None] = seen[0]
    assert losses[False] < losses[True]
    with pytest.raises(ParameterError, match="factors"):
        type(model)(**model.get_params()).set_params(factors=3).fit(train, start=first)


@pytest.mark.parametrize("name", [n for n in CLOSED_FORM if n not in ("ease", "itemknn", "popularity")])
def test_models_take_in_new_users_and_new_items(name):
    data = tr.planted(300, 100, interactions=6000, random_state=7)
    users, items = data.user_ids[data.by_user.row_of_entry()], data.item_ids[data.by_user.indices]
    old = (users < 250) & (items < 90)
    before = tr.Interactions.from_arrays(users[old], items[old])
    after = tr.Interactions.from_arrays(users[~old], items[~old])
    model = MODELS[name](factors=6).fit(before)
    model.partial_fit(after, sweeps=3)
    whole = MODELS[name](factors=6).fit(tr.merge(before, after))
    assert model.users == whole.users
    assert model.items == whole.items
    assert np.isfinite(model.user_factors).all()
    assert np.isfinite(model.item_factors).all()
    folded = model.fold_in(model.seen)
    np.testing.assert_allclose(folded.user_factors, model.user_factors, atol=1e-5)
    newcomers = [u for u in data.user_ids if u >= 250]
    ours, theirs = (m.recommend(newcomers, n=10)[0] for m in (model, whole))
    overlap = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(ours, theirs, strict=True)])
    assert overlap > 0.5
    # new items are recommended at all
    assert np.isin(model.recommend(list(data.user_ids[:250]), n=10)[0], np.arange(90, 100)).any()


def test_partial_fit_recomputes_the_proposal_over_all_data():
    first = tr.Interactions.from_arrays([0, 0, 1, 1, 2], [0, 1, 0, 2, 0])
    model = tr.RG2(factors=2, proposal_exponent=1.0).fit(first)
    model.partial_fit(tr.Interactions.from_arrays([3, 4, 5], [1, 1, 1]))
    np.testing.assert_allclose(model.proposal_, np.array([3, 4, 1]) / 8)


@pytest.mark.parametrize("name", [n for n in CLOSED_FORM if n not in ("ease", "itemknn", "popularity")])
def test_folding_in_a_training_user_gives_back_its_factor(name):
    """At convergence P is the best given Q, which is what fold-in computes: also with strengths and few items."""
    rng = np.random.default_rng(0)
    users, items = np.nonzero(rng.random((60, 30)) < 0.3)
    train = tr.Interactions.from_arrays(users, items, strengths=rng.choice([1.0, 2.0], len(users)))
    precise = {"tolerance": 0.0} if name in ("rg2", "rgx") else {"iterations": 400, "solver": "cholesky"}
    model = MODELS[name](factors=4, **precise).fit(train)
    one = train.user_ids[:3]
    mask = np.isin(train.by_user.row_of_entry(), np.arange(3))
    history = train.select(mask, "three users")
    folded = model.fold_in(history)
    scale = np.abs(model.user_factors).max()
    for x, user in enumerate(one):
        row = folded.users.positions([user])[0]
        np.testing.assert_allclose(folded.user_factors[row], model.user_factors[x], atol=2e-3 * scale)


def of_other_items(data):
    """The same pairs under item ids that the models of `data` do not know."""
    return tr.Interactions.from_arrays(data.by_user.row_of_entry(), data.by_user.indices + 10_000)


@pytest.mark.parametrize("name", ["rg2", "ials", "sampled-rg2"])
def test_an_interrupted_second_fit_leaves_the_first(parts, name):
    train, _, _ = parts
    model = MODELS[name](factors=4).fit(train)
    expected = model.recommend([0, 1], n=5)[0]
    with pytest.raises(KeyboardInterrupt):
        model.fit(of_other_items(train), callback=interrupting(1))
    assert model.items == train.items
    np.testing.assert_array_equal(model.recommend([0, 1], n=5)[0], expected)
    unfitted = MODELS[name](factors=4)
    with pytest.raises(KeyboardInterrupt):
        unfitted.fit(train, callback=interrupting(1))
    with pytest.raises(NotFittedError):
        unfitted.recommend([0])


def test_a_second_fit_that_is_refused_leaves_the_first(parts):
    train, _, _ = parts
    model = tr.RG2(factors=4).fit(train)
    with pytest.raises(ParameterError, match="takes no start"):
        model.fit(of_other_items(train), start=tr.IALS(factors=4).fit(of_other_items(train)))
    assert model.items == train.items


def test_an_interrupted_partial_fit_leaves_the_model(parts, monkeypatch):
    train, _, _ = parts
    model = tr.RG2(factors=4).fit(train)
    expected = model.recommend([0, 1], n=5)[0]

    def interrupted(self, data):
        raise KeyboardInterrupt

    monkeypatch.setattr(SharedFoldIn, "rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit([(0, 999)])
    monkeypatch.undo()
    assert model.items == train.items
    assert model.item_factors.shape == (train.n_items, 4)
    np.testing.assert_array_equal(model.recommend([0, 1], n=5)[0], expected)


@pytest.mark.parametrize("name", [n for n in SWEEPING if n != "rg2-als-tolerance"])
def test_a_start_that_knows_no_item_is_refused(parts, name):
    train, _, _ = parts
    model = SWEEPING[name]
    fresh = type(model)(**model.get_params())
    with pytest.raises(DataError, match="none of these items"):
        fresh.fit(of_other_items(train), start=type(model)(**model.get_params()).fit(train))
    with pytest.raises(ParameterError, match="no item factors"):
        fresh.fit(train, start=tr.Popularity().fit(train))


def test_a_checkpoint_belongs_to_its_validation_data(parts, tmp_path):
    train, valid, test = parts
    file = tmp_path / "fit.npz"
    with pytest.raises(KeyboardInterrupt):
        tr.IALS(factors=4).fit(train, valid, callback=interrupting(3), checkpoint=file)
    for other, metric in ((None, "ndcg@10"), (test, "ndcg@10"), (valid, "recall@10")):
        with pytest.raises(DataError, match=r"another fit \(validation"):
            tr.IALS(factors=4).fit(train, other, metric=metric, checkpoint=file)


def test_a_checkpoint_that_cannot_be_written_is_found_before_the_work(parts, tmp_path):
    steps = []
    for place in (tmp_path / "missing" / "fit.npz", tmp_path):
        with pytest.raises(DataError, match=r"cannot write|is a folder"):
            tr.IALS(factors=4).fit(parts[0], callback=steps.append, checkpoint=place)
    assert not steps


@pytest.mark.parametrize("metric", ["ece@5", "gini@5", "popularity@5", "ndcg", "luck@10", "auc", None, 5])
def test_metrics_that_cannot_choose_are_refused_before_the_work(parts, metric):
    train, valid, _ = parts
    steps = []
    with pytest.raises(ParameterError):
        tr.RG2(factors=4).fit(train, valid, callback=steps.append, metric=metric)
    assert not steps


@pytest.mark.parametrize("patience", [0, 1.5, "3", None])
def test_patience_is_a_count(parts, patience):
    with pytest.raises(ParameterError, match="patience"):
        tr.IALS(factors=4).fit(*parts[:2], patience=patience)


def test_validation_data_may_be_a_matrix_like_training_data(parts):
    cells = (np.random.default_rng(0).random((2, 30, 20)) < [[[0.3]], [[0.1]]]).astype(float)
    train, valid = sparse.csr_array(cells[0]), sparse.csr_array(cells[1] * (1 - cells[0]))
    model = tr.IALS(factors=4).fit(train, valid)
    assert all(0 <= record["metric"] <= 1 for record in model.history_)


@pytest.mark.parametrize("name", [n for n in CLOSED_FORM if n not in ("ease", "itemknn", "popularity")])
def test_a_model_without_its_training_data_does_not_grow(parts, tmp_path, name):
    train, _, test = parts
    fitted = MODELS[name](factors=4).fit(train)
    file = tmp_path / "model.tr"
    fitted.save(file, with_seen=False)
    for bare in (tr.load(file), fitted.fold_in(test)):
        with pytest.raises(DataError, match="data that it was fitted to"):
            bare.partial_fit([(0, 1)])
    fitted.save(file)
    assert tr.load(file).partial_fit([(0, 999)]).items.positions([999])[0] >= 0
    for sweeps in (0, -1, 1.5):
        with pytest.raises(ParameterError, match="sweeps"):
            fitted.partial_fit([(0, 1)], sweeps=sweeps)


@pytest.mark.parametrize("name", ["rg2", "sampled-rg2"])
@pytest.mark.parametrize("which", ["proposal_exponent", "context_exponent"])
def test_exponents_beyond_the_numbers_are_refused(parts, name, which):
    with pytest.raises(ParameterError, match="exponent"):
        MODELS[name](factors=4, **{which: 100.0}).fit(parts[0])


@pytest.mark.parametrize("name", SWEEPING)
def test_a_fit_interrupted_after_its_last_sweep_does_no_more_sweeps(parts, tmp_path, name, monkeypatch):
    train, _, _ = parts
    model = SWEEPING[name]
    whole = type(model)(**model.get_params()).fit(train)
    file = tmp_path / "fit.npz"

    def interrupted(self, kind, *_):  # as the fit is about to be done with its checkpoint
        self.write()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_module.Checkpoint, "__exit__", interrupted)
        with pytest.raises(KeyboardInterrupt):
            type(model)(**model.get_params()).fit(train, checkpoint=file)
    assert file.exists()
    resumed = type(model)(**model.get_params()).fit(train, checkpoint=file)
    assert len(resumed.history_) == len(whole.history_)
    assert resumed.item_factors.tobytes() == whole.item_factors.tobytes()
