"""A generator and a small set of seen items; without PyTorch there is nothing to test here."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from taylorank.data import CSR

collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]


@pytest.fixture
def generator() -> Any:
    import torch

    return torch.Generator().manual_seed(7)


@pytest.fixture
def seen() -> CSR:
    """4 users × 6 items: a few, none, all but one, all."""
    rows = [[0, 3], [], [0, 1, 2, 3, 5], [0, 1, 2, 3, 4, 5]]
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return CSR(indptr, np.concatenate(rows).astype(np.int32), None, 6)
