"""BSL, PSL and SL@K against their definitions by autograd, at their limits, and what their pages say of them."""

from __future__ import annotations

import math

import pytest
import torch

from taylorank import losses
from taylorank.losses.bilateral import bsl, sampled_bsl
from taylorank.losses.fenchel_young import softmax
from taylorank.losses.pairwise_softmax import ACTIVATIONS, psl
from taylorank.losses.top_k_softmax import sl_at_k

ROWS, COLUMNS = torch.tensor([0, 0, 0, 2]), torch.tensor([1, 4, 6, 3])
WEIGHTS = torch.tensor([1.0, 0.5, 2.0, 3.0], dtype=torch.float64)


@pytest.fixture
def scores() -> torch.Tensor:
    return 2 * torch.randn(3, 9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def agree(ours, plain, scores):
    """Values and gradients of the weighted sum are the same."""
    results = []
    for function in (ours, plain):
        leaf = scores.clone().requires_grad_()
        values = function(leaf)
        results.append((values.detach(), *torch.autograd.grad((values * WEIGHTS).sum(), leaf)))
    torch.testing.assert_close(*results)


def pooled(o: torch.Tensor, w: float, a: float) -> torch.Tensor:
    """The definition, query by query."""
    means = torch.stack([(a * o[0, COLUMNS[:3]]).exp().mean()] * 3 + [(a * o[2, 3]).exp()])
    return w * o.exp().sum(1).log()[ROWS] - means.log() / a


@pytest.mark.parametrize(("w", "a"), [(1.0, 1.0), (1.3, 2.0), (0.7, 0.2)])
def test_bsl_pools_the_positives_of_a_query(scores, w, a):
    options = {"negative_weight": w, "positive_sharpness": a}
    agree(lambda s: bsl(s, ROWS, COLUMNS, **options), lambda s: pooled(s, w, a), scores)


def test_bsl_pools_only_positives_that_are_not_masked(scores):
    mask = torch.zeros_like(scores, dtype=torch.bool)
    mask[0, 4] = True
    found = bsl(scores, ROWS, COLUMNS, mask=mask, positive_sharpness=1.0)
    left = bsl(scores, ROWS[[0, 2, 3]], COLUMNS[[0, 2, 3]], mask=mask, positive_sharpness=1.0)
    torch.testing.assert_close(found[[0, 2, 3]], left)
    assert found[1] == 0


def test_bsl_without_weight_and_pool_is_softmax(scores):
    agree(
        lambda s: bsl(s, ROWS, COLUMNS, negative_weight=1.0),
        lambda s: softmax(s, ROWS, COLUMNS),
        scores,
    )


def test_a_small_sharpness_is_the_mean_over_positives(scores):
    mean = bsl(scores, ROWS, COLUMNS)[:3].mean()
    assert bsl(scores, ROWS, COLUMNS, positive_sharpness=1e-6)[0].item() == pytest.approx(mean.item(), rel=1e-4)


def test_where_the_mean_is_held_the_best_scores_of_bsl_mix_the_target_with_uniform():
    target, w = torch.tensor([0.5, 0.1, 0.3, 0.06, 0.04], dtype=torch.float64), 1.4
    free = torch.zeros(5, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([free], max_iter=500, tolerance_grad=1e-12, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        o = (free - free.mean()).expand(5, 5)
        value = target @ bsl(o, torch.arange(5), torch.arange(5), negative_weight=w)
        value.backward()
        return value

    optimizer.step(closure)
    torch.testing.assert_close(torch.softmax(free.detach(), 0), (target + (w - 1) / 5) / w, rtol=1e-4, atol=1e-5)


def test_sl_at_k_is_softmax_times_a_weight_that_holds_the_threshold(scores):
    def plain(s):
        threshold = s.detach().topk(3).values[:, -1]
        return torch.sigmoid((s[ROWS, COLUMNS] - threshold[ROWS]) / 0.7) * softmax_by_hand(s)

    agree(lambda s: sl_at_k(s, ROWS, COLUMNS, k=3, weight_temperature=0.7), plain, scores)


def softmax_by_hand(s: torch.Tensor) -> torch.Tensor:
    return torch.logsumexp(s, 1)[ROWS] - s[ROWS, COLUMNS]


def test_sl_at_k_with_a_soft_end_is_half_of_softmax(scores):
    torch.testing.assert_close(
        sl_at_k(scores, ROWS, COLUMNS, weight_temperature=1e9), softmax(scores, ROWS, COLUMNS) / 2, rtol=1e-6, atol=0
    )


def test_sl_at_k_with_a_sharp_end_counts_the_first_k_alone():
    """The second of four is in the list of two and at its end, so it counts half; the third counts nothing."""
    row = torch.tensor([[3.0, 2.0, 1.0, 0.0]])
    values = sl_at_k(row.expand(3, 4), torch.arange(3), torch.arange(3), k=2, weight_temperature=1e-3)
    plain = softmax(row.expand(3, 4), torch.arange(3), torch.arange(3))
    torch.testing.assert_close(values, plain * torch.tensor([1.0, 0.5, 0.0]))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_lie_between_the_step_and_the_exponential(name):
    d = torch.linspace(-0.999, 1, 401, dtype=torch.float64)
    phi = ACTIVATIONS[name](d).exp()
    assert (phi <= d.exp() + 1e-12).all()
    assert (phi >= (d >= 0).double() - 1e-12).all()


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_psl_is_its_sum(name):
    draw = torch.Generator().manual_seed(1)
    positive, negative = (torch.rand(*s, generator=draw, dtype=torch.float64) / 2 for s in ((4,), (4, 6)))
    plain = {"tanh": torch.tanh, "arctan": torch.atan, "relu": lambda d: d}[name]
    expected = ((1 + plain(negative - positive[:, None])) ** 7).mean(1).log()
    torch.testing.assert_close(psl(positive, negative, activation=name, sharpness=7.0), expected)
    inputs = positive.clone().requires_grad_(), negative.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda p, n: psl(p, n, activation=name), inputs)


def test_far_draws_pull_less_than_by_the_exponential():
    """A draw 1 above the positive among others at it: its share of the gradient by tanh is below that by exp."""
    negative = torch.tensor([[1.0, 0.0, 0.0, 0.0]], dtype=torch.float64, requires_grad=True)
    (ours,) = torch.autograd.grad(psl(torch.zeros(1), negative, sharpness=2.0).sum(), negative)
    softmax_share = math.exp(2) / (math.exp(2) + 3)
    assert (ours[0, 0] / ours.sum()).item() < softmax_share


def test_every_item_as_a_draw_is_bsl_itself(scores):
    found = sampled_bsl(scores[ROWS, COLUMNS], scores[ROWS], negative_weight=1.3)
    torch.testing.assert_close(found, bsl(scores, ROWS, COLUMNS, negative_weight=1.3))


def test_names_say_what_they_need():
    assert losses.get("psl").needs_bounded_scores
    assert losses.get("bsl").needs_bounded_scores
    assert losses.get("sl-at-k").needs_bounded_scores
