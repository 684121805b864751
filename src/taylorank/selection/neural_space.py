"""Where to search for a composition of loss, backbone and sampler; which parameters matter depends on the loss."""

from __future__ import annotations

from taylorank.selection.space import Choice, Range, Space
from taylorank.training import Neural

WITHOUT_COSINE = ("rg2", "rgx", "sml")  # lifts and distances have a scale of their own
ONLY_COSINE = ("ccl",)  # without a bound on the scores it has no minimum
OVER_ALL_ITEMS = ("softmax", "sparsemax", "entmax", "rankmax", "rg2", "rgx", "hsm")

TEMPERATURES = (0.07, 0.1, 0.15, 0.2, 0.3)


def neural_space(model: Neural) -> Space:
    """Return what tuning tries for `model` when nobody says.

    >>> list(neural_space(Neural("sml")))
    ['learning_rate', 'regularization', 'negatives']
    """
    space: dict[str, Range | Choice] = {
        "learning_rate": Range(1e-3, 0.1, log=True),
        "regularization": Range(1e-5, 0.3, log=True),
    }
    if model.optimizer == "newton":  # which has no rate
        del space["learning_rate"]
    if model.loss not in WITHOUT_COSINE:
        space["temperature"] = Choice((*(() if model.loss in ONLY_COSINE else (None,)), *TEMPERATURES))
    if model.loss not in OVER_ALL_ITEMS and model.sampler != "in-batch":
        space["negatives"] = Choice((8, 32, 128))
    return space
