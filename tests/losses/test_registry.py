"""What every loss must do, whoever it is."""

from __future__ import annotations

import functools
import math

import pytest
import torch

from taylorank import losses
from taylorank.errors import MissingExtraError, ParameterError
from taylorank.torch_extra import require_torch

HALF = torch.tensor([0.5]).log()
ZERO, TWO_ZEROS = torch.zeros(1), torch.zeros(1, 2)
FIRST = (torch.tensor([0]), torch.tensor([0]))
WORKED = {
    # scores (log 2, 0): p = (2/3, 1/3)
    "softmax": (lambda f: f(torch.tensor([[math.log(2), 0.0]]), *FIRST), math.log(1.5)),
    # scores (0, 0.5): τ = −0.25, p = (0.25, 0.75), Ω* = ½(.0625 + .5625) − .25 + .5
    "sparsemax": (lambda f: f(torch.tensor([[0.0, 0.5]]), *FIRST), 0.5625),
    # three equal scores: t = 1/√3, τ = −1/√3, Ω* = ⅔ · 3 · 3^-1.5 − 2/√3 + 4/3
    "entmax": (lambda f: f(torch.zeros(1, 3), *FIRST), 4 / 3 * (1 - 1 / math.sqrt(3))),
    # the positive 1, a rival 2 above 3, one half below ½, one far below nothing
    "rankmax": (lambda f: f(torch.tensor([[0.0, 2.0, -0.5, -4.0]]), *FIRST), math.log(1 + 3 + 0.5)),
    # the positive σ(log 3) = ¾; of the three others, one at 0 and two at log 3, each counts a quarter
    "bce-all": (
        lambda f: f(torch.tensor([[math.log(3), 0.0, math.log(3), math.log(3)]]), *FIRST),
        math.log(4 / 3) + (math.log(2) + 2 * math.log(4)) / 4,
    ),
    # scores (log 2, 0) have the sum 3, to the power 1.2
    "bsl": (lambda f: f(torch.tensor([[math.log(2), 0.0]]), *FIRST), 1.2 * math.log(3) - math.log(2)),
    # the last of two is the threshold, log 2 below, a tenth of which counts: 1 / (1 + 2^-0.1) of log 1.5
    "sl-at-k": (lambda f: f(torch.tensor([[math.log(2), 0.0]]), *FIRST), math.log(1.5) / (1 + 2**-0.1)),
    # u = 2, v = (1, −1, 3), q = (½, ¼, ¼): o = (2, −2, 6), q·o = 2, q·o² = 12
    "rg2": (
        lambda f: f(
            torch.tensor([[2.0]]), torch.tensor([[1.0], [-1], [3]]), *FIRST, proposal=torch.tensor([0.5, 0.25, 0.25])
        ),
        -2 + 2 + 6.0,
    ),
    "rgx": (
        lambda f: f(
            torch.tensor([[2.0]]), torch.tensor([[1.0], [-1], [3]]), *FIRST, proposal=torch.tensor([0.5, 0.25, 0.25])
        ),
        -2 + 2 + 6 - 2.0,
    ),
    # the same: log(1 + e^-2) for the positive, half of q·o² = 12 for all
    "bce-quadratic": (
        lambda f: f(
            torch.tensor([[2.0]]), torch.tensor([[1.0], [-1], [3]]), *FIRST, proposal=torch.tensor([0.5, 0.25, 0.25])
        ),
        math.log1p(math.exp(-2)) + 6.0,
    ),
    # two draws of probability ½ among N = 4: each counts 1 / (4 · ½)
    "sampled-softmax": (lambda f: f(ZERO, TWO_ZEROS, n_items=4, log_q=HALF), math.log(1 + 2 * 0.5)),
    # the positive counts 1 / ¼, each draw 1 / ½
    "sampled-softmax-all": (
        lambda f: f(ZERO, TWO_ZEROS, log_q=HALF, positive_log_q=2 * HALF),
        math.log((4 + 2 * 2) / 4),
    ),
    "sampled-softmax-negatives": (lambda f: f(ZERO, TWO_ZEROS, log_q=HALF), math.log(1 + 2 * 1)),
    # n q = ½ for the positive, 1 for the draws: σ(log 2) = 2/3, σ(0) = ½ twice
    "nce": (lambda f: f(ZERO, TWO_ZEROS, log_q=HALF, positive_log_q=2 * HALF), math.log(1.5) + 2 * math.log(2)),
    # the draws alone: 1 + 3, to the power 1.2
    "sampled-bsl": (lambda f: f(ZERO, torch.tensor([[0.0, math.log(3)]])), 1.2 * math.log(4)),
    "bpr": (lambda f: f(ZERO, torch.tensor([[0.0, math.log(3)]])), (math.log(2) + math.log(4)) / 2),
    "bce": (lambda f: f(torch.tensor([math.log(3)]), TWO_ZEROS), math.log(4 / 3) + math.log(2)),
    "ccl": (lambda f: f(torch.tensor([0.5]), torch.tensor([[0.9, 0.0]])), 0.5 + 100 * 0.1 / 2),
    "hinge": (lambda f: f(ZERO, torch.tensor([[0.5, -2.0]])), 0.75),
    # tanh(log 3) = 0.8: 1.8^10 and 1^10
    "psl": (lambda f: f(ZERO, torch.tensor([[math.log(3), 0.0]])), math.log((1.8**10 + 1) / 2)),
    # b = 1: the positive at 1.5 lacks ½ of the margin, the draw at 0.5 as well, the one at −3 nothing; weight 4
    "uib": (lambda f: f(torch.tensor([1.5]), torch.tensor([[0.5, -3.0]]), boundary=torch.ones(1)), 0.5 + 4 * 0.25),
    # (1 − 1.5 + 1)/2 − 0.3 for the user, 0 − 0.3 · 0.5 for the item
    "sml": (
        lambda f: f(
            torch.ones(1),
            torch.tensor([[1.5, 3.0]]),
            item_negative=torch.full((1, 2), 4.0),
            user_margin=torch.ones(1),
            item_margin=torch.full((1,), 0.5),
        ),
        0.25 - 0.3 - 0.15,
    ),
    "hsm": (
        lambda f: f(torch.tensor([[math.log(3), 0.0, 9.0]]), torch.tensor([[-1, 1, 0]])),
        math.log(4) + math.log(2),
    ),
}


@pytest.mark.parametrize("name", losses.names())
def test_a_value_worked_by_hand(name):
    work, expected = WORKED[name]
    assert work(losses.get(name).function).item() == pytest.approx(expected, rel=1e-5)


def test_gradients_are_those_of_finite_differences(instance):
    inputs = tuple(x.clone().requires_grad_() for x in instance.inputs)
    call = functools.partial(instance.call, **instance.fixed)
    assert torch.autograd.gradcheck(call, inputs, eps=1e-6, atol=1e-6)


def test_one_value_per_positive(instance):
    assert instance.call(*instance.inputs).shape == (7,)


def test_shift_invariance_is_as_declared(instance):
    if instance.name == "hsm":  # a row of node scores, not of item scores: shifting it must change the loss
        shifted = (instance.inputs[0] + 3.0,)
    elif instance.loss.kind == "product":  # [u, 1]·[v, 3] is u·v + 3
        users, items = instance.inputs
        shifted = (
            torch.cat((users, torch.ones(len(users), 1)), 1),
            torch.cat((items, torch.full((len(items), 1), 3.0)), 1),
        )
    else:
        margins = 2 if instance.name == "sml" else 0  # these are no scores
        last = len(instance.inputs) - margins
        shifted = tuple(x + 3.0 if i < last else x for i, x in enumerate(instance.inputs))
    same = torch.allclose(instance.call(*instance.inputs), instance.call(*shifted), atol=1e-9)
    assert same == instance.loss.properties.shift_invariant


def test_the_order_of_items_does_not_matter(instance, build):
    order = torch.randperm(6, generator=torch.Generator().manual_seed(3))
    if instance.loss.kind == "exact":
        order = torch.randperm(11, generator=torch.Generator().manual_seed(3))
        rows, columns = torch.tensor([0, 2, 2]), torch.tensor([1, 7, 10])
        scores = instance.inputs[0].clone().requires_grad_()
        moved = scores[:, order].detach().requires_grad_()
        there = torch.argsort(order)[columns]
        values, others = (instance.loss.function(s, rows, c) for s, c in ((scores, columns), (moved, there)))
        torch.testing.assert_close(values, others)
        values.sum().backward()
        others.sum().backward()
        torch.testing.assert_close(scores.grad[:, order], moved.grad)
    elif instance.mask_shape:
        mask = torch.rand(7, 6, generator=torch.Generator().manual_seed(4)) < 0.3
        swapped = {"sampled-softmax", "sampled-softmax-all", "sampled-softmax-negatives", "nce"}
        if instance.name in swapped:
            pytest.skip("draws carry their probabilities: held against the sums in test_sampled.py")
        moved = tuple(x[:, order] if x.ndim == 2 else x for x in instance.inputs)
        torch.testing.assert_close(
            instance.call(*instance.inputs, mask=mask), instance.call(*moved, mask=mask[:, order])
        )


def test_what_is_masked_has_no_say_and_no_gradient(instance):
    if instance.mask_shape is None:
        pytest.skip("no candidates to mask")
    mask = torch.rand(instance.mask_shape, generator=torch.Generator().manual_seed(1)) < 0.4
    mask[0] = True  # a row with nothing left
    inputs = tuple(x.clone().requires_grad_() for x in instance.inputs)
    values = instance.call(*inputs, mask=mask)
    values.sum().backward()
    assert values.isfinite().all()
    assert all(x.grad.isfinite().all() for x in inputs)
    matrices = [x for x in inputs if x.ndim == 2]
    assert all((x.grad[mask] == 0).all() for x in matrices)
    wild = tuple(torch.where(mask, 1e4, x) if x.ndim == 2 else x for x in instance.inputs)
    torch.testing.assert_close(instance.call(*wild, mask=mask), values.detach())
    if instance.loss.kind == "exact":
        assert (values[:3] == 0).all()  # the positives of the row without candidates


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_large_scores_in_few_bits_stay_finite(instance, dtype):
    scale = 1e2 if instance.loss.kind == "product" else 1e4
    for sign in (1, -1):
        inputs = tuple((sign * scale * x.sign()).to(dtype).requires_grad_() for x in instance.inputs)
        values = instance.call(*inputs)
        assert values.dtype in (torch.float32, torch.float64)
        assert values.isfinite().all()
        values.sum().backward()
        assert all(x.grad.isfinite().all() and x.grad.dtype == dtype for x in inputs)


def test_bfloat16_is_near_float64(instance):
    rounded = tuple(x.bfloat16() for x in instance.inputs)
    torch.testing.assert_close(
        instance.call(*rounded).double(), instance.call(*(x.double() for x in rounded)), rtol=1e-4, atol=1e-4
    )


def test_names_options_and_sizes_are_checked():
    with pytest.raises(ParameterError, match="no loss is called 'sofmax'; choose from softmax"):
        losses.get("sofmax")
    sizes = {"n_users": 3, "n_items": 4, "factors": 2}
    with pytest.raises(ParameterError, match="entmax has no option 'beta'; its options are alpha"):
        losses.get("entmax").criterion(**sizes, beta=1)
    with pytest.raises(ParameterError, match="bpr has no option 'margin'; it has no options"):
        losses.get("bpr").criterion(**sizes, margin=1)
    for name, option, value in (
        ("entmax", "alpha", 0.5),
        ("entmax", "alpha", "x"),
        ("softmax", "chunk_elements", 0),
        ("hinge", "margin", -1),
        ("ccl", "negative_weight", math.nan),
        ("uib", "penalty", "square"),
        ("sml", "limit", 0),
        ("bsl", "negative_weight", -1),
        ("bsl", "positive_sharpness", math.nan),
        ("sl-at-k", "k", 0),
        ("sl-at-k", "weight_temperature", 0),
        ("psl", "activation", "exp"),
        ("psl", "sharpness", -1),
        ("hsm", "tree", "oak"),
    ):
        with pytest.raises(ParameterError, match=option):
            losses.get(name).criterion(**sizes, **{option: value})
    with pytest.raises(ParameterError, match="popularity has shape"):
        losses.get("rg2").criterion(**sizes, popularity=torch.ones(3))
    for name in ("rg2", "hsm"):
        with pytest.raises(ParameterError, match="popularity"):
            losses.get(name).criterion(**sizes)
    with pytest.raises(ParameterError, match="ranking='rank' is unknown"):
        losses.get("rgx").criterion(**sizes, popularity=torch.ones(4), ranking="rank")


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"torch is not installed; pip install 'taylorank\[torch\]'"):
        require_torch()
