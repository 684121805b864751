"""Doctests of what needs torch are left out where there is none."""

from importlib.util import find_spec

NEEDS_TORCH = ("losses", "samplers", "backbones", "training")
collect_ignore_glob = [] if find_spec("torch") else [f"src/taylorank/{package}/*" for package in NEEDS_TORCH]
