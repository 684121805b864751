"""Sampled losses against plain sums, and against softmax as the draws grow."""

from __future__ import annotations

import math

import pytest
import torch

from taylorank.losses.fenchel_young import softmax
from taylorank.losses.sampled_softmax import nce, sampled_softmax, sampled_softmax_all, sampled_softmax_negatives

N = 8
UNIFORM = torch.full((1,), -math.log(N), dtype=torch.float64)


def log_sigmoid(x: float) -> float:
    return -math.log1p(math.exp(-x))


PLAIN = {  # score of the positive and its log q, (score, log q) of the draws that count, number of draws
    "sampled-softmax": lambda o, a, s, n: math.log(math.exp(o) + sum(math.exp(x - b) / 11 for x, b in s)) - o,
    "sampled-softmax-all": lambda o, a, s, n: (
        math.log(math.exp(o - a) / n + sum(math.exp(x - b) / n for x, b in s)) - (o - a - math.log(n))
    ),
    "sampled-softmax-negatives": lambda o, a, s, n: math.log(math.exp(o) + sum(math.exp(x - b) / n for x, b in s)) - o,
    "nce": lambda o, a, s, n: -log_sigmoid(o - a - math.log(n)) - sum(log_sigmoid(b + math.log(n) - x) for x, b in s),
}


@pytest.mark.parametrize("name", PLAIN)
def test_values_are_the_sums(name, build):
    instance = build(name)
    mask = torch.rand(7, 6, generator=torch.Generator().manual_seed(9)) < 0.3
    extra = instance.extra
    positive_log_q = extra.get("positive_log_q", torch.zeros(7))
    positive, negative = instance.inputs
    expected = [
        PLAIN[name](
            positive[i].item(),
            positive_log_q[i].item(),
            [(negative[i, j].item(), extra["log_q"][i, j].item()) for j in range(6) if not mask[i, j]],
            6,
        )
        for i in range(7)
    ]
    assert instance.call(*instance.inputs, mask=mask).tolist() == pytest.approx(expected)


def every_item(scores: torch.Tensor, times: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A positive for every item, and draws that hit every item equally often: the mean of uniform draws, no chance."""
    return scores, scores.repeat(times).expand(N, N * times)


def gradient(loss, data: torch.Tensor) -> torch.Tensor:
    scores = torch.linspace(-1, 1, N, dtype=torch.float64)
    scores = (scores - scores.logsumexp(0)).requires_grad_()  # self-normalised, as NCE wants
    (data @ loss(scores)).backward()
    return scores.grad


def gap(loss) -> float:
    data = torch.softmax(torch.linspace(2, -1, N, dtype=torch.float64), 0)
    exact = gradient(lambda s: softmax(s.expand(N, N), torch.arange(N), torch.arange(N)), data)
    return ((gradient(loss, data) - exact).norm() / exact.norm()).item()


@pytest.mark.parametrize(
    "loss",
    [
        lambda t: lambda s: sampled_softmax(*every_item(s, t), n_items=N),
        lambda t: lambda s: sampled_softmax_all(*every_item(s, t), log_q=UNIFORM, positive_log_q=UNIFORM),
        lambda t: lambda s: nce(*every_item(s, t), log_q=UNIFORM, positive_log_q=UNIFORM),
    ],
    ids=["sampled-softmax", "sampled-softmax-all", "nce"],
)
def test_gradients_reach_softmax_at_rate_one_over_n(loss):
    gaps = [gap(loss(times)) for times in (10, 100, 1000)]
    assert gaps[0] < 0.3
    assert gaps[1] / gaps[0] == pytest.approx(0.1, rel=0.3)
    assert gaps[2] / gaps[1] == pytest.approx(0.1, rel=0.1)


def test_correcting_the_negatives_alone_leaves_a_bias():
    loss = lambda t: lambda s: sampled_softmax_negatives(*every_item(s, t), log_q=UNIFORM)  # noqa: E731
    gaps = [gap(loss(times)) for times in (10, 100, 1000)]
    assert gaps[2] > 0.02
    assert gaps[2] == pytest.approx(gaps[1], rel=0.05)
    scores = torch.linspace(-1, 1, N, dtype=torch.float64)
    exact = softmax(scores.expand(N, N), torch.arange(N), torch.arange(N))
    p = torch.softmax(scores, 0)
    torch.testing.assert_close(loss(1000)(scores) - exact, torch.log1p(p), rtol=1e-2, atol=1e-3)


def test_the_bias_of_the_value():
    """N p_y/n − χ²/2n over real draws, constants removed (MATHS section 8)."""
    scores = torch.linspace(-1, 1, N, dtype=torch.float64)
    p = torch.softmax(scores, 0)
    n, repeats = 200, 4000
    draws = torch.randint(0, N, (repeats, n), generator=torch.Generator().manual_seed(0))
    found = sampled_softmax(scores[3].expand(repeats), scores[draws], n_items=N).mean() - math.log(n / N)
    exact = softmax(scores[None], torch.tensor([0]), torch.tensor([3])).item()
    chi = ((p - 1 / N) ** 2 * N).sum().item()
    assert found.item() - exact == pytest.approx(
        N * p[3].item() / n - chi / (2 * n), abs=4 * math.sqrt(chi / n / repeats)
    )


def test_uniform_draws_need_no_correction():
    positive, negative = torch.randn(4, generator=torch.Generator().manual_seed(0)), torch.randn(4, 5)
    log_q = torch.full((4, 5), -math.log(30))
    plain = sampled_softmax(positive, negative, n_items=30)
    torch.testing.assert_close(sampled_softmax(positive, negative, n_items=30, log_q=log_q), plain)
    both = torch.cat((positive[:, None], negative), 1)
    torch.testing.assert_close(
        plain, torch.nn.functional.cross_entropy(both, torch.zeros(4, dtype=int), reduction="none")
    )
