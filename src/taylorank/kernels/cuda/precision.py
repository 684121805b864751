"""Matrix products of float32 in float32: torch may be set to round their factors to fewer bits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def products_in(precision: str) -> Iterator[None]:
    """Within the block, products are "highest" (float32) or "high" (TF32: factors of 11 bits, sums in float32)."""
    before = torch.get_float32_matmul_precision()
    if before == precision:
        yield
        return
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
