"""One random instance of every loss, so that one suite can go through the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

torch = pytest.importorskip("torch")

from taylorank import losses  # noqa: E402

N_QUERIES, N_ITEMS, FACTORS, DRAWS = 5, 11, 4, 6
ROWS = [0, 0, 0, 1, 3, 3, 4]  # query 2 has no positive
COLUMNS = [1, 7, 10, 0, 4, 5, 10]
SIGNED = [[1, -1, 1], [1, 1, 0], [-1, 0, 0], [1, 1, 1], [-1, 1, 0], [1, 0, 0], [-1, -1, 1]]


@dataclass(frozen=True)
class Instance:
    """A loss as a function of its float inputs alone."""

    loss: losses.Loss
    inputs: tuple  # float64 tensors
    call: Callable  # (*inputs, mask=None) → (P,)
    mask_shape: tuple | None
    extra: dict | None = None  # what else the function is given
    fixed: dict = field(default_factory=dict)  # what its gradient holds fixed, beside it

    @property
    def name(self) -> str:
        return self.loss.name


def positives(weights=None) -> losses.Positives:
    values = torch.linspace(0.5, 2.0, len(ROWS)) if weights is None else weights
    return losses.Positives(torch.tensor(ROWS), torch.tensor(COLUMNS), values)


def make(name: str, seed: int = 0) -> Instance:
    loss = losses.get(name)
    draw = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=draw, dtype=torch.float64)

    p = len(ROWS)
    rows, columns = torch.tensor(ROWS), torch.tensor(COLUMNS)
    if loss.kind == "exact":
        inputs, fixed, shape = (normal(N_QUERIES, N_ITEMS),), (rows, columns), (N_QUERIES, N_ITEMS)
        held = {"thresholds": inputs[0].topk(4).values[:, -1]} if name == "sl-at-k" else {}
        return Instance(
            loss, inputs, lambda s, mask=None, **more: loss.function(s, *fixed, mask=mask, **more), shape, fixed=held
        )
    if loss.kind == "product":
        q = torch.rand(N_ITEMS, generator=draw, dtype=torch.float64) + 0.1
        inputs = (normal(N_QUERIES, FACTORS), normal(N_ITEMS, FACTORS))
        return Instance(loss, inputs, lambda u, v: loss.function(u, v, rows, columns, proposal=q / q.sum()), None)
    if name == "hsm":
        return Instance(loss, (normal(p, 3),), lambda s: loss.function(s, torch.tensor(SIGNED)), None)
    log_q = torch.log_softmax(normal(p, DRAWS + 1), 1)
    extra = {
        "sampled-softmax": {"n_items": N_ITEMS, "log_q": log_q[:, 1:]},
        "sampled-softmax-all": {"log_q": log_q[:, 1:], "positive_log_q": log_q[:, 0]},
        "sampled-softmax-negatives": {"log_q": log_q[:, 1:]},
        "nce": {"log_q": log_q[:, 1:], "positive_log_q": log_q[:, 0]},
    }.get(name, {})
    inputs, keys = (normal(p), normal(p, DRAWS)), ()
    if name == "uib":
        inputs, keys = (*inputs, normal(p)), ("boundary",)
    if name == "sml":
        inputs = tuple(2 * x.abs() for x in (*inputs, normal(p, DRAWS), normal(p), normal(p)))
        keys = ("item_negative", "user_margin", "item_margin")

    def call(positive, negative, *others, mask=None):
        return loss.function(positive, negative, mask=mask, **extra, **dict(zip(keys, others, strict=True)))

    return Instance(loss, inputs, call, (p, DRAWS), extra)


@pytest.fixture(params=losses.names())
def instance(request) -> Instance:
    return make(request.param)


@pytest.fixture
def build():
    return make


@pytest.fixture
def batch() -> losses.Positives:
    return positives()
