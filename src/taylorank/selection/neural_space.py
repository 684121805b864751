"""Where to search for a composition of loss, backbone and sampler; which parameters matter depends on the loss."""

from __future__ import annotations

from taylorank.selection.space import Choice, Range, Space
from taylorank.training import Neural

WITHOUT_COSINE = ("rg2", "rgx", "sml")  # lifts and distances have a scale of their own
FEWEST_EPOCHS = 8  # an eighth of the model's epochs is the least that is tried
OVER_ALL_ITEMS = ("softmax", "sparsemax", "entmax", "rankmax", "rg2", "rgx", "hsm")
TEMPERATURES = (None, 0.07, 0.1, 0.15, 0.2, 0.3)
# Weights of negatives decide more for these than anything else; a model that has options keeps its own.
OPTIONS = {
    "uib": Choice(tuple({"negative_weight": weight} for weight in (1.0, 4.0, 16.0))),
    "ccl": Choice(tuple({"negative_weight": w, "margin": m} for w in (3.0, 30.0, 300.0) for m in (0.4, 0.8))),
}
OF_CCL = (0.3, 1.0)  # its margins are made for cosines; without a bound on the scores it has no minimum


def neural_space(model: Neural) -> Space:
    """Return what tuning tries for `model` when nobody says.

    >>> list(neural_space(Neural("sml")))
    ['learning_rate', 'regularization', 'epochs', 'negatives']
    """
    space: dict[str, Range | Choice] = {
        "learning_rate": Range(1e-3, 0.1, log=True),
        "regularization": Range(1e-5, 0.3, log=True),
    }
    if model.optimizer == "newton":  # which has no rate
        del space["learning_rate"]
    elif model.epochs >= FEWEST_EPOCHS:  # to stop in time without a schedule cut short
        space["epochs"] = Range(model.epochs // FEWEST_EPOCHS, model.epochs, log=True, integer=True)
    if model.loss not in WITHOUT_COSINE:
        space["temperature"] = Choice(OF_CCL if model.loss == "ccl" else TEMPERATURES)
    if model.loss not in OVER_ALL_ITEMS and model.sampler != "in-batch":
        space["negatives"] = Choice((8, 32, 128))
    if model.loss in OPTIONS and not model.options:
        space["options"] = OPTIONS[model.loss]
    return space
