"""Skewed rows drawn on a device, and the seconds of calls there."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def skewed(shape: tuple[int, int, int], device: str, *, seed: int = 0) -> Any:
    """Draw pairs on the device as DeviceRows by user; popularity falls as (rank + c)^−γ, as in `gather_sum`."""
    import torch

    from taylorank.kernels.cuda import DeviceRows

    users, items, entries = shape
    draw = torch.Generator(device).manual_seed(seed)

    def drawn(count: int, shift: float, power: float) -> Any:
        steps = torch.cumsum((torch.arange(count, device=device, dtype=torch.float64) + shift) ** -power, 0)
        steps = (steps / steps[-1]).float()
        place = torch.searchsorted(steps, torch.rand(entries, generator=draw, device=device)).clamp_(max=count - 1)
        return torch.randperm(count, generator=draw, device=device)[place]

    user = drawn(users, 50.0, 0.6)
    pairs = torch.sort(user * items + drawn(items, 20.0, 0.9)).values
    indptr = torch.zeros(users + 1, dtype=torch.int64, device=device)
    torch.cumsum(torch.bincount(user, minlength=users), 0, out=indptr[1:])
    return DeviceRows(indptr, (pairs % items).to(torch.int32), None, items)


def median_s(call: Callable[[], object], device: str, repeats: int) -> float:
    """Return the median seconds of a call, after two that do not count."""
    import torch

    call(), call()
    seconds: list[float] = []
    for _ in range(repeats):
        if device == "cuda":
            event: Any = torch.cuda.Event
            begin, end = event(enable_timing=True), event(enable_timing=True)
            begin.record()
            call()
            end.record()
            end.synchronize()
            seconds.append(begin.elapsed_time(end) / 1000)
        else:
            began = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def copy_rate(device: str, cells: int, repeats: int) -> dict[str, Any]:
    """Return the seconds of a plain copy of float32, and bytes read and written in a second."""
    import torch

    source = torch.rand(cells, device=device)
    target = torch.empty_like(source)
    seconds = median_s(lambda: target.copy_(source), device, repeats)
    return {"median_s": seconds, "gb_per_s": round(8 * cells / seconds / 1e9, 1)}
