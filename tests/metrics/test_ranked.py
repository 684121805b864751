from __future__ import annotations

import math

import numpy as np
import pytest

from taylorank.metrics import METRICS

HITS = np.array([[True, False, True], [False, False, False], [False, True, True]])
RELEVANT = np.array([2, 1, 5])


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("precision", [2 / 3, 0, 2 / 3]),
        ("recall", [1, 0, 2 / 5]),
        ("hit_rate", [1, 0, 1]),
        ("mrr", [1, 0, 1 / 2]),
        ("map", [(1 + 2 / 3) / 2, 0, (1 / 2 + 2 / 3) / 5]),
        (
            "ndcg",
            [
                (1 + 1 / 2) / (1 + 1 / math.log2(3)),
                0,
                (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3) + 1 / 2),
            ],
        ),
    ],
)
def test_values_worked_by_hand(name, values):
    np.testing.assert_allclose(METRICS[name](HITS, RELEVANT), values)
