"""A small log with times; without PyTorch there is nothing to test here."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from taylorank.data import Interactions

collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]


@pytest.fixture(scope="session")
def data() -> Interactions:
    """12 users × 9 items with times; user 4 and item 7 are left without interactions."""
    rng = np.random.default_rng(5)
    dense = rng.random((12, 9)) < 0.4
    dense[[4, 0], [0, 7]] = True
    users, items = np.nonzero(dense)
    whole = Interactions.from_arrays(users, items, timestamps=rng.permutation(len(users)))
    keep = (whole.by_user.row_of_entry() != 4) & (whole.by_user.indices != 7)
    part = whole.select(keep, "without user 4 and item 7")
    assert (part.n_users, part.n_items) == (12, 9)
    return part
