"""Wrong types and extreme values for every parameter: of models, of what users call, of the commands' options.

What comes of it is a result or one line; a value of a type that the parameter does not have is never taken.
"""

from __future__ import annotations

import inspect
import random
from pathlib import Path
from typing import get_type_hints

import numpy as np

import taylorank as tr
from research.attack import Difference, arguments, options
from research.attack.values import VALUES, fits, said
from taylorank.registry import MODELS

SMALL = {"factors": 3, "iterations": 2, "epochs": 1, "neighbours": 5, "tolerance": 1e-2}


def attack(seed: int, folder: Path) -> str:
    """Try one value of one parameter, of a model, of a function or of a command."""
    rng = random.Random(seed)
    part = rng.choice((_model, arguments.attack, options.attack))
    return part(rng, folder)


def _model(rng: random.Random, folder: Path) -> str:
    data = tr.planted(30, 20, interactions=200, random_state=0)
    name = rng.choice(tuple(MODELS))
    hints = get_type_hints(MODELS[name].__init__)
    known = inspect.signature(MODELS[name]).parameters
    if not known:
        return "result"
    chosen, value = rng.choice(tuple(known)), rng.choice(VALUES)
    if chosen == "compile" and value is True:  # it takes a minute
        return "result"
    given = {key: small for key, small in SMALL.items() if key in known}
    if name == "ease" and rng.random() < 0.5:
        del given["neighbours"]  # all items
    model = MODELS[name](**{**given, chosen: value}).fit(data)
    ids, scores = model.recommend(data.user_ids[:5], n=4)
    if ids.shape != (5, 4) or not np.isfinite(scores[ids >= 0]).all():
        raise Difference(f"{name}({chosen}={said(value)}) gives scores that are no numbers")
    if not fits(value, hints[chosen]):
        raise Difference(f"{name}({chosen}={said(value)}) is taken")
    return "result"
