"""The released update, its sign reversed, minimises the loss with α and β, and RG where both are zero."""

from __future__ import annotations

import pytest

from research.claims.algorithm import EXACT, released_update


@pytest.mark.parametrize("seed", range(3))
def test_without_alpha_and_beta_it_is_rg(seed):
    numbers = released_update(seed, alpha=0.0, beta=0.0)
    assert numbers["gradient corrected"] < EXACT
    assert numbers["gradient of RG² there"] < EXACT
    assert numbers["gradient of RG× there"] < EXACT  # the best scores sum to zero, where the losses agree


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("changed", [{"alpha": 0.0}, {"beta": 0.0}, {}])
def test_with_either_it_is_neither_loss_of_the_papers(seed, changed):
    numbers = released_update(seed, **changed)
    assert numbers["gradient corrected"] < EXACT
    assert min(numbers["gradient of RG² there"], numbers["gradient of RG× there"]) > 1e-3
