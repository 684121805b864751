"""Solvers take an objective and return factors; they do no input or output."""

from taylorank.solvers.als import solve_als
from taylorank.solvers.inverse import invert_in_place
from taylorank.solvers.row_als import solve_row_als
from taylorank.solvers.spectral import SpectralPath, solve_spectral
from taylorank.solvers.svd import Progress, Svd, SvdState, truncated_svd
from taylorank.solvers.sweeps import AlsSweep, SweepState

__all__ = [
    "AlsSweep",
    "Progress",
    "SpectralPath",
    "Svd",
    "SvdState",
    "SweepState",
    "invert_in_place",
    "solve_als",
    "solve_row_als",
    "solve_spectral",
    "truncated_svd",
]
