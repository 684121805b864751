"""Kept moments: fresh ones give the exact loss, draws restore the exact gradient on average."""

from __future__ import annotations

import itertools

import pytest

torch = pytest.importorskip("torch")

import taylorank as tr  # noqa: E402
from taylorank import losses  # noqa: E402
from taylorank.errors import ParameterError  # noqa: E402

B, N, K = 4, 3, 2
POSITIVES = losses.Positives(
    torch.tensor([0, 0, 2, 3]), torch.tensor([1, 2, 0, 2]), torch.tensor([1.0, 2.0, 0.5, 1.5], dtype=torch.float64)
)
POPULARITY = torch.tensor([5.0, 1.0, 2.0])


def make(name, **options):
    sizes = {"n_users": B, "n_items": N, "factors": K, "popularity": POPULARITY}
    return losses.get(name).criterion(**sizes, **options).double()


def vectors():
    draw = torch.Generator().manual_seed(0)
    return [torch.randn(rows, K, generator=draw, dtype=torch.float64, requires_grad=True) for rows in (B, N)]


def gradients(criterion, as_function):
    U, V = vectors()
    loss = criterion(U, (lambda columns: V[columns]) if as_function else V, POSITIVES)
    loss.backward()
    return loss.detach(), U.grad, V.grad


@pytest.mark.parametrize("refresh", [2, "average"])
@pytest.mark.parametrize("name", ["rg2", "rgx"])
def test_fresh_moments_give_the_exact_loss_and_gradient_of_queries(name, refresh):
    exact, of_queries, _ = gradients(make(name), as_function=False)
    kept, found, _ = gradients(make(name, refresh=refresh), as_function=True)
    torch.testing.assert_close(kept, exact)
    torch.testing.assert_close(found, of_queries)


@pytest.mark.parametrize("decay", [0.0, 0.9])
@pytest.mark.parametrize("name", ["rg2", "rgx"])
def test_gradient_of_items_is_exact_on_average_over_all_draws(name, decay, monkeypatch):
    _, _, exact = gradients(make(name), as_function=False)
    q = make(name).proposal
    mean = torch.zeros_like(exact)
    for drawn in itertools.product(range(N), repeat=2):
        criterion = make(name, refresh=5, draws=2, query_decay=decay)
        monkeypatch.setattr(criterion, "draw", lambda drawn=drawn: torch.tensor(drawn))
        mean += q[list(drawn)].prod() * gradients(criterion, as_function=True)[2]
    torch.testing.assert_close(mean, exact)


def test_without_the_draws_the_gradient_of_items_would_be_wrong():
    _, _, exact = gradients(make("rg2"), as_function=False)
    criterion = make("rg2", refresh=5)
    criterion._correction = lambda *_: torch.zeros(())
    assert not torch.allclose(gradients(criterion, as_function=True)[2], exact, rtol=0.1)


def test_moments_stay_until_they_are_refreshed():
    criterion = make("rg2", refresh=3)
    U, V = vectors()
    moments = []
    with torch.no_grad():
        for step in range(4):
            criterion(U, lambda columns, step=step: (1 + step) * V[columns], POSITIVES)
            moments.append(criterion.mean.clone())
    torch.testing.assert_close(moments[1], moments[0])
    torch.testing.assert_close(moments[2], moments[0])
    torch.testing.assert_close(moments[3], 4 * moments[0])


def test_average_tends_to_the_moments_of_now():
    torch.manual_seed(0)
    criterion = make("rg2", refresh="average", draws=4000, decay=0.5)
    U, V = vectors()
    with torch.no_grad():
        criterion(U, lambda columns: 0 * V[columns], POSITIVES)
        assert not criterion.gram.any()
        for _ in range(12):
            criterion(U, lambda columns: V[columns], POSITIVES)
    q = criterion.proposal
    torch.testing.assert_close(criterion.mean, q @ V.detach(), rtol=0.1, atol=0.03)
    torch.testing.assert_close(criterion.gram, (V.T * q @ V).detach(), rtol=0.1, atol=0.03)


def test_means_of_queries_are_over_the_last_batches():
    criterion = make("rg2", refresh=100, query_decay=0.5)
    U, V = vectors()
    with torch.no_grad():
        for scale in (1.0, 3.0):
            criterion(scale * U, lambda columns: V[columns], POSITIVES)
    totals = torch.tensor([3.0, 0.0, 0.5, 1.5], dtype=torch.float64)
    one = totals @ U.detach() / totals.sum()
    torch.testing.assert_close(criterion.query_mean, (0.5 * 1 + 1.0 * 3) / 1.5 * one)


def test_draws_follow_the_proposal():
    torch.manual_seed(0)
    criterion = make("rg2", refresh=2, draws=20_000)
    shares = torch.bincount(criterion.draw(), minlength=N) / 20_000
    torch.testing.assert_close(shares.double(), criterion.proposal, atol=0.02, rtol=0)


def test_dear_encoder_is_asked_for_few_items_between_refreshes():
    criterion = make("rg2", refresh=10, draws=1)
    asked = []
    U, V = vectors()
    for _ in range(3):
        criterion(U, lambda columns: asked.append(len(columns)) or V[columns], POSITIVES)
    assert len(asked) == 4  # each step once, and all items once


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"refresh": 0}, "refresh=0"),
        ({"refresh": "often"}, "refresh='often'"),
        ({"refresh": 2, "draws": 0}, "draws=0"),
        ({"refresh": 2, "decay": 1.0}, "decay=1.0"),
        ({"refresh": 2, "query_decay": -0.1}, "query_decay=-0.1"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        make("rg2", **options)


@pytest.mark.parametrize("refresh", [2, "average"])
@pytest.mark.parametrize("backbone", ["mf", "two-tower"])
def test_kept_moments_train_nearly_as_exact_ones(refresh, backbone):
    data = tr.planted(200, 60, interactions=5000)
    train = {"factors": 8, "epochs": 15, "learning_rate": 0.01, "batch_size": 10, "regularization": 1e-2}
    exact = tr.Neural("rg2", backbone, **train).fit(data)
    kept = tr.Neural("rg2", backbone, options={"refresh": refresh, "draws": 200}, **train).fit(data)
    values = [tr.evaluate(model, data, seen=[])["ndcg@10"] for model in (exact, kept)]
    assert values[1] > 0.93 * values[0]


def test_interrupted_fit_with_kept_moments_goes_on_to_the_same_bits(tmp_path):
    data = tr.planted(100, 40, interactions=1500)
    params = {"factors": 4, "epochs": 6, "batch_size": 30, "options": {"refresh": "average", "draws": 20}}
    whole = tr.Neural("rgx", **params).fit(data)

    def interrupt(progress):
        if progress.step == 3:
            raise KeyboardInterrupt

    broken = tr.Neural("rgx", **params)
    with pytest.raises(KeyboardInterrupt):
        broken.fit(data, None, interrupt, checkpoint=tmp_path / "c")
    again = broken.fit(data, checkpoint=tmp_path / "c")
    assert (again.weights_ == whole.weights_).all()


def test_a_batch_that_counts_for_nothing_leaves_the_means_of_queries_alone():
    criterion = make("rgx", refresh=5, query_decay=0.9)
    U, V = vectors()
    criterion(U, lambda columns: V[columns], POSITIVES)
    before = criterion.query_gram.clone()
    empty = POSITIVES._replace(weights=torch.zeros(4, dtype=torch.float64))
    criterion(U, lambda columns: V[columns], empty).backward()
    assert not U.grad.any()
    assert not V.grad.any()
    torch.testing.assert_close(criterion.query_gram, before)
