"""Each objective goes to the solvers that it declares, and to no other."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank import objectives
from taylorank.errors import ParameterError
from taylorank.solvers import solve_als, solve_row_als, solve_spectral

DATA = tr.planted(30, 20, interactions=200, seed=1)
EXPONENTS = {"proposal_exponent": 0.5, "context_exponent": 1.0}
SAMPLED = {"negatives": 5, "penalty": 0.1, "proposal": np.full(20, 0.05), "context_exponent": 1.0}
OBJECTIVES = {
    "rg2": lambda: objectives.rg_objective(objectives.RG2Objective, DATA, **EXPONENTS),
    "rgx": lambda: objectives.rg_objective(objectives.RGXObjective, DATA, **EXPONENTS),
    "wrmf": lambda: objectives.wrmf_objective(DATA, alpha=1.0, regularization=1.0),
    "sampled-rg2": lambda: objectives.sampled_rg2_objective(DATA, **SAMPLED),
    "sampled-rgx": lambda: objectives.sampled_rgx_objective(DATA, **SAMPLED),
}
SOLVERS = {
    "spectral": lambda objective: solve_spectral(objective, 3).factors(3, 0.1),
    "als": lambda objective: solve_als(objective, 3, penalty=0.1, sweeps=2),
    "row_als": lambda objective: solve_row_als(objective, 3, sweeps=2),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_declaration_is_asked(name, solver):
    objective = OBJECTIVES[name]()
    if solver in objective.solvers:
        users, items = SOLVERS[solver](objective)
        assert np.isfinite(objective.loss(users, items))
    else:
        with pytest.raises(ParameterError, match=f"{solver} does not solve .*; use {objective.solvers[0]}"):
            SOLVERS[solver](objective)


def test_a_model_offers_the_solvers_of_its_objective():
    with pytest.raises(ParameterError, match="solver='row_als' is unknown; choose spectral or als"):
        tr.RG2(3, solver="row_als").fit(DATA)
