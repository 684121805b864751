"""Seconds of an epoch of matrix factorisation against RecBole and a plain PyTorch loop; memory of a softmax step.

An epoch is one pass over all pairs. BPR: one uniform draw per pair that is no positive of the user, the same batch of
pairs for all. Sampled softmax: 64 uniform draws per pair. Softmax: the plain loop has a row of scores for every pair of
a batch, ours one for every user, which is the same sum. RecBole has no matrix factorisation with either.

    python -m research.bench epochs --json research/records/bench/epochs.json
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from research.bench.speed.recbole import bpr_epoch
from research.bench.speed.timing import time_in_turns
from taylorank.data import Interactions, datasets, planted
from taylorank.errors import DataError
from taylorank.machine import describe_machine
from taylorank.system import peak_memory
from taylorank.torch_extra import require_torch

FACTORS, PAIRS, USERS, DRAWS, RATE = 64, 2048, 512, 64, 1e-3


def run(*, quick: bool = False) -> dict[str, Any]:
    """Time epochs on the training part of ML-1M, and the memory of a step on a million items; `quick` is small."""
    require_torch()
    import torch

    machine = describe_machine()
    words, data = ("planted", planted(200, 80, interactions=3000)) if quick else _ml_1m()
    repeats, items = (1, 2000) if quick else (5, 1_000_000)
    contenders = {"bpr": _bpr(data), "sampled softmax": _sampled_softmax(data), "softmax": _softmax(data)}
    results = {}
    for loss, calls in contenders.items():
        found = time_in_turns(calls, repeats=repeats)
        results[loss] = {name: times.against(found["taylorank"]) for name, times in found.items()}
    return {
        "benchmark": "epochs",
        "machine": machine,
        "threads": torch.get_num_threads(),
        "data": words,
        "pairs": data.nnz,
        "factors": FACTORS,
        "results": results,
        "step": _step_memory(items, queries=8 if quick else 256),
    }


def _ml_1m() -> tuple[str, Interactions]:
    try:
        data = datasets.get("ml-1m", cleaning="paper")
    except DataError:
        return "planted, the shape of ML-1M", planted(6038, 3307, interactions=669_000)
    return "ml-1m, papers' cleaning, training part", data.split((0.8, 0.1, 0.1), random_state=0)[0]


def _ours(loss: str, data: Interactions, **params: Any) -> Callable[[], object]:
    """One epoch of a run that is set up already, as a second epoch of a fit would be."""
    import torch

    from taylorank.training import Neural
    from taylorank.training.build import build
    from taylorank.training.first_order import FirstOrder
    from taylorank.training.run import make_feed, recipe_of

    same: dict[str, Any] = {"factors": FACTORS, "learning_rate": RATE, "schedule": "constant", "device": "cpu"}
    model = Neural(loss, regularization=0.0, **same, **params)
    parts = build(model, data, device="cpu")
    generator = torch.Generator().manual_seed(0)
    return FirstOrder(parts, make_feed(model, parts, data, "cpu"), recipe_of(model), generator=generator).epoch


def _bpr(data: Interactions) -> dict[str, Callable[[], object]]:
    calls = {
        "taylorank": _ours("bpr", data, negatives=1, batch_size=PAIRS),
        "taylorank, sparse-adam": _ours("bpr", data, negatives=1, batch_size=PAIRS, optimizer="sparse-adam"),
        "plain PyTorch": _plain_bpr(data),
    }
    peer = bpr_epoch(data, factors=FACTORS, batch_size=PAIRS, learning_rate=RATE)
    return calls if peer is None else {**calls, "RecBole": peer}


def _sampled_softmax(data: Interactions) -> dict[str, Callable[[], object]]:
    return {
        "taylorank": _ours("sampled-softmax", data, negatives=DRAWS, batch_size=PAIRS),
        "plain PyTorch": _plain_sampled_softmax(data),
    }


def _softmax(data: Interactions) -> dict[str, Callable[[], object]]:
    return {
        "taylorank": _ours("softmax", data, batch_size=USERS),
        "plain PyTorch": _plain_softmax(data),
    }


def _tables(data: Interactions) -> Any:
    import torch

    tables = [torch.nn.Embedding(n, FACTORS) for n in (data.n_users, data.n_items)]
    return *tables, torch.optim.Adam([table.weight for table in tables], lr=RATE)


def _loader(data: Interactions) -> Any:
    import torch

    users, items = data.by_user.row_of_entry(), data.by_user.indices
    pairs = torch.utils.data.TensorDataset(*(torch.from_numpy(side.astype(np.int64)) for side in (users, items)))
    return torch.utils.data.DataLoader(pairs, batch_size=PAIRS, shuffle=True)


def _plain_bpr(data: Interactions) -> Callable[[], object]:
    """The loop that tutorials show, with draws made a batch at a time (positives are not left out)."""
    import torch

    of_users, of_items, optimizer = _tables(data)
    loader = _loader(data)

    def epoch() -> None:
        for users, items in loader:
            others = torch.randint(data.n_items, items.shape)
            u = of_users(users)
            margins = (u * (of_items(items) - of_items(others))).sum(1)
            optimizer.zero_grad()
            torch.nn.functional.softplus(-margins).mean().backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    return epoch


def _plain_sampled_softmax(data: Interactions) -> Callable[[], object]:
    import torch

    of_users, of_items, optimizer = _tables(data)
    loader = _loader(data)

    def epoch() -> None:
        for users, items in loader:
            columns = torch.cat((items[:, None], torch.randint(data.n_items, (len(items), DRAWS))), 1)
            scores = (of_items(columns) @ of_users(users)[:, :, None]).squeeze(-1)
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(scores, torch.zeros_like(items))
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    return epoch


def _plain_softmax(data: Interactions) -> Callable[[], object]:
    import torch

    of_users, of_items, optimizer = _tables(data)
    loader = _loader(data)

    def epoch() -> None:
        for users, items in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(of_users(users) @ of_items.weight.T, items)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    return epoch


def _step_memory(n_items: int, *, queries: int) -> dict[str, Any]:
    """Peak memory of the loss and its gradients for some queries over very many items, ours and by autograd."""
    import torch

    from taylorank import losses
    from taylorank.losses import Positives

    generator = torch.Generator().manual_seed(0)
    users = torch.randn(queries, FACTORS, generator=generator).requires_grad_()
    items = torch.randn(n_items, FACTORS, generator=generator).mul_(0.1).requires_grad_()
    rows, columns = torch.arange(queries), torch.randint(n_items, (queries,), generator=generator)
    criterion = losses.get("softmax").criterion(n_users=queries, n_items=n_items, factors=FACTORS)
    ways: dict[str, Callable[[], Any]] = {
        "taylorank": lambda: criterion(users, items, Positives(rows, columns, torch.ones(queries))),
        "plain PyTorch": lambda: torch.nn.functional.cross_entropy(users @ items.T, columns, reduction="sum"),
    }
    found: dict[str, Any] = {"items": n_items, "queries": queries}
    for name, loss in ways.items():
        users.grad = items.grad = None
        with peak_memory() as peak:
            loss().backward()
        found[name] = None if peak.bytes is None else round(peak.bytes / 2**20, 1)
    return found


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the seconds of each and the ratios."""
    lines = []
    for loss, found in record["results"].items():
        ours = found["taylorank"]
        others = "; ".join(
            f"{name} {times['min_s']:.2f} s, {times['min_times_ours']:.2f} ({times['times_ours']:.2f}) times ours"
            for name, times in found.items()
            if name != "taylorank"
        )
        lines.append(f"{loss}: {ours['min_s']:.2f} s per epoch of {record['pairs']:,} pairs; {others}")
    step = record["step"]
    lines.append(
        f"softmax step, {step['queries']} queries × {step['items']:,} items: peak memory {step['taylorank']} MB, "
        f"plain PyTorch {step['plain PyTorch']} MB"
    )
    return lines
