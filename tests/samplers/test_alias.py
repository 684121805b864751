"""The alias table gives back the distribution it was built from."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from taylorank.samplers.alias import AliasTable, alias_table


def distribution(table: AliasTable) -> np.ndarray:
    """What the table draws, summed slot by slot."""
    mass = np.zeros(len(table.keep))
    for slot, (keep, alias) in enumerate(zip(table.keep, table.alias, strict=True)):
        mass[slot] += keep
        mass[alias] += 1 - keep
    return mass / len(mass)


@given(
    arrays(np.float64, st.integers(1, 60), elements=st.sampled_from([0.0, 1e-9, 0.1, 1.0, 1.0, 2.5, 40.0, 1e6]))
    | arrays(np.float64, st.integers(1, 60), elements=st.floats(0, 1))
)
def test_any_weights(weights: np.ndarray) -> None:
    if weights.sum() < 1e-12:
        weights = weights + 1
    table = alias_table(weights)
    assert np.all((table.keep >= 0) & (table.keep <= 1))
    np.testing.assert_allclose(distribution(table), weights / weights.sum(), atol=1e-14, rtol=1e-12)


def test_long_tail() -> None:
    weights = np.random.default_rng(0).zipf(1.3, 20_000).clip(max=10**7).astype(float)
    np.testing.assert_allclose(distribution(alias_table(weights)), weights / weights.sum(), atol=1e-14, rtol=1e-8)
