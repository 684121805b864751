"""Solvers take an objective and return factors; they do no input or output."""

from taylorank.solvers.als import AlsSweep, solve_als
from taylorank.solvers.spectral import SpectralPath, solve_spectral
from taylorank.solvers.svd import Progress, Svd, truncated_svd

__all__ = ["AlsSweep", "Progress", "SpectralPath", "Svd", "solve_als", "solve_spectral", "truncated_svd"]
