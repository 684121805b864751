"""RG² by Adam in batches of users, on exactly the objective of the closed form, its penalty included."""

from __future__ import annotations

import time
from typing import Any

import torch

from research.bench.optimisers.curves import Curve, Measure
from taylorank import losses
from taylorank.backbones import MF
from taylorank.training.feeds import UserFeed, pair_weights
from taylorank.training.run import chosen_device

DEFAULTS = {"learning_rate": 0.01, "batch_size": 512}


def adam(measure: Measure) -> Curve:
    """Minimise L / C: each batch has the users' penalty by their weights and the items' whole one.

    `Neural` penalises the items of a batch by how often they occur, which is another objective unless q is popularity.
    """
    study, closed = measure.study, measure.model
    settings = {**DEFAULTS, **study.params.get("adam", {})}
    device = chosen_device(study.device)
    generator = torch.Generator().manual_seed(study.seed)
    backbone = MF(
        n_users=study.train.n_users, n_items=study.train.n_items, factors=study.factors, generator=generator
    ).to(device)
    popularity = torch.tensor(closed.item_popularity, dtype=torch.float32)
    criterion = losses.get("rg2").criterion(
        n_users=study.train.n_users,
        n_items=study.train.n_items,
        factors=study.factors,
        popularity=popularity,
        proposal_exponent=closed.proposal_exponent,
    )
    criterion.to(device)
    weights = pair_weights(study.train, closed.context_exponent)
    feed = UserFeed(study.train, weights=weights, batch_size=int(settings["batch_size"]), device=device)
    optimizer = torch.optim.Adam(backbone.parameters(), lr=float(settings["learning_rate"]), fused=True)
    order = torch.Generator(device).manual_seed(study.seed)
    curve: Curve = []
    seconds = 0.0
    for step in range(1, study.epochs + 1):
        began = time.perf_counter()
        for batch in feed.batches(order):
            optimizer.zero_grad(set_to_none=True)
            _loss(backbone, criterion, batch, measure.penalty).backward()
            optimizer.step()
        if device == "cuda":
            torch.cuda.synchronize()
        seconds += time.perf_counter() - began
        P, Q = (table.detach().cpu().numpy() for table in (backbone.user_factors, backbone.item_factors))
        curve.append(measure.point(step, seconds, P.copy(), Q.copy()))
    return curve


def _loss(backbone: MF, criterion: Any, batch: Any, penalty: float) -> Any:
    encoded = backbone.encode()
    queries, items = encoded.queries(batch.contexts), encoded.items()
    weights = torch.zeros_like(queries[:, 0]).index_add(0, batch.positives.rows, batch.positives.weights)  # c_x
    value = criterion(queries, items, batch.positives) + 0.5 * penalty * (weights @ queries.square().sum(1))
    return value / batch.scale + 0.5 * penalty * (criterion.proposal @ items.square().sum(1))
