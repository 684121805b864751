"""Exact losses against torch, the entmax package, plain sums and a generic root finder."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from taylorank.errors import ParameterError
from taylorank.losses.fenchel_young import entmax, entmax_loss, softmax, sparsemax
from taylorank.losses.one_versus_all import bce_all
from taylorank.losses.pointwise import bce
from taylorank.losses.rankmax import rankmax

ALPHAS = (1.2, 1.5, 1.8, 2.0, 2.5, 4.0)


def predictions(scores: torch.Tensor, alpha: float) -> torch.Tensor:
    """p = gradient + e_y, from the library."""
    rows = torch.arange(len(scores))
    leaf = scores.clone().requires_grad_()
    entmax(leaf, rows, torch.zeros_like(rows), alpha=alpha).sum().backward()
    found = leaf.grad
    found[:, 0] += 1
    return found


def slow_entmax(row: list[float], alpha: float) -> list[float]:
    """Solve Σ [(α − 1) z − τ]₊^(1/(α−1)) = 1 by a root finder."""
    z = [(alpha - 1) * x for x in row]
    power = 1 / (alpha - 1)

    def excess(tau):
        return sum(max(x - tau, 0.0) ** power for x in z) - 1

    tau = brentq(excess, max(z) - 1 - 1e-12, max(z), xtol=1e-15, rtol=1e-15)
    return [max(x - tau, 0.0) ** power for x in z]


def slow_loss(row: list[float], y: int, alpha: float) -> float:
    p = slow_entmax(row, alpha)
    entropy = (1 - sum(x**alpha for x in p)) / (alpha * (alpha - 1))
    return sum(a * b for a, b in zip(p, row, strict=True)) - row[y] + entropy


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("n_items", "scale"), [(1, 1.0), (2, 1.0), (7, 0.01), (40, 1.0), (300, 3.0), (700, 1e-3)])
def test_predictions_are_those_of_a_root_finder(alpha, n_items, scale):
    scores = scale * torch.randn(3, n_items, generator=torch.Generator().manual_seed(n_items), dtype=torch.float64)
    expected = torch.tensor([slow_entmax(row, alpha) for row in scores.tolist()], dtype=torch.float64)
    torch.testing.assert_close(predictions(scores, alpha), expected, rtol=1e-7, atol=1e-9)
    values = entmax(scores, torch.arange(3), torch.zeros(3, dtype=torch.int64), alpha=alpha)
    by_hand = [slow_loss(row, 0, alpha) for row in scores.tolist()]
    assert values.tolist() == pytest.approx(by_hand, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("alpha", [1.5, 2.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_the_largest_item_may_stand_anywhere(alpha, dtype, scale):
    """Thresholds are found from blocks of items, and what does not fill a block counts as well."""
    scores = scale * torch.randn(16, 303, generator=torch.Generator().manual_seed(0), dtype=dtype)
    places = torch.arange(303 - 16, 303)
    scores[torch.arange(16), places] = scores.amax(1) + scale
    expected = torch.tensor([slow_entmax(row, alpha) for row in scores.tolist()], dtype=dtype)
    torch.testing.assert_close(predictions(scores, alpha), expected, rtol=1e-4, atol=1e-6)


@given(st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=60), st.sampled_from(ALPHAS))
def test_predictions_of_any_row(row, alpha):
    scores = torch.tensor([row], dtype=torch.float64)
    expected = torch.tensor([slow_entmax(row, alpha)], dtype=torch.float64)
    torch.testing.assert_close(predictions(scores, alpha), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("scale", [1e-4, 0.05, 1.0, 30.0])
@pytest.mark.parametrize(("alpha", "name"), [(1.5, "entmax15"), (2.0, "sparsemax"), (1.3, "entmax_bisect")])
def test_agrees_with_the_entmax_package(alpha, name, scale):
    package = pytest.importorskip("entmax")
    scores = scale * torch.randn(4, 900, generator=torch.Generator().manual_seed(1))
    theirs = getattr(package, name)(scores.double(), **({"alpha": alpha} if name == "entmax_bisect" else {}))
    torch.testing.assert_close(predictions(scores, alpha).double(), theirs, rtol=1e-3, atol=2e-6)
    torch.testing.assert_close(predictions(scores.double(), alpha), theirs, rtol=1e-6, atol=1e-9)


def test_softmax_is_cross_entropy():
    scores = (5 * torch.randn(6, 50, generator=torch.Generator().manual_seed(0))).requires_grad_()
    rows, columns = torch.tensor([0, 0, 1, 3, 5]), torch.tensor([3, 4, 0, 49, 7])
    weights = torch.tensor([1.0, 0.5, 2.0, 0.0, 3.0])
    (softmax(scores, rows, columns) * weights).sum().backward()
    ours, scores.grad = scores.grad, None
    (torch.nn.functional.cross_entropy(scores[rows], columns, reduction="none") * weights).sum().backward()
    torch.testing.assert_close(ours, scores.grad)
    expected = torch.nn.functional.cross_entropy(scores[rows], columns, reduction="none")
    torch.testing.assert_close(softmax(scores, rows, columns), expected)


@pytest.mark.parametrize("function", [softmax, sparsemax, entmax, rankmax, bce_all])
def test_a_mask_is_as_good_as_removing_the_items(function):
    scores = torch.randn(2, 9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    mask = torch.zeros(2, 9, dtype=torch.bool)
    mask[:, [1, 4, 8]] = True
    kept = [0, 2, 3, 5, 6, 7]
    rows, columns = torch.tensor([0, 0, 1]), torch.tensor([0, 5, 2])
    expected = function(scores[:, kept], rows, torch.tensor([0, 3, 1]))
    torch.testing.assert_close(function(scores, rows, columns, mask=mask), expected)
    assert function(scores, rows, torch.tensor([1, 4, 8]), mask=mask).tolist() == [0, 0, 0]  # positives that are masked


def test_graded_targets_are_weights():
    """Σ_y w_y ℓ_y = Ω*(o) − w·o, the loss for the distribution w but for −Ω(w): at o = log w, the entropy."""
    w = torch.tensor([0.5, 0.3, 0.2])
    values = softmax(w.log()[None], torch.zeros(3, dtype=torch.int64), torch.arange(3))
    assert (w @ values).item() == pytest.approx(-(w * w.log()).sum().item())


@pytest.mark.parametrize("scale", [0.1, 1.0, 20.0])
def test_rankmax_is_its_sum(scale):
    """Several positives per row, twice the same, and the definition for each by autograd."""
    scores = scale * torch.randn(4, 30, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    rows, columns = torch.tensor([0, 0, 0, 2, 3, 3]), torch.tensor([5, 1, 5, 7, int(scores[3].argmax()), 2])
    weights = torch.arange(1.0, 7.0, dtype=torch.float64)
    ours, plain = scores.clone().requires_grad_(), scores.clone().requires_grad_()
    values = rankmax(ours, rows, columns)
    expected = (plain[rows] - plain[rows, columns][:, None] + 1).relu().sum(1).log()
    torch.testing.assert_close(values, expected)
    (values * weights).sum().backward()
    (expected * weights).sum().backward()
    torch.testing.assert_close(ours.grad, plain.grad)
    assert ours.grad.sum(1).abs().max() < 1e-9


def test_rankmax_of_a_clear_lead_is_nothing():
    scores = torch.tensor([[3.0, 2.0, -7.0]], requires_grad=True)
    value = rankmax(scores, torch.tensor([0]), torch.tensor([0]))
    value.sum().backward()
    assert value.item() == 0
    assert (scores.grad == 0).all()


def test_float32_sums_hold_for_many_items():
    """10^5 equal scores: every map is uniform, and the values are known."""
    n = 100_000
    row, first = torch.zeros(1, n), (torch.tensor([0]), torch.tensor([0]))
    assert softmax(row, *first).item() == pytest.approx(math.log(n), rel=1e-5)
    assert sparsemax(row, *first).item() == pytest.approx(0.5 - 0.5 / n, rel=1e-5)
    assert entmax(row, *first).item() == pytest.approx(4 / 3 * (1 - n**-0.5), rel=1e-5)
    assert rankmax(row, *first).item() == pytest.approx(math.log(n), rel=1e-5)


@pytest.mark.parametrize("function", [softmax, sparsemax, entmax, rankmax, bce_all])
def test_scores_may_lie_in_memory_as_they_like(function):
    scores = torch.randn(300, 4, generator=torch.Generator().manual_seed(0)).T.requires_grad_()
    rows, columns = torch.tensor([0, 3]), torch.tensor([7, 299])
    (found,) = torch.autograd.grad(function(scores, rows, columns).sum(), scores)
    (expected,) = torch.autograd.grad(function(scores.contiguous(), rows, columns).sum(), scores)
    torch.testing.assert_close(found, expected)


def test_sizes_and_alpha_are_checked():
    with pytest.raises(ParameterError, match=r"alpha=0\.5 has no sparse map"):
        entmax_loss(0.5)
    with pytest.raises(ParameterError, match="scores have 1 dimensions"):
        softmax(torch.zeros(3), torch.tensor([0]), torch.tensor([0]))
    with pytest.raises(ParameterError, match="the mask is"):
        softmax(torch.zeros(1, 3), torch.tensor([0]), torch.tensor([0]), mask=torch.zeros(1, 2, dtype=torch.bool))
    assert entmax_loss(1) is entmax_loss(1.0)


@pytest.mark.parametrize("weight", [1.0, 30.0])
def test_bce_all_is_the_sum_over_items_and_bce_with_every_other_item_as_a_draw(weight):
    n = 30
    scores = 3 * torch.randn(4, n, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    rows, columns = torch.tensor([0, 0, 1, 3]), torch.tensor([3, 4, 0, 29])
    others = torch.stack([scores[x][torch.arange(n) != y] for x, y in zip(rows, columns, strict=True)])
    drawn = bce(scores[rows, columns], others, negative_weight=weight * (n - 1) / n)
    target = torch.nn.functional.one_hot(columns, n).double()
    plain = torch.nn.functional.binary_cross_entropy_with_logits(
        scores[rows], target, weight=torch.where(target > 0, 1.0, weight / n), reduction="none"
    ).sum(1)
    found = bce_all(scores, rows, columns, negative_weight=weight)
    torch.testing.assert_close(found, plain)
    torch.testing.assert_close(found, drawn)
