"""Every loss by its name."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torch import Tensor

from taylorank.checks import check_number, check_whole
from taylorank.errors import ParameterError
from taylorank.losses.criterion import BoundaryCriterion, Criterion, ExactCriterion, SampledCriterion
from taylorank.losses.exact import RowLoss
from taylorank.losses.fenchel_young import SOFTMAX, SPARSEMAX, entmax, entmax_loss, softmax, sparsemax
from taylorank.losses.hierarchical import TreeCriterion, hsm
from taylorank.losses.loss import Loss, Properties, Sizes
from taylorank.losses.metric import sml
from taylorank.losses.metric_criterion import MetricCriterion
from taylorank.losses.pairwise import bpr, hinge
from taylorank.losses.pointwise import PENALTIES, bce, ccl, uib
from taylorank.losses.rankmax import RANKMAX, rankmax
from taylorank.losses.refresh import rg_criterion
from taylorank.losses.rg import rg2, rg2_background, rgx, rgx_background
from taylorank.losses.sampled_softmax import nce, sampled_softmax, sampled_softmax_all, sampled_softmax_negatives
from taylorank.losses.tree import build_tree

Options = dict[str, Any]


def _exact(choose: Callable[[Options], RowLoss]) -> Callable[[Sizes, Options], Criterion]:
    def build(sizes: Sizes, options: Options) -> Criterion:
        chunk = options["chunk_elements"]
        return ExactCriterion(choose(options), chunk if chunk is None else check_whole(chunk, "chunk_elements"))

    return build


def _sampled(function: Callable[..., Tensor], log_q: str = "none") -> Callable[[Sizes, Options], Criterion]:
    def build(sizes: Sizes, options: Options) -> Criterion:
        known = {"n_items": sizes.n_items} if log_q == "optional" else {}
        return SampledCriterion(function, log_q=log_q, options={**_numbers(options), **known})

    return build


def _numbers(options: Options) -> Options:
    """Weights and margins are numbers ≥ 0."""
    return {k: v if isinstance(v, str) else check_number(v, k, least=0.0) for k, v in options.items()}


def _nce(sizes: Sizes, options: Options) -> Criterion:
    given = options["log_normalizer"]
    value = math.log(sizes.n_items) if given is None else check_number(given, "log_normalizer")
    return SampledCriterion(nce, log_q="all", options={"log_normalizer": value})


def _uib(sizes: Sizes, options: Options) -> Criterion:
    if options["penalty"] not in PENALTIES:
        raise ParameterError(f"penalty={options['penalty']!r} is unknown", f"choose from {', '.join(PENALTIES)}")
    return BoundaryCriterion(uib, factors=sizes.factors, options=_numbers(options))


def _sml(sizes: Sizes, options: Options) -> Criterion:
    others = _numbers({k: v for k, v in options.items() if k != "limit"})
    return MetricCriterion(n_users=sizes.n_users, n_items=sizes.n_items, limit=options["limit"], options=others)


def _hsm(sizes: Sizes, options: Options) -> Criterion:
    counts = None if sizes.popularity is None else sizes.popularity.double().cpu().numpy()
    return TreeCriterion(build_tree(options["tree"], counts, sizes.n_items), sizes.factors)


CHUNK: Options = {"chunk_elements": None}
RG: Options = {"proposal_exponent": 0.6, "ranking": "probability", "refresh": 1} | {
    "draws": 1024,
    "decay": 0.5,
    "query_decay": 0.0,
}
FULL = "3 products B·N·K"
DRAWS = "P·n·K"
_LIST = (
    Loss(
        name="softmax",
        kind="exact",
        function=softmax,
        formula="−o_y + log Σ_j exp(o_j)",
        reference="Bridle 1990",
        use="the first choice where all N scores are affordable",
        properties=Properties(order="strict", dcg="yes", jacobian=0.5, cost=FULL),
        build=_exact(lambda options: SOFTMAX),
        options=CHUNK,
    ),
    Loss(
        name="sparsemax",
        kind="exact",
        function=sparsemax,
        formula="−o_y + ½ Σ_{p_j>0} (o_j² − τ²) + ½,  p = [o − τ]₊",
        reference="Martins, Astudillo 2016",
        use="few items near the top should take all of the gradient",
        properties=Properties(
            order="weak", dcg="yes, but for items of probability 0", jacobian=1.0, cost=f"{FULL} + ~6 passes"
        ),
        build=_exact(lambda options: SPARSEMAX),
        options=CHUNK,
    ),
    Loss(
        name="entmax",
        kind="exact",
        function=entmax,
        formula="(p − e_y)·o + (1 − Σ_j p_j^α)/(α(α−1)),  p_j = [(α−1) o_j − τ]₊^(1/(α−1))",
        reference="Peters, Niculae, Martins 2019",
        use="between softmax (α → 1) and sparsemax (α = 2)",
        properties=Properties(
            order="weak", dcg="yes, but for items of probability 0", jacobian=2**-0.5, cost=f"{FULL} + ~6 passes"
        ),
        build=_exact(lambda options: entmax_loss(options["alpha"])),
        options={"alpha": 1.5, **CHUNK},
    ),
    Loss(
        name="rankmax",
        kind="exact",
        function=rankmax,
        formula="log Σ_j [o_j − o_y + 1]₊",
        reference="Kong et al. 2020",
        use="only items that come within 1 of the positive should count",
        properties=Properties(order="weak", dcg="no: like items tie", cost=f"{FULL} + B·N·log(positives of a query)"),
        build=_exact(lambda options: RANKMAX),
        options=CHUNK,
    ),
    Loss(
        name="rg2",
        kind="product",
        function=rg2,
        formula="−o_y + q·o + ½ q·o²",
        reference="softmax to second order at o = 0",
        use="very many items: no negatives and no N-wide scores",
        properties=Properties(
            order="strict", dcg="yes, ranked by q(1 + o)", jacobian="max q", cost="(N + B)·K²", shift_invariant=False
        ),
        build=rg_criterion(rg2_background),
        options=RG,
    ),
    Loss(
        name="rgx",
        kind="product",
        function=rgx,
        formula="−o_y + q·o + ½ (q·o² − (q·o)²)",
        reference="softmax to second order at o = 0",
        use="as rg2, for encoders whose scores have a free offset per query",
        properties=Properties(order="strict", dcg="yes, ranked by q(1 + o − q·o)", jacobian="max q", cost="(N + B)·K²"),
        build=rg_criterion(rgx_background),
        options=RG,
    ),
    Loss(
        name="sampled-softmax",
        kind="sampled",
        function=sampled_softmax,
        formula="−o_y + log(e^o_y + Σ_j e^o_j/(N q_j))",
        reference="Bengio, Senécal 2008",
        use="the plain form; in doubt with uniform draws, this one",
        properties=Properties(order="strict", dcg="yes for uniform q; else as n → ∞", jacobian=0.5, cost=DRAWS),
        build=_sampled(sampled_softmax, "optional"),
    ),
    Loss(
        name="sampled-softmax-all",
        kind="sampled",
        function=sampled_softmax_all,
        formula="−s_y + log(e^s_y + Σ_j e^s_j),  s = o − log(n q)",
        reference="Yi et al. 2019",
        use="draws by popularity, or in-batch",
        properties=Properties(order="strict", dcg="yes, for every n and q", jacobian=0.5, cost=DRAWS),
        build=_sampled(sampled_softmax_all, "all"),
    ),
    Loss(
        name="sampled-softmax-negatives",
        kind="sampled",
        function=sampled_softmax_negatives,
        formula="−o_y + log(e^o_y + Σ_j e^o_j/(n q_j))",
        reference="a common reading of the two above",
        use="to reproduce others; its limit is softmax with the positive counted twice",
        properties=Properties(order="strict", dcg="yes, as n → ∞", jacobian=0.5, cost=DRAWS),
        build=_sampled(sampled_softmax_negatives, "negatives"),
    ),
    Loss(
        name="nce",
        kind="sampled",
        function=nce,
        formula="−log σ(s_y − log(n q_y)) − Σ_j log σ(log(n q_j) − s_j), s = o − log Z, by default Z = N",
        reference="Gutmann, Hyvärinen 2012",
        use="scores that are to be log probabilities",
        properties=Properties(
            order="strict", dcg="yes, for every n and q", jacobian=0.25, cost=DRAWS, shift_invariant=False
        ),
        build=_nce,
        options={"log_normalizer": None},
    ),
    Loss(
        name="bpr",
        kind="sampled",
        function=bpr,
        formula="−(1/n) Σ_j log σ(o_y − o_j)",
        reference="Rendle et al. 2009",
        use="the classic baseline",
        properties=Properties(
            order="strict", dcg="yes for uniform q that may hit positives", jacobian=0.25, cost=DRAWS
        ),
        build=_sampled(bpr),
    ),
    Loss(
        name="bce",
        kind="sampled",
        function=bce,
        formula="−log σ(o_y) − (w/n) Σ_j log σ(−o_j)",
        reference="He et al. 2017",
        use="a probability of interaction, item by item",
        properties=Properties(
            order="strict", dcg="yes for uniform q", jacobian=0.25, cost=DRAWS, shift_invariant=False
        ),
        build=_sampled(bce),
        options={"negative_weight": 1.0},
    ),
    Loss(
        name="ccl",
        kind="sampled",
        function=ccl,
        formula="1 − o_y + (w/n) Σ_j [o_j − margin]₊",
        reference="Mao et al. 2021 (SimpleX)",
        use="cosine scores and many draws",
        properties=Properties(order="none", dcg="no", cost=DRAWS, shift_invariant=False),
        build=_sampled(ccl),
        options={"margin": 0.8, "negative_weight": 100.0},
        needs_bounded_scores=True,
    ),
    Loss(
        name="hinge",
        kind="sampled",
        function=hinge,
        formula="(1/n) Σ_j [margin − o_y + o_j]₊",
        reference="Weston et al. 2011",
        use="a margin is wanted, and no more than it",
        properties=Properties(order="weak", dcg="no", cost=DRAWS),
        build=_sampled(hinge),
        options={"margin": 1.0},
    ),
    Loss(
        name="uib",
        kind="sampled",
        function=uib,
        formula="φ(b_u − o_y) + (w/n) Σ_j φ(o_j − b_u),  b_u = w·u learned",
        reference="Zhuo et al. 2022",
        use="one threshold per user says what to show",
        properties=Properties(order="weak", dcg="no", cost=DRAWS),
        build=_uib,
        options={"penalty": "margin", "margin": 1.0, "negative_weight": 1.0},
    ),
    Loss(
        name="sml",
        kind="sampled",
        function=sml,
        formula="(1/n) Σ_j [d_uy − d_uj + m_u]₊ − γ m_u + λ{(1/n) Σ_j [d_uy − d_yj + n_y]₊ − γ n_y}",
        reference="Li et al. 2020",
        use="distances must mean something, between items too",
        properties=Properties(order="weak", dcg="no", cost=f"2 {DRAWS}"),
        build=_sml,
        options={"item_weight": 1.0, "reward": 0.3, "limit": 1.0},
    ),
    Loss(
        name="hsm",
        kind="structured",
        function=hsm,
        formula="Σ_{a on the path to y} log(1 + exp(−s_a u·w_a))",
        reference="Morin, Bengio 2005",
        use="probabilities that sum to 1, at log N per positive",
        properties=Properties(
            order="strict", dcg="yes, ranked by log p", jacobian=0.25, cost="P·K·log N", shift_invariant=False
        ),
        build=_hsm,
        options={"tree": "huffman"},
    ),
)
LOSSES = {loss.name: loss for loss in _LIST}


def names() -> list[str]:
    """Return the names of all losses.

    >>> names()[:3]
    ['softmax', 'sparsemax', 'entmax']
    """
    return list(LOSSES)


def get(name: str) -> Loss:
    """Return the loss called `name`.

    >>> get("bpr").formula
    '−(1/n) Σ_j log σ(o_y − o_j)'
    """
    try:
        return LOSSES[name]
    except (KeyError, TypeError):  # a list is no key
        raise ParameterError(f"no loss is called {name!r}", f"choose from {', '.join(LOSSES)}") from None
