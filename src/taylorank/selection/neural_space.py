"""Where to search for a composition of loss, backbone and sampler; which parameters matter depends on the loss."""

from __future__ import annotations

from taylorank import losses, samplers
from taylorank.selection.space import Choice, Range, Space
from taylorank.training import Neural

FEWEST_EPOCHS = 8  # an eighth of the model's epochs is the least that is tried


def neural_space(model: Neural) -> Space:
    """Return what tuning tries for `model` when nobody says; a model that has options keeps its own.

    >>> list(neural_space(Neural("sml")))
    ['learning_rate', 'regularization', 'epochs', 'negatives']
    """
    loss = losses.get(model.loss)
    space: dict[str, Range | Choice] = {
        "learning_rate": Range(1e-3, 0.1, log=True),
        "regularization": Range(1e-5, 0.3, log=True),
    }
    if model.optimizer == "newton":  # which has no rate
        del space["learning_rate"]
    elif model.epochs >= FEWEST_EPOCHS:  # to stop in time without a schedule cut short
        space["epochs"] = Range(model.epochs // FEWEST_EPOCHS, model.epochs, log=True, integer=True)
    if loss.temperatures:
        space["temperature"] = Choice(loss.temperatures)
    if loss.draws and (model.sampler is None or samplers.get(model.sampler).takes_count):
        space["negatives"] = Choice((8, 32, 128))
    if loss.options_to_search and not model.options:
        space["options"] = Choice(loss.options_to_search)
    return space
