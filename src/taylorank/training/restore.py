"""Between modules and arrays: what a fitted model keeps, and how modules come back from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from taylorank import backbones, losses
from taylorank.backbones import sequences
from taylorank.data import CSR, Interactions
from taylorank.errors import ParameterError
from taylorank.models.histories import over_items
from taylorank.training.build import Parts, build
from taylorank.training.device_top_k import top_k_of

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
    """Return (users, items) whose inner product ranks; users without history get 0: nothing is known of them."""
    parts.backbone.eval()
    encoded = parts.backbone.encode()
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
    return rows, items.float().cpu().numpy().copy()


def histories_of(parts: Parts, data: Interactions) -> NDArray[np.int64] | None:
    """Return what a backbone over sequences reads of each user, (M, length); None for the others."""
    return sequences(data, parts.backbone.length) if parts.backbone.takes == "sequences" else None


def encode_histories(parts: Parts, encoded: Any, histories: NDArray[np.int64]) -> torch.Tensor:
    """Return the query of every history, that of its last place; (M, K)."""
    device = next(parts.backbone.parameters()).device
    blocks = torch.split(torch.as_tensor(histories), BLOCK)
    return torch.cat([encoded.queries(block.to(device))[:, -1] for block in blocks])


def tree_scores(model: Neural, users: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return log probabilities of all items under a tree, (len(users), N)."""
    tree, device = _tree_of(model)
    with torch.no_grad():
        queries = torch.as_tensor(model.user_factors[users], device=device)
        scores: NDArray[np.float32] = tree.scores(queries).cpu().numpy()
    return scores


def best_of_tree(
    model: Neural, users: NDArray[np.int64], *, k: int, seen: CSR | None, allowed: NDArray[np.bool_] | None
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
    """Return what `device_top_k.top_k_of` makes of the log probabilities under a tree."""
    tree, device = _tree_of(model)

    def scores(rows: slice) -> torch.Tensor:
        values: torch.Tensor = tree.scores(torch.as_tensor(model.user_factors[users[rows]], device=device))
        return values

    shape = (len(users), len(model.items))
    return top_k_of(scores, shape, k=k, seen=seen, allowed=allowed, block_cells=TREE_CELLS)


def _tree_of(model: Neural) -> tuple[Any, str]:
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


def folded_in(model: Neural, histories: Interactions) -> Any:
    """Return the model for other users, whose histories the backbone reads."""
    if backbones.get(model.backbone).takes != "sequences":
        raise ParameterError(
            f"{model.backbone} learns a vector per user by descent and cannot fold in",
            "fit again with the new users, or use sasrec or a closed-form model",
        )
    data = over_items(histories, model.items)
    parts = build(model, data, device="cpu", popularity=model.item_popularity)
    of_backbone = list(parts.backbone.parameters())  # the criterion may have parameters per user, of other users
    set_weights(of_backbone, model.weights_[: sum(p.numel() for p in of_backbone)])
    other = model._for_others(data)
    other.user_factors_, _ = vectors_of(parts, data, histories_of(parts, data))
    return other
