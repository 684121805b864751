"""The penalty of a loss when nobody says, as `bench.neural_defaults` found it on validation data of several sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taylorank.training.neural import Neural

CONTRASTS = ("bpr", "bce")
SPARSE = ("sparsemax", "entmax")


def penalty_of(model: Neural) -> float:
    """Return λ for a model whose regularization is "auto".

    Inner products on plain factors fit the training data as closely as one lets them: they need a penalty. A graph
    smooths already, cosines are bounded, distances lie in a ball; what is trained by Newton's method has the λ of RG2.

    >>> from taylorank.training import Neural
    >>> [penalty_of(Neural(loss)) for loss in ("softmax", "bpr")], penalty_of(Neural("softmax", temperature=0.2))
    ([0.1, 0.03], 0.0)
    """
    if model.temperature is not None or model.loss == "sml" or model.optimizer == "newton":
        return 0.0
    if model.backbone == "lightgcn":
        return 0.01 if model.loss in SPARSE else 0.0
    if model.backbone != "mf":
        return 0.0
    return 0.03 if model.loss in CONTRASTS else 0.1
