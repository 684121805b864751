"""Every loss by its name, with all that is declared about it; torch is not needed to read it."""

from __future__ import annotations

from typing import Any

from taylorank.checks import check_name
from taylorank.losses.drawing import DRAWN
from taylorank.losses.loss import BOUNDED, Loss, Properties

Options = dict[str, Any]
CHUNK: Options = {"chunk_elements": None}
MOMENTS: Options = {"refresh": 1, "draws": 1024, "decay": 0.5, "query_decay": 0.0}
RG: Options = {"proposal_exponent": 0.6, "ranking": "probability", **MOMENTS}
FULL = "3 products B·N·K"
_LIST = (
    Loss(
        name="softmax",
        kind="exact",
        function_at="fenchel_young:softmax",
        criterion_at="build:softmax",
        formula="−o_y + log Σ_j exp(o_j)",
        reference="Bridle 1990",
        use="the first choice where all N scores are affordable",
        properties=Properties(order="strict", dcg="yes", jacobian=0.5, cost=FULL),
        options=CHUNK,
        scores_estimate="log-odds",
    ),
    Loss(
        name="sparsemax",
        kind="exact",
        function_at="fenchel_young:sparsemax",
        criterion_at="build:sparsemax",
        formula="−o_y + ½ Σ_{p_j>0} (o_j² − τ²) + ½,  p = [o − τ]₊",
        reference="Martins, Astudillo 2016",
        use="few items near the top should take all of the gradient",
        properties=Properties(order="weak", dcg="yes", jacobian=1.0, cost=f"{FULL} + ~6 passes"),
        options=CHUNK,
        default_penalties={"mf": 0.1, "lightgcn": 0.01},
    ),
    Loss(
        name="entmax",
        kind="exact",
        function_at="fenchel_young:entmax",
        criterion_at="build:entmax",
        formula="(p − e_y)·o + (1 − Σ_j p_j^α)/(α(α−1)),  p_j = [(α−1) o_j − τ]₊^(1/(α−1))",
        reference="Peters, Niculae, Martins 2019",
        use="between softmax (α → 1) and sparsemax (α = 2)",
        properties=Properties(
            order="weak", dcg="yes", jacobian="≤ 2^(α−2) for α ≤ 2, unbounded beyond", cost=f"{FULL} + ~6 passes"
        ),
        options={"alpha": 1.5, **CHUNK},
        default_penalties={"mf": 0.1, "lightgcn": 0.01},
    ),
    Loss(
        name="rankmax",
        kind="exact",
        function_at="rankmax:rankmax",
        criterion_at="build:rankmax",
        formula="log Σ_j [o_j − o_y + 1]₊",
        reference="Kong et al. 2020",
        use="only items that come within 1 of the positive should count",
        properties=Properties(order="weak", dcg="no: like items tie", cost=f"{FULL} + B·N·log(positives of a query)"),
        options=CHUNK,
    ),
    Loss(
        name="bce-all",
        kind="exact",
        function_at="one_versus_all:bce_all",
        criterion_at="build:bce_all",
        formula="−log σ(o_y) − (w/N) Σ_{j≠y} log σ(−o_j)",
        reference="one-versus-all; bce without draws",
        use="as bce, where all N scores are affordable",
        properties=Properties(order="strict", dcg="yes", jacobian=0.25, cost=FULL, shift_invariant=False),
        options={"negative_weight": 1.0, **CHUNK},
        default_penalties={"mf": 0.03},
    ),
    Loss(
        name="bsl",
        kind="exact",
        function_at="bilateral:bsl",
        criterion_at="build:bsl",
        formula="−o_y + w log Σ_j exp(o_j),  or −(1/a) log mean_{y'∈P} exp(a o_y') in the place of −o_y",
        reference="Wu et al. 2024",
        use="cosine scores: w sets how far all items are pushed off, a > 0 forgives odd positives",
        properties=Properties(
            order="strict", dcg="where the mean score is held", jacobian="½ w", cost=FULL, shift_invariant=False
        ),
        options={"negative_weight": 1.2, "positive_sharpness": 0.0, **CHUNK},
        default_temperature=0.1,
        temperatures=BOUNDED,
        options_to_search=tuple({"negative_weight": weight} for weight in (0.8, 1.0, 1.1, 1.2, 1.4)),
    ),
    Loss(
        name="sl-at-k",
        kind="exact",
        function_at="top_k_softmax:sl_at_k",
        criterion_at="build:sl_at_k",
        formula="σ((o_y − β)/t) (log Σ_j exp(o_j) − o_y),  β = the k-th highest o",
        reference="Yang et al. 2025 (SL@K)",
        use="only the first k places matter",
        properties=Properties(order="strict", dcg="not shown", cost=f"{FULL} + top k"),
        options={"k": 20, "weight_temperature": 10.0, **CHUNK},
        default_temperature=0.1,
        temperatures=BOUNDED,
        options_to_search=tuple({"weight_temperature": t} for t in (5.0, 10.0, 20.0)),
    ),
    Loss(
        name="rg2",
        kind="product",
        function_at="rg:rg2",
        criterion_at="build:rg2",
        formula="−o_y + q·o + ½ q·o²",
        reference="softmax to second order at o = 0",
        use="very many items: no negatives and no N-wide scores",
        properties=Properties(
            order="strict", dcg="yes, ranked by q(1 + o)", jacobian="max q", cost="(N + B)·K²", shift_invariant=False
        ),
        options=RG,
        scores_estimate="lifts",
        interaction=0.0,
        temperatures=(),
    ),
    Loss(
        name="rgx",
        kind="product",
        function_at="rg:rgx",
        criterion_at="build:rgx",
        formula="−o_y + q·o + ½ (q·o² − (q·o)²)",
        reference="softmax to second order at o = 0",
        use="as rg2, for encoders whose scores have a free offset per query",
        properties=Properties(order="strict", dcg="yes, ranked by q(1 + o − q·o)", jacobian="max q", cost="(N + B)·K²"),
        options=RG,
        scores_estimate="lifts",
        interaction=1.0,
        temperatures=(),
    ),
    Loss(
        name="bce-quadratic",
        kind="product",
        function_at="quadratic_background:bce_quadratic",
        criterion_at="build:bce_quadratic",
        formula="−log σ(o_y) + w Σ_j q_j (½ o_j² − r o_j)",
        reference="Yuan et al. 2021",
        use="very many items and a bounded pull of each positive; by Newton's method too",
        properties=Properties(
            order="strict", dcg="yes for uniform q", jacobian="¼ + w max q", cost="(N + B)·K²", shift_invariant=False
        ),
        options={
            "positive_loss": "logistic",
            "background_weight": 1.0,
            "background_target": 0.0,
            "proposal_exponent": 0.0,
        },
        default_penalties={},
        temperatures=(),
    ),
    *DRAWN,
    Loss(
        name="hsm",
        kind="structured",
        function_at="hierarchical:hsm",
        criterion_at="build:hsm",
        formula="Σ_{a on the path to y} log(1 + exp(−s_a u·w_a))",
        reference="Morin, Bengio 2005",
        use="probabilities that sum to 1, at log N per positive",
        properties=Properties(
            order="strict", dcg="yes, ranked by log p", jacobian=0.25, cost="P·K·log N", shift_invariant=False
        ),
        options={"tree": "huffman"},
        scoring="tree",
        has_parameters=True,
    ),
)
LOSSES = {loss.name: loss for loss in _LIST}


def names() -> list[str]:
    """Return the names of all losses.

    >>> names()[:3]
    ['softmax', 'sparsemax', 'entmax']
    """
    return list(LOSSES)


def loss_of(model: Any) -> Loss | None:
    """Return the loss that a model was trained with; None for a model that names none, such as a closed form."""
    name = getattr(model, "loss", None)
    return LOSSES.get(name) if isinstance(name, str) else None


def get(name: str) -> Loss:
    """Return the loss called `name`.

    >>> get("bpr").formula
    '−(1/n) Σ_j log σ(o_y − o_j)'
    """
    return check_name(name, LOSSES, "loss")
