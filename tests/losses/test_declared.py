"""What the registry declares: Jacobians, and whether the best scores rank by probability."""

from __future__ import annotations

import inspect
import itertools
import math

import pytest
import torch

from taylorank import losses
from taylorank.losses.fenchel_young import entmax_loss, jacobian_bound, row_loss
from taylorank.losses.hierarchical import TreeCriterion
from taylorank.losses.rankmax import rankmax
from taylorank.losses.tree import balanced_tree

N = 5
ALL = torch.arange(N)
# probabilities of the one positive, unlike and not in the order of the item numbers
DATA = torch.tensor([0.12, 0.4, 0.08, 0.25, 0.15], dtype=torch.float64)


def jacobian(predict, scores: torch.Tensor) -> torch.Tensor:
    step = 1e-5 * torch.eye(len(scores), dtype=torch.float64)
    return torch.stack([(predict(scores + e) - predict(scores - e)) / 2e-5 for e in step])


def prediction(loss):
    """p = ∇ℓ + e_y."""

    def predict(scores):
        leaf = scores.clone().requires_grad_()
        (grad,) = torch.autograd.grad(loss(leaf[None])[0], leaf)
        return grad + torch.eye(len(scores), dtype=torch.float64)[0]

    return predict


def entmax_prediction(alpha: float):
    first = torch.tensor([0])
    return prediction(lambda s: row_loss(entmax_loss(alpha), s, first, first, mask=None))


@pytest.mark.parametrize("alpha", [1.0, 1.25, 1.5, 1.9, 2.0])
def test_jacobians_stay_within_the_declared_norm_and_reach_it(alpha):
    """The bound is 2^(α−2), reached where two items share the probability."""
    bound, predict = jacobian_bound(alpha), entmax_prediction(alpha)
    draw = torch.Generator().manual_seed(0)
    norms = [
        torch.linalg.matrix_norm(jacobian(predict, scale * torch.randn(N, generator=draw, dtype=torch.float64)), ord=2)
        for scale in (0.1, 0.5, 1.0, 2.0)
        for _ in range(10)
    ]
    assert max(norms) <= bound + 1e-3
    pair = torch.tensor([0.0, 0.0, -9.0, -9.0, -9.0], dtype=torch.float64)
    assert torch.linalg.matrix_norm(jacobian(predict, pair), ord=2).item() == pytest.approx(bound, rel=2e-3)


def test_what_is_declared_of_the_jacobians_of_the_exact_losses():
    assert losses.get("softmax").properties.jacobian == jacobian_bound(1.0)
    assert losses.get("sparsemax").properties.jacobian == jacobian_bound(2.0)
    assert losses.get("entmax").properties.jacobian == "≤ 2^(α−2) for α ≤ 2, unbounded beyond"


@pytest.mark.parametrize("alpha", [2.5, 3.0])
def test_beyond_two_no_number_bounds_the_jacobian(alpha):
    """Two items about to leave the support together, at p → 0: exchanging score between them has the slope p^(2−α)."""
    assert jacobian_bound(alpha) == math.inf
    predict = entmax_prediction(alpha)
    for p in (1e-1, 1e-2, 1e-3):
        gap = ((1 - 2 * p) ** (alpha - 1) - p ** (alpha - 1)) / (alpha - 1)  # scores that predict (1 − 2p, p, p)
        scores = torch.tensor([0.0, -gap, -gap], dtype=torch.float64)
        step = 1e-2 * p ** (alpha - 1) * torch.tensor([0.0, 1.0, -1.0], dtype=torch.float64)
        slope = (predict(scores + step) - predict(scores - step)).norm() / (2 * step).norm()
        assert slope.item() == pytest.approx(p ** (2 - alpha), rel=1e-2)


@pytest.mark.parametrize("name", ["rg2", "rgx"])
def test_the_jacobian_of_rg_is_at_most_the_largest_q(name):
    q = DATA
    identity = torch.eye(N, dtype=torch.float64)  # items are unit vectors, so the query is the row of scores

    def predict(scores):
        leaf = scores.clone().requires_grad_()
        value = losses.get(name).function(leaf[None], identity, torch.tensor([0]), torch.tensor([0]), proposal=q)
        return torch.autograd.grad(value[0], leaf)[0] + identity[0]

    scores = torch.linspace(-1, 1, N, dtype=torch.float64)
    assert torch.linalg.matrix_norm(jacobian(predict, scores), ord=2).item() <= q.max().item() + 1e-8
    expected = q * (1 + scores) if name == "rg2" else q * (1 + scores - q @ scores)
    torch.testing.assert_close(predict(scores), expected)


def risk(name: str):
    """The mean loss over positives from DATA and uniform draws that hit every item alike, as a function of N scores."""
    loss = losses.get(name)
    uniform = torch.full((N,), 1 / N, dtype=torch.float64)
    draws = {"log_q": uniform.log()} if name.startswith("sampled") or name == "nce" else {}
    if name == "sampled-softmax":
        draws["n_items"] = N
    if name in ("sampled-softmax-all", "nce"):
        draws["positive_log_q"] = uniform.log()
    if loss.kind == "exact":
        return lambda s: DATA @ loss.function(s.expand(N, N), ALL, ALL)
    if loss.kind == "product":
        identity = torch.eye(N, dtype=torch.float64)
        return lambda s: DATA @ loss.function(s.expand(N, N), identity, ALL, ALL, proposal=uniform)
    return lambda s: DATA @ loss.function(s, s.expand(N, N), **draws)


def best_scores(risk, start=None) -> torch.Tensor:
    scores = (torch.zeros(N, dtype=torch.float64) if start is None else start).requires_grad_()
    optimizer = torch.optim.LBFGS([scores], max_iter=500, tolerance_grad=1e-10, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        value = risk(scores)
        value.backward()
        return value

    optimizer.step(closure)
    return scores.detach()


CONSISTENT = [n for n in losses.names() if losses.get(n).properties.dcg.startswith("yes") and n != "hsm"]


@pytest.mark.parametrize("name", CONSISTENT)
def test_the_best_scores_rank_by_probability(name):
    scores = best_scores(risk(name))
    assert torch.equal(scores.argsort(), DATA.argsort())
    assert scores.sort().values.diff().min() > 1e-3  # no ties


@pytest.mark.parametrize("name", ["sparsemax", "entmax"])
def test_items_that_are_never_positive_rank_last(name):
    """Any start: below the threshold they get no gradient, and from above it they are pushed under all others."""
    data = torch.tensor([0.5, 0.0, 0.3, 0.0, 0.2], dtype=torch.float64)
    loss = losses.get(name).function
    for seed in range(3):
        start = 3 * torch.randn(N, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        scores = best_scores(lambda s: data @ loss(s.expand(N, N), ALL, ALL), start)
        assert scores[data == 0].max() < scores[data > 0].min()
        assert scores[0] > scores[2] > scores[4]


def test_hierarchical_softmax_ranks_by_probability():
    criterion = TreeCriterion(balanced_tree(N), 1).double()
    optimizer = torch.optim.LBFGS(criterion.parameters(), max_iter=200, line_search_fn="strong_wolfe")
    query = torch.ones(1, 1, dtype=torch.float64)
    batch = losses.Positives(torch.zeros(N, dtype=torch.int64), ALL, DATA)

    def closure():
        optimizer.zero_grad()
        value = criterion(query, None, batch)
        value.backward()
        return value

    optimizer.step(closure)
    torch.testing.assert_close(criterion.scores(query)[0].exp().detach(), DATA, rtol=1e-4, atol=1e-4)


def test_the_hinge_ties_items_of_unlike_probability():
    """Declared not consistent: an optimum has the form a margin apart or level, whatever the probabilities."""
    assert losses.get("hinge").properties.dcg == "no"
    data = torch.tensor([0.6, 0.21, 0.19], dtype=torch.float64)
    function = losses.get("hinge").function

    def value(*s):
        scores = torch.tensor(s, dtype=torch.float64)
        return (data @ function(scores, scores.expand(3, 3))).item()

    grid = [x / 10 for x in range(-20, 21)]
    best = min(value(0.0, a, b) for a, b in itertools.product(grid, grid))
    assert min(value(0.0, a, a) for a in grid) == pytest.approx(best)


def test_rankmax_ties_items_of_unlike_probability():
    """With (.5, .26, .24) the scores (1, 0, 0) cost less than any that keep the last two apart."""
    assert losses.get("rankmax").properties.dcg.startswith("no")
    data = torch.tensor([0.5, 0.26, 0.24], dtype=torch.float64)
    grid = torch.linspace(-4, 4, 161, dtype=torch.float64)
    a, b = (x.reshape(-1) for x in torch.meshgrid(grid, grid, indexing="ij"))
    scores = torch.stack((torch.zeros_like(a), a, b), 1)
    rows = torch.arange(len(a)).repeat_interleave(3)
    values = rankmax(scores, rows, torch.arange(3).repeat(len(a))).view(-1, 3) @ data
    apart = (a - b).abs() > 0.02
    tie = rankmax(torch.tensor([[1.0, 0.0, 0.0]]), torch.zeros(3, dtype=torch.int64), torch.arange(3)).double() @ data
    assert tie.item() == pytest.approx(0.5 * math.log(4), abs=1e-6)
    assert values[apart].min().item() > tie.item() + 1e-3
    assert values[~apart].min().item() == pytest.approx(tie.item(), abs=1e-6)


@pytest.mark.parametrize("name", losses.names())
def test_what_is_declared_without_torch_is_what_the_criterion_does(name):
    loss = losses.get(name)
    criterion = loss.criterion(n_users=3, n_items=4, factors=2, popularity=torch.ones(4))
    assert criterion.kind == loss.kind
    assert criterion.scoring == loss.scoring
    assert criterion.needs_log_q == loss.needs_log_q
    assert bool(list(criterion.parameters())) == loss.has_parameters
    defaults = {k: p.default for k, p in inspect.signature(loss.function).parameters.items()}
    shared = defaults.keys() & loss.options.keys() - {"log_normalizer"}  # that of the criterion is log N
    assert {k: defaults[k] for k in shared} == {k: loss.options[k] for k in shared}
    assert "log_q" not in defaults if loss.log_q == "none" else "log_q" in defaults
    assert ("positive_log_q" in defaults) == (loss.log_q == "all")


@pytest.mark.parametrize("name", losses.names())
def test_what_is_to_be_searched_can_be_built(name):
    loss = losses.get(name)
    sizes = {"n_users": 3, "n_items": 4, "factors": 2, "popularity": torch.ones(4)}
    for options in loss.options_to_search:
        loss.criterion(**sizes, **options)
    assert not (loss.needs_bounded_scores and None in loss.temperatures)
    assert loss.scoring != "distance" or not loss.temperatures


def test_losses_that_are_quadratic_in_the_scores():
    """Along a line of scores these, and of the losses over all items these alone, have constant second differences."""
    line = torch.linspace(-1, 1, 7, dtype=torch.float64)
    scores, rows, first = line[:, None] * torch.tensor([0.3, -1.0, 0.7, 0.1, 2.0]), torch.arange(7), torch.zeros(7)
    for name in losses.names():
        loss = losses.get(name)
        if loss.kind == "exact":
            values = loss.function(scores, rows, first.long())
        elif loss.kind == "product":
            values = loss.function(scores, torch.eye(N, dtype=torch.float64), rows, first.long(), proposal=DATA)
        else:
            assert not loss.is_quadratic
            continue
        bends = values.diff().diff()
        assert torch.allclose(bends, bends[0], atol=1e-9) == loss.is_quadratic


def test_the_interaction_is_the_factor_of_the_squared_mean():
    scores = torch.tensor([[0.3, -1.0, 0.7, 0.1, 2.0]], dtype=torch.float64)
    at = (torch.eye(N, dtype=torch.float64), torch.tensor([0]), torch.tensor([0]))
    square = 0.5 * (scores @ DATA).square()
    without, kept = (losses.get(name) for name in ("rg2", "rgx"))
    less = (kept.interaction - without.interaction) * square
    torch.testing.assert_close(
        kept.function(scores, *at, proposal=DATA), without.function(scores, *at, proposal=DATA) - less
    )
