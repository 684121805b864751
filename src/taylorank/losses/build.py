"""How the criterion of each loss is built from its options; `losses.registry` says which of these a loss has."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torch import Tensor

from taylorank.checks import check_name, check_number, check_whole
from taylorank.errors import ParameterError
from taylorank.losses.bilateral import bilateral_loss
from taylorank.losses.criterion import (
    BoundaryCriterion,
    Criterion,
    ExactCriterion,
    ProductCriterion,
    SampledCriterion,
)
from taylorank.losses.exact import RowLoss
from taylorank.losses.fenchel_young import SOFTMAX, SPARSEMAX, entmax_loss
from taylorank.losses.hierarchical import TreeCriterion
from taylorank.losses.loss import Loss, Sizes
from taylorank.losses.metric_criterion import MetricCriterion
from taylorank.losses.one_versus_all import OneVersusAll
from taylorank.losses.pairwise_softmax import ACTIVATIONS
from taylorank.losses.pointwise import PENALTIES
from taylorank.losses.quadratic_background import POSITIVE_LOSSES, QuadraticBackgroundCriterion
from taylorank.losses.rankmax import RANKMAX
from taylorank.losses.refresh import RefreshCriterion
from taylorank.losses.rg import proposal_from, rg2_background, rgx_background
from taylorank.losses.top_k_softmax import top_k_loss
from taylorank.losses.tree import build_tree

Options = dict[str, Any]


def softmax(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """All scores of a query, some queries at a time."""
    return _exact(SOFTMAX, options)


def sparsemax(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """As softmax."""
    return _exact(SPARSEMAX, options)


def entmax(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """As softmax; `alpha` chooses the entropy."""
    return _exact(entmax_loss(options["alpha"]), options)


def rankmax(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """As softmax."""
    return _exact(RANKMAX, options)


def bce_all(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """As softmax; `negative_weight` is that of all items together."""
    return _exact(OneVersusAll(check_number(options["negative_weight"], "negative_weight", least=0)), options)


def bsl(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """As softmax; `negative_weight` is that of the normaliser, `positive_sharpness` pools the positives of a query."""
    return _exact(bilateral_loss(options["negative_weight"], options["positive_sharpness"]), options)


def sl_at_k(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """As softmax; `k` places, and how softly they end."""
    return _exact(top_k_loss(options["k"], options["weight_temperature"]), options)


def rg2(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """Moments of all items, exact or kept from step to step."""
    return _moments(rg2_background, sizes, options)


def rgx(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """As RG²."""
    return _moments(rgx_background, sizes, options)


def bce_quadratic(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """As RG² with exact moments, and any loss on the positives."""
    proposal = _proposal(sizes, options)
    check_name(options["positive_loss"], POSITIVE_LOSSES, "positive_loss")
    check_number(options["background_weight"], "background_weight", least=0)
    check_number(options["background_target"], "background_target")
    return QuadraticBackgroundCriterion(proposal, {k: v for k, v in options.items() if k != "proposal_exponent"})


def sampled(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """The positive's score and those of the draws; without log q, a uniform q needs N."""
    known = {"n_items": sizes.n_items} if loss.log_q == "optional" else {}
    return SampledCriterion(loss.function, log_q=loss.log_q, options={**_numbers(options), **known})


def nce(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """As sampled; log Z is log N unless given."""
    given = options["log_normalizer"]
    value = math.log(sizes.n_items) if given is None else check_number(given, "log_normalizer")
    return SampledCriterion(loss.function, log_q=loss.log_q, options={"log_normalizer": value})


def psl(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """As sampled; `activation` in the place of the exponential."""
    check_name(options["activation"], ACTIVATIONS, "activation")
    return sampled(loss, sizes, options)


def uib(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """As sampled, with a boundary that is learned."""
    if options["penalty"] not in PENALTIES:
        raise ParameterError(f"penalty={options['penalty']!r} is unknown", f"choose from {', '.join(PENALTIES)}")
    return BoundaryCriterion(loss.function, factors=sizes.factors, options=_numbers(options))


def sml(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """Distances, with margins that are learned."""
    others = _numbers({k: v for k, v in options.items() if k != "limit"})
    return MetricCriterion(n_users=sizes.n_users, n_items=sizes.n_items, limit=options["limit"], options=others)


def hsm(loss: Loss, sizes: Sizes, options: Options) -> Criterion:
    """A tree over the items, whose nodes have the vectors."""
    counts = None if sizes.popularity is None else sizes.popularity.double().cpu().numpy()
    return TreeCriterion(build_tree(options["tree"], counts, sizes.n_items), sizes.factors)


def _exact(row_loss: RowLoss, options: Options) -> Criterion:
    chunk = options["chunk_elements"]
    return ExactCriterion(row_loss, chunk if chunk is None else check_whole(chunk, "chunk_elements"))


def _moments(background: Callable[..., Tensor], sizes: Sizes, options: Options) -> Criterion:
    proposal = _proposal(sizes, options)
    kept = {name: options[name] for name in ("refresh", "draws", "decay", "query_decay")}
    with_kept = RefreshCriterion(background, proposal, options["ranking"], factors=sizes.factors, **kept)
    return ProductCriterion(background, proposal, options["ranking"]) if with_kept.refresh == 1 else with_kept


def _proposal(sizes: Sizes, options: Options) -> Tensor:
    if sizes.popularity is None:
        raise ParameterError("the proposal is made of the items' popularity", "pass popularity=, counts (N,)")
    return proposal_from(sizes.popularity, options["proposal_exponent"])


def _numbers(options: Options) -> Options:
    """Weights and margins are numbers ≥ 0."""
    return {k: v if isinstance(v, str) else check_number(v, k, least=0.0) for k, v in options.items()}
