"""The same bits twice on a GPU: models that have a device, fitted there again in the same process.

But for networks that learn by steps: torch adds up the gradients of what was drawn, or looked up, in any order.
"""

from __future__ import annotations

import inspect
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import taylorank as tr
from research.attack import Difference, Seen
from research.attack.determinism import data_of, digest_of, model_of


def attack(seed: int, folder: Path) -> Seen | str:
    """Fit one model twice."""
    if find_spec("torch") is None:
        return "skipped"
    import torch

    if not torch.cuda.is_available():
        return "skipped"
    rng = np.random.default_rng(seed)
    data, model = data_of(rng), model_of(rng)
    while isinstance(model, tr.Neural) or "device" not in inspect.signature(type(model)).parameters:
        model = model_of(rng)
    warnings.simplefilter("ignore")
    first, again = (digest_of(model.set_params(device="cuda"), data) for _ in range(2))
    if first != again:
        raise Difference(f"{model!r} gives other bits when it is fitted to a GPU again"[:300])
    return Seen("result", {f"{type(model).__name__}, twice": 1})
