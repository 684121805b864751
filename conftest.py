"""Where the real data are, and which doctests are left out."""

import os
from importlib.util import find_spec
from pathlib import Path

BESIDE = Path(__file__).resolve().parent.parent / "shared" / "data"
if "TAYLORANK_DATA" not in os.environ and BESIDE.is_dir():
    os.environ["TAYLORANK_DATA"] = str(BESIDE)

# Doctests of what needs torch, where there is none.
NEEDS_TORCH = ("losses", "samplers", "backbones", "training")
collect_ignore_glob = [] if find_spec("torch") else [f"src/taylorank/{package}/*" for package in NEEDS_TORCH]
