"""The papers' grids run as they are printed, beside ours."""

from __future__ import annotations

import pytest

import taylorank as tr
from taylorank.selection.contenders import VARIANTS, contenders

LITERAL = [name for name in VARIANTS if name.endswith("-literal")]


def test_a_comparison_runs_the_printed_models():
    data = tr.planted(120, 100, interactions=2500, seed=1)
    found = tr.compare(data, [*LITERAL, "rg2-paper"], trials=3)
    models = found.record["summary"]["models"]
    assert set(models) == {"rg2-literal", "rgx-literal", "sampled-rg2-literal", "sampled-rgx-literal", "rg2-paper"}
    assert all("metrics" in model for model in models.values())


@pytest.mark.parametrize("name", LITERAL)
def test_the_grid_is_the_printed_one_and_the_penalty_plain(name):
    (one,) = contenders([name])
    assert set(one.space["regularization"].values) == {0, 1, 0.5, 0.1, 0.05, 0.01, 0.005, 0.001}
    params = one.params()
    assert (params["penalty"], params["proposal_exponent"], params["context_exponent"]) == ("plain", 0.0, 1.0)
    assert params.get("weights", "printed") == "printed"
