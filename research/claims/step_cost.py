"""What a step of each loss costs, in operations that torch dispatches: no clock, so no load moves it."""

from __future__ import annotations

import math
from typing import Any
from unittest.mock import patch

from research.claims.claim import Claim, Figure, Judgement, Numbers, decide
from research.claims.dense import slope
from research.papers import SUMMARY_2026
from taylorank.kernels import backend

POSITIVES, QUERIES, RANK = 256, 128, 32
ITEMS, DRAWS = [4000, 8000, 16_000, 32_000], [64, 128, 256, 512, 1024]
SAMPLED = ("sampled-softmax-all", "nce")


def counting_mode() -> Any:
    """Return a context that sums the operations within it: multiplications of products, else elements written."""
    from torch import Tensor
    from torch.utils import _python_dispatch
    from torch.utils._pytree import tree_leaves
    from torch.utils.flop_counter import flop_registry

    base: Any = _python_dispatch.TorchDispatchMode  # torch leaves it without types

    class Counting(base):  # type: ignore[misc]
        total = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = func(*args, **(kwargs or {}))
            packet = func.overloadpacket
            if packet in flop_registry:
                self.total += flop_registry[packet](*args, **(kwargs or {}), out_val=made) // 2
            elif not func.is_view:
                written = [one for one in tree_leaves(made) if isinstance(one, Tensor)]
                self.total += sum((one._values() if one.is_sparse else one).numel() for one in written)
            return made

    return Counting()


def step_operations(name: str, n_items: int, *, draws: int) -> int:
    """Return the operations of loss and gradient for 128 queries with two positives each, rank 32."""
    import torch

    from taylorank import losses

    generator = torch.Generator().manual_seed(0)
    queries = torch.randn(QUERIES, RANK, generator=generator, requires_grad=True)
    items = torch.randn(n_items, RANK, generator=generator, requires_grad=True)
    rows = torch.arange(QUERIES).repeat_interleave(POSITIVES // QUERIES)
    columns = torch.randint(n_items, (POSITIVES,), generator=generator)
    positives = losses.Positives(rows, columns, torch.ones(POSITIVES))
    loss = losses.get(name)
    drawn = torch.randint(n_items, (POSITIVES, draws), generator=generator)
    even = torch.tensor(-math.log(n_items))
    negatives = losses.Negatives(drawn, even.expand(drawn.shape), even.expand(columns.shape))
    criterion = loss.criterion(n_users=QUERIES, n_items=n_items, factors=RANK, popularity=torch.ones(n_items))
    over_all = loss.kind in ("exact", "product")
    given = items if over_all else (lambda index: torch.nn.functional.embedding(index, items, sparse=True))
    # native kernels are not dispatched: without them torch gathers the drawn items and multiplies
    with patch.object(backend, "native", None), counting_mode() as counted:
        criterion(queries, given, positives, None if over_all else negatives).backward()
    return int(counted.total)


def cost_of_steps(seed: int, *, draws_per_item: float = 0.0) -> Numbers:
    """Operations of a step by number of items, with 64 draws, and by number of draws, with 4,000 items; exponents.

    `draws_per_item` lets the draws grow with the items.
    """
    del seed
    by_items = {
        name: [step_operations(name, n, draws=int(n * draws_per_item) or DRAWS[0]) for n in ITEMS]
        for name in ("softmax", "sparsemax", *SAMPLED, "rg2")
    }
    by_draws = {name: [step_operations(name, ITEMS[0], draws=n) for n in DRAWS] for name in SAMPLED}
    return {
        "items": ITEMS,
        **by_items,
        "exponents in the items": {name: slope(ITEMS, counts) for name, counts in by_items.items()},
        "draws": DRAWS,
        "operations by draws": by_draws,
        "exponents in the draws": {name: slope(DRAWS, counts) for name, counts in by_draws.items()},
    }


def judge_cost(n: Numbers) -> Judgement:
    """Exact losses grow with N, sampled ones with the draws (exponents over 0.8) and little with N (under 0.2)."""
    items, draws = n["exponents in the items"], n["exponents in the draws"]
    exact = min(items["softmax"], items["sparsemax"]) > 0.8
    sampled = min(draws.values()) > 0.8 and max(items[name] for name in draws) < 0.2
    times = n["softmax"][-1] / n["sampled-softmax-all"][-1], n["softmax"][-1] / n["rg2"][-1]
    return Judgement(
        decide(exact and sampled),
        f"exponents of a step's operations in the number of items: {_listed(items)}; in the number of draws: "
        f"{_listed(draws)}; at {n['items'][-1]:,} items a step of softmax has {times[0]:.1f} times the operations of "
        f"one of sampled softmax with 64 draws, and {times[1]:.1f} times those of one of RG², which uses all items",
    )


def _listed(found: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in found.items())


CLAIMS = (
    Claim(
        id="cost-of-a-step",
        group="Cost and time",
        source=f"{SUMMARY_2026}, Key results (complexity per epoch)",
        statement="A step of the exact losses costs in proportion to the number of items, one of the sampled losses to "
        "the number of draws.",
        method="Operations that torch dispatches for loss and gradient of 256 positives, rank 32 (multiplications of "
        "matrix products, otherwise elements written): 4,000 to 32,000 items with 64 draws, and 64 to 1,024 draws from "
        "4,000 items; gradients of drawn items are sparse.",
        experiment=cost_of_steps,
        judge=judge_cost,
        change={"draws_per_item": 1 / 64},
        change_in_words="one draw for every 64 items in place of 64",
        needs_torch=True,
        figure=Figure(
            "items", ("softmax", "sampled-softmax-all", "rg2"), "Operations of a step", log_x=True, log_y=True
        ),
    ),
)
