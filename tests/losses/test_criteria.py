"""Criteria: sums over a batch, in chunks or not, with learned parts, in the shapes a trainer uses."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import sparse
from torch.nn import functional

from taylorank import losses
from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.losses.metric import sml
from taylorank.losses.pointwise import uib
from taylorank.objectives.rg import RG2Objective, RGXObjective, context_weights, proposal, rg_objective

M, N, K, DRAWS = 5, 11, 4, 6
POPULARITY = torch.tensor([9.0, 0, 3, 4, 1, 1, 2, 30, 2, 7, 5])
EXACT = [name for name in losses.names() if losses.get(name).kind == "exact"]
SAMPLED = [name for name in losses.names() if losses.get(name).kind == "sampled"]


def criterion(name, **options):
    return losses.get(name).criterion(n_users=20, n_items=N, factors=K, popularity=POPULARITY, **options)


def vectors(dtype=torch.float64):
    draw = torch.Generator().manual_seed(0)
    shapes = ((M, K), (N, K))
    return tuple(torch.randn(s, generator=draw, dtype=torch.float64).to(dtype).requires_grad_() for s in shapes)


def negatives(*, shared=False):
    draw = torch.Generator().manual_seed(1)
    columns = torch.randint(0, N, (DRAWS,) if shared else (7, DRAWS), generator=draw)
    log_q = torch.log_softmax(POPULARITY.double(), 0)
    mask = torch.rand(7, DRAWS, generator=draw) < 0.2
    return losses.Negatives(columns, log_q[columns], log_q[torch.tensor([1, 7, 10, 0, 4, 5, 10])], mask)


def gradients(value, inputs):
    return value.detach(), *torch.autograd.grad(value, inputs)


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("rows_at_a_time", [1, 2, 4, 5, 100])
@pytest.mark.parametrize("masked", [False, True])
def test_chunks_change_nothing(name, rows_at_a_time, masked, batch):
    inputs = users, items = vectors()
    mask = torch.rand(M, N, generator=torch.Generator().manual_seed(5)) < 0.3 if masked else None
    plain = losses.get(name).function(users @ items.T, batch.rows, batch.columns, mask=mask) @ batch.weights.double()
    module = criterion(name, chunk_elements=rows_at_a_time * N)
    torch.testing.assert_close(
        gradients(3 * module(users, items, batch, mask=mask), inputs), gradients(3 * plain, inputs)
    )


@pytest.mark.parametrize("name", [*EXACT, "rg2"])
def test_positives_out_of_order_are_refused(name, batch):
    with pytest.raises(ParameterError, match="not in ascending order; sort the positives by row"):
        criterion(name)(*vectors(), losses.Positives(batch.rows.flip(0), batch.columns, batch.weights))


@pytest.mark.parametrize("name", [*EXACT, "rg2", "rgx"])
def test_no_gradients_no_positives(name, batch):
    users, items = vectors()
    module = criterion(name)
    with torch.no_grad():
        quiet = module(users, items, batch)
    torch.testing.assert_close(quiet, module(users, items, batch).detach())
    none = losses.Positives(*(x[:0] for x in batch))
    value, *grads = gradients(module(users, items, none), (users, items))
    assert value == 0
    assert all((g == 0).all() for g in grads)


def test_one_positive_per_query_is_torchs_own():
    users, items = vectors(torch.float32)
    columns = torch.tensor([3, 0, 10, 3, 7])
    ours = criterion("softmax")(users, items, losses.Positives(torch.arange(M), columns, torch.ones(M)))
    ours = gradients(ours, (users, items))
    plain = functional.cross_entropy(users @ items.T, columns, reduction="sum")
    torch.testing.assert_close(ours, gradients(plain, (users, items)))
    if hasattr(functional, "linear_cross_entropy"):
        fused = functional.linear_cross_entropy(
            users, items, columns, reduction="sum", options=torch.nn.LinearCrossEntropyOptions()
        )
        torch.testing.assert_close(ours, gradients(fused, (users, items)))


@pytest.mark.parametrize("name", losses.names())
def test_every_criterion_in_bfloat16(name, batch):
    users, items = (x.detach().bfloat16().requires_grad_() for x in vectors())
    module = criterion(name)
    whole = module.kind in ("exact", "product")
    owners = torch.arange(M)
    args = (batch, negatives())
    value = module(users, items if whole else items.__getitem__, *args, users=owners)
    value.backward()
    reference = module.double()(
        users.double(), items.double() if whole else items.double().__getitem__, *args, users=owners
    )
    assert value.dtype == torch.float32
    assert value.item() == pytest.approx(reference.item(), rel=0.05, abs=0.2)
    assert users.grad.isfinite().all()
    assert users.grad.dtype == torch.bfloat16


def test_vectors_of_two_precisions(batch):
    users, items = vectors()
    mixed = users.detach().bfloat16().requires_grad_(), items.detach().float().requires_grad_()
    value = criterion("softmax")(*mixed, batch)
    value.backward()
    assert mixed[0].grad.dtype == torch.bfloat16
    assert value.item() == pytest.approx(criterion("softmax")(users, items, batch).item(), rel=0.02)


@pytest.mark.parametrize("name", ["rg2", "rgx"])
@pytest.mark.parametrize(("gamma", "rho"), [(0.0, 1.0), (0.7, 0.5)])
def test_rg_is_the_quadratic_objective(name, gamma, rho):
    """Σ_p c_x r/I ℓ_p = the objective less its value at zero, and so are the gradients."""
    draw = np.random.default_rng(0)
    counts = draw.poisson(0.6, (6, N)).astype(float)
    counts[2] = 0
    data = Interactions.from_matrix(sparse.csr_array(counts))
    kind = RG2Objective if name == "rg2" else RGXObjective
    objective = rg_objective(kind, data, proposal_exponent=gamma, context_exponent=rho, dtype=np.float64)
    totals, c = context_weights(data, rho)
    P, Q = draw.normal(size=(data.n_users, K)), draw.normal(size=(data.n_items, K))
    csr = data.by_user
    rows = csr.row_of_entry()
    weights = (c / np.where(totals > 0, totals, 1))[rows] * data.strengths
    positives = losses.Positives(
        *(torch.from_numpy(np.asarray(x)) for x in (rows, csr.indices.astype(np.int64), weights))
    )
    q = torch.from_numpy(proposal(data, gamma))
    users, items = (torch.tensor(x, requires_grad=True) for x in (P, Q))
    values = losses.get(name).function(users, items, positives.rows, positives.columns, proposal=q)
    value, by_user, by_item = gradients(values @ positives.weights, (users, items))
    zero = objective.loss(np.zeros_like(P), np.zeros_like(Q))
    assert value.item() == pytest.approx(objective.loss(P, Q) - zero, rel=1e-10)
    for grad, where in ((by_user, 0), (by_item, 1)):
        step = np.zeros_like((P, Q)[where])
        step[1, 2] = 1e-5
        factors = [[P, Q], [P, Q]]
        factors[0][where], factors[1][where] = (P, Q)[where] + step, (P, Q)[where] - step
        slope = (objective.loss(*factors[0]) - objective.loss(*factors[1])) / 2e-5
        assert grad[1, 2].item() == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", ["rg2", "rgx"])
def test_rg_sums_its_values_and_ranks_by_probability(name, batch):
    users, items = vectors()
    module = criterion(name, proposal_exponent=0.5).double()
    q = POPULARITY.double().clamp_min(1).sqrt()
    q = q / q.sum()
    torch.testing.assert_close(module.proposal, q, rtol=1e-6, atol=0)
    module.proposal.copy_(q)
    plain = losses.get(name).function(users, items, batch.rows, batch.columns, proposal=q) @ batch.weights.double()
    inputs = (users, items)
    torch.testing.assert_close(gradients(module(users, items, batch), inputs), gradients(plain, inputs))
    left, right = module.export(users, items)
    o = users @ items.T
    expected = q * (1 + o) if name == "rg2" else q * (1 + o - (o @ q)[:, None])
    torch.testing.assert_close(left @ right.T, N * expected)
    torch.testing.assert_close(expected.sum(1), (1 + (o @ q)) if name == "rg2" else torch.ones(M, dtype=torch.float64))
    by_lift = criterion(name, ranking="lift").export(users, items)
    assert by_lift[0] is users
    assert by_lift[1] is items


@pytest.mark.parametrize("name", [n for n in SAMPLED if n not in ("uib", "sml")])
@pytest.mark.parametrize("shared", [False, True])
def test_sampled_criteria_gather_the_right_scores(name, shared, batch):
    users, items = vectors()
    drawn = negatives(shared=shared)
    module = criterion(name)
    scores = users @ items.T
    columns = drawn.columns.expand(7, DRAWS)
    given = {
        "log_q": {"log_q": drawn.log_q},
        "n_items": {"log_q": drawn.log_q, "n_items": N},
        "all": {"log_q": drawn.log_q, "positive_log_q": drawn.positive_log_q},
    }
    kind = {"sampled-softmax": "n_items", "sampled-softmax-negatives": "log_q"}
    extra = given[kind.get(name, "all")] if losses.get(name).log_q != "none" else {}
    if name == "nce":  # scores of 0 are the uniform distribution
        extra = {**extra, "log_normalizer": math.log(N)}
    values = losses.get(name).function(
        scores[batch.rows, batch.columns], scores[batch.rows[:, None], columns], mask=drawn.mask, **extra
    )
    inputs = (users, items)
    expected = gradients(values @ batch.weights.double(), inputs)
    torch.testing.assert_close(gradients(module(users, items.__getitem__, batch, drawn), inputs), expected)
    assert module.needs_log_q == (name in ("sampled-softmax-all", "sampled-softmax-negatives", "nce"))


def test_what_a_sampled_criterion_lacks_is_said(batch):
    users, items = vectors()
    with pytest.raises(ParameterError, match="needs negatives"):
        criterion("bpr")(users, items.__getitem__, batch)
    unknown = losses.Negatives(torch.zeros(7, 2, dtype=torch.int64))
    with pytest.raises(ParameterError, match="needs the log probabilities"):
        criterion("nce")(users, items.__getitem__, batch, unknown)
    assert criterion("sampled-softmax")(users, items.__getitem__, batch, unknown).isfinite()
    with pytest.raises(ParameterError, match="pass users="):
        criterion("sml")(users, items.__getitem__, batch, negatives())


@pytest.mark.parametrize("shared", [False, True])
def test_uib_learns_a_boundary(shared, batch):
    users, items = vectors()
    module = criterion("uib", penalty="logistic").double()
    module.weight.data.normal_(generator=torch.Generator().manual_seed(3))
    drawn = negatives(shared=shared)
    scores = users @ items.T
    values = uib(
        scores[batch.rows, batch.columns],
        scores[batch.rows[:, None], drawn.columns.expand(7, DRAWS)],
        boundary=(users @ module.weight)[batch.rows],
        mask=drawn.mask,
        penalty="logistic",
    )
    inputs = (users, items, module.weight)
    found = gradients(module(users, items.__getitem__, batch, drawn), inputs)
    torch.testing.assert_close(found, gradients(values @ batch.weights.double(), inputs))
    assert found[3].abs().min() > 0


@pytest.mark.parametrize("shared", [False, True])
def test_sml_measures_distances_and_learns_margins(shared, batch):
    users, items = vectors()
    module = criterion("sml", item_weight=0.5).double()
    module.user_margin.data.uniform_(generator=torch.Generator().manual_seed(3))
    drawn = negatives(shared=shared)
    owners = torch.tensor([7, 0, 3, 19, 4])
    other = items[drawn.columns.expand(7, DRAWS)]
    mine, theirs = users[batch.rows], items[batch.columns]
    values = sml(
        (mine - theirs).square().sum(1),
        (mine[:, None] - other).square().sum(2),
        item_negative=(theirs[:, None] - other).square().sum(2),
        user_margin=module.user_margin[owners[batch.rows]],
        item_margin=module.item_margin[batch.columns],
        mask=drawn.mask,
        item_weight=0.5,
    )
    inputs = (users, items, module.user_margin, module.item_margin)
    found = gradients(module(users, items.__getitem__, batch, drawn, users=owners), inputs)
    torch.testing.assert_close(found, gradients(values @ batch.weights.double(), inputs))
    left, right = module.export(users, items)
    distances = torch.cdist(users, items).square()
    assert torch.equal((left @ right.T).argsort(1), (-distances).argsort(1))
    assert module.constrain == "unit-ball"
    module.user_margin.data.mul_(100)
    module.item_margin.data.mul_(-1)
    module.after_step()
    assert module.user_margin.max() == 1
    assert 0 < module.item_margin.max() < 0.1


def test_large_scores_reach_the_exact_criteria(batch):
    users, items = (1e2 * x.detach().sign().float().requires_grad_() for x in vectors())
    for name in EXACT:
        value, *grads = gradients(criterion(name)(users, items, batch), (users, items))
        assert math.isfinite(value)
        assert all(g.isfinite().all() for g in grads)


def test_nce_shifts_scores_by_the_normalizer(batch):
    users, items = vectors()
    drawn = negatives(shared=False)
    inputs = (users, items)
    own = gradients(criterion("nce", log_normalizer=0)(users, items.__getitem__, batch, drawn), inputs)
    default = gradients(criterion("nce")(users, items.__getitem__, batch, drawn), inputs)
    given = gradients(criterion("nce", log_normalizer=math.log(N))(users, items.__getitem__, batch, drawn), inputs)
    torch.testing.assert_close(default, given)
    assert not torch.allclose(own[0], default[0])
