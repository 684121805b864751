"""Time and memory of one step, forward and backward, of RG², full softmax and sampled softmax, for more and more items.

A step has B queries with 16 positives each; vectors of queries and items are given, so that the loss alone is measured:
no encoder, no optimiser. All leave gradients for queries and items; those of sampled softmax and of RG² with kept
moments are sparse, since they touch few items. A kind that took longer than `most_seconds` is left out for more items.

    python -m research.bench rg-step --items 10000,100000,1000000,10000000 --json rg-step.json
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from research.options import numbers
from taylorank.machine import describe_machine
from taylorank.system import peak_memory

POSITIVES = 16  # of a query
DRAWS = 1024
KINDS = ("rg2", "rg2 kept", "softmax", "sampled-softmax")


def run(
    *,
    quick: bool = False,
    items: str = "10000,100000,1000000,10000000",
    queries: int = 512,
    factors: int = 64,
    device: str = "auto",
    most_seconds: float = 60.0,
    log_line: Callable[[str], object] = lambda line: None,
) -> dict[str, Any]:
    """Measure every kind at every size.

    Parameters
    ----------
    quick
        Make everything small.
    items
        How many, with commas between.
    most_seconds
        Of a step, before a kind is left out for more items.
    """
    from taylorank.training.run import chosen_device

    device = chosen_device(device)
    if quick:
        items, queries, factors = "1000,4000", 32, 8
    machine, rows, slow = describe_machine(), [], set[str]()
    for count in numbers(items, "--items"):
        for kind in KINDS:
            if kind in slow:
                continue
            row = measure(kind, count, queries=queries, factors=factors, device=device, repeats=2 if quick else 5)
            rows.append(row)
            log_line(row_text(row))
            if row["seconds"] is None or row["seconds"] > most_seconds:
                slow.add(kind)
    return {
        "benchmark": "rg-step",
        "queries": queries,
        "positives": queries * POSITIVES,
        "factors": factors,
        "draws": DRAWS,
        "device": device,
        "machine": machine,
        "rows": rows,
    }


def measure(kind: str, count: int, *, queries: int, factors: int, device: str, repeats: int) -> dict[str, Any]:
    """Return median seconds of a step and the bytes at its peak beyond the vectors themselves."""
    import torch

    draw = torch.Generator(device).manual_seed(0)
    U = (0.1 * torch.randn(queries, factors, generator=draw, device=device)).requires_grad_()
    V = torch.empty(count, factors, device=device).normal_(0, 0.1, generator=draw).requires_grad_()
    step = make_step(kind, U, V, draw)
    try:
        step()  # what is made once: kept moments, kernels
        seconds = [_timed(step, device) for _ in range(repeats)]
        return {"kind": kind, "items": count, "seconds": statistics.median(seconds), "bytes": _peak(step, U, V, device)}
    except torch.OutOfMemoryError:
        return {"kind": kind, "items": count, "seconds": None, "bytes": None}


def make_step(kind: str, U: Any, V: Any, draw: Any) -> Callable[[], None]:
    """Return one step: the loss of a random batch, and its gradients."""
    import torch
    from torch.nn import functional

    from taylorank import losses

    count, device = len(V), V.device
    options = {"refresh": 1 << 30, "draws": DRAWS} if kind == "rg2 kept" else {}
    criterion = losses.get(kind.split()[0]).criterion(
        n_users=len(U),
        n_items=count,
        factors=U.shape[1],
        popularity=torch.ones(count),
        **options,
    )
    criterion.to(device)
    rows = torch.arange(len(U), device=device).repeat_interleave(POSITIVES)
    columns = torch.randint(count, (len(rows),), generator=draw, device=device)
    positives = losses.Positives(rows, columns, torch.ones(len(rows), device=device))
    drawn = torch.randint(count, (DRAWS,), generator=draw, device=device)
    negatives = losses.Negatives(drawn) if kind == "sampled-softmax" else None

    def some(columns: Any) -> Any:
        return functional.embedding(columns, V, sparse=True)

    def step() -> None:
        U.grad = V.grad = None
        vectors = V if criterion.kind in ("exact", "product") else some
        criterion(U, vectors, positives, negatives).backward()

    return step


def _timed(step: Callable[[], None], device: str) -> float:
    _wait(device)
    began = time.perf_counter()
    step()
    _wait(device)
    return time.perf_counter() - began


def _peak(step: Callable[[], None], U: Any, V: Any, device: str) -> int | None:
    import torch

    U.grad = V.grad = None
    if device == "cuda":
        torch.cuda.empty_cache()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        step()
        return int(torch.cuda.max_memory_allocated() - before)
    with peak_memory() as peak:
        step()
    return peak.bytes


def _wait(device: str) -> None:
    import torch

    if device == "cuda":
        torch.cuda.synchronize()


def row_text(row: dict[str, Any]) -> str:
    """Describe a row in a line."""
    if row["seconds"] is None:
        return f"{row['items']:,} items, {row['kind']}: out of memory"
    memory = "" if row["bytes"] is None else f", {row['bytes'] / 2**20:,.0f} MiB"
    return f"{row['items']:,} items, {row['kind']}: {1000 * row['seconds']:.2f} ms{memory}"


def describe(record: dict[str, Any]) -> list[str]:
    """Describe the results in words."""
    return [row_text(row) for row in record["rows"]]
