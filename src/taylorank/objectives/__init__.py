"""Quadratic objectives: each states its formula, and evaluates itself without M × N memory."""

from taylorank.objectives.rg import RG, RG2Objective, RGXObjective, proposal, rg_objective

__all__ = ["RG", "RG2Objective", "RGXObjective", "proposal", "rg_objective"]
