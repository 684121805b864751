"""Quadratic objectives: each states its formula and its solvers, and evaluates itself without M × N memory."""

from taylorank.objectives.printed import printed_objective
from taylorank.objectives.released import released_objective
from taylorank.objectives.rg import RG, RG2Objective, RGXObjective, proposal, rg_objective
from taylorank.objectives.sampled import SampledRGX, sampled_rg2_objective, sampled_rgx_objective
from taylorank.objectives.weighted import ItemSums, Weighted, ials_objective, wrmf_objective

__all__ = [
    "RG",
    "ItemSums",
    "RG2Objective",
    "RGXObjective",
    "SampledRGX",
    "Weighted",
    "ials_objective",
    "printed_objective",
    "proposal",
    "released_objective",
    "rg_objective",
    "sampled_rg2_objective",
    "sampled_rgx_objective",
    "wrmf_objective",
]
