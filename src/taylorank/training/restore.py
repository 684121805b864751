"""Between modules and arrays: what a fitted model keeps, and how modules come back from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from taylorank import losses
from taylorank.backbones import sequences
from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.training.build import Parts, build
from taylorank.training.device_ranking import DeviceRanking

if TYPE_CHECKING:
    from taylorank.training.neural import Neural

BLOCK = 1024  # histories encoded at a time
TREE_CELLS = 1 << 25  # log probabilities of a tree held at a time: several copies of them exist


def flat_weights(parts: Parts) -> NDArray[np.float32]:
    """Return all that was learned in one array."""
    return torch.cat([p.detach().flatten().float().cpu() for p in parts.parameters()]).numpy()


def set_weights(parameters: list[torch.nn.Parameter], weights: NDArray[np.float32]) -> None:
    """Write what `flat_weights` returned back into the modules; the last ones if there are more weights."""
    count = sum(p.numel() for p in parameters)
    values = torch.as_tensor(weights[len(weights) - count :])
    with torch.no_grad():
        for parameter, part in zip(parameters, torch.split(values, [p.numel() for p in parameters]), strict=True):
            parameter.copy_(part.view_as(parameter))


@torch.no_grad()
def vectors_of(
    parts: Parts, data: Interactions, histories: NDArray[np.int64] | None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return (users, items) whose inner product ranks; users without history get 0."""
    parts.backbone.eval()
    encoded = parts.backbone.encode_to_rank()
    if histories is not None:
        queries = encode_histories(parts, encoded, histories)
    else:
        device = next(parts.backbone.parameters()).device
        queries = encoded.queries(torch.arange(data.n_users, device=device))
    if parts.criterion.scoring == "tree":
        users, items = queries, parts.criterion.item_directions()
    else:
        users, items = parts.criterion.export(queries, encoded.items())
    rows: NDArray[np.float32] = users.float().cpu().numpy().copy()
    rows[data.by_user.row_lengths == 0] = 0
    columns: NDArray[np.float32] = items.float().cpu().numpy().copy()
    if parts.backbone.nameless_items is not None:
        columns[parts.backbone.nameless_items.cpu().numpy()] = 0
    return rows, columns


def histories_of(parts: Parts, data: Interactions) -> NDArray[np.int64] | None:
    """Return what a backbone over sequences reads of each user, (M, length); None for the others."""
    return sequences(data, parts.backbone.length) if parts.backbone.takes == "sequences" else None


def encode_histories(parts: Parts, encoded: Any, histories: NDArray[np.int64]) -> torch.Tensor:
    """Return the query of every history, that of its last place; (M, K)."""
    device = next(parts.backbone.parameters()).device
    blocks = torch.split(torch.as_tensor(histories), BLOCK)
    return torch.cat([encoded.queries(block.to(device))[:, -1] for block in blocks])


def tree_row_scores(model: Neural, rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return log probabilities of all items under a tree for rows of user vectors, (B, N)."""
    tree, device = tree_of(model)
    with torch.no_grad():
        scores: NDArray[np.float32] = tree.scores(torch.as_tensor(rows, device=device)).cpu().numpy()
    return scores


def device_ranking(model: Neural) -> DeviceRanking | None:
    """Return what ranks on the CUDA device that the model may use; None where there is none."""
    if model.device == "cpu" or not torch.cuda.is_available():
        return None
    if model.ranks_by_products:
        return DeviceRanking(model.item_factors)
    tree, _ = tree_of(model)
    return DeviceRanking(model.item_factors, score=tree.scores, block_cells=TREE_CELLS)


def tree_of(model: Neural) -> tuple[Any, str]:
    """Return the tree of items that a model learned, on its device; built once for one fit."""
    criterion = model.__dict__.get("_tree")
    device = "cuda" if model.device != "cpu" and torch.cuda.is_available() else "cpu"
    if criterion is None or criterion[0] is not model.weights_:
        built = losses.get(model.loss).criterion(
            n_users=len(model.users),
            n_items=len(model.items),
            factors=model.user_factors.shape[1],
            popularity=torch.as_tensor(model.item_popularity.astype(np.float32)),
            **{k: v for k, v in (model.options or {}).items() if k in losses.get(model.loss).options},
        )
        set_weights(list(built.parameters()), model.weights_)
        built.to(device)
        criterion = model.__dict__["_tree"] = (model.weights_, built)
    return criterion[1], device


class SequenceFoldIn:
    """The vectors of users from their histories, for a backbone that reads these (sasrec)."""

    def __init__(self, model: Neural) -> None:
        self.model = model

    def rows(self, histories: Interactions) -> NDArray[np.float32]:
        """Return the query of each history, (B, K)."""
        model = self.model
        parts = build(model, histories, device="cpu", popularity=model.item_popularity)
        of_backbone = list(parts.backbone.parameters())  # the criterion may have parameters per user, of other users
        set_weights(of_backbone, model.weights_[: sum(p.numel() for p in of_backbone)])
        return vectors_of(parts, histories, histories_of(parts, histories))[0]

    def contributions(self, history: Interactions, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Refuse: a network is not linear in the history."""
        raise ParameterError("Neural cannot explain its scores", "explain another model")
