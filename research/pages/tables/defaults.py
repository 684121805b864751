"""Tables of how defaults were chosen, on validation data, and how they do beside others' defaults."""

from __future__ import annotations

from research.bench.quality.beside import IDEAS, verdict
from research.bench.quality.defaults import SETS as CHOSEN_ON
from research.bench.quality.defaults_beside import MODELS, found_in, means
from research.bench.quality.defaults_rules import in_words
from research.pages.tables import Record, Table, best


def rg2_defaults(record: Record) -> list[Table]:
    """Settings and thresholds by their share of the best, averaged over the sets."""
    names = list(record["sets"])
    rows = []
    for row in [*record["by density"][:3], *record["settings"]]:
        is_rule = "multiple" in row
        threshold = f"{row['multiple']:g} (√(M/n) + √(N/n))" if is_rule else f"{row['regularization']:g}"
        setting = [
            row["rank"].removeprefix("K "),
            f"{row['proposal_exponent']:g}",
            f"{row['context_exponent']:g}",
            threshold,
        ]
        rows.append([*setting, f"{100 * row['relative']:.1f} %", *(f"{row['ndcg@10'][name]:.4f}" for name in names)])
    head = ["K", "γ", "ρ", "τ/σ₁", "of the best", *names]
    return [Table(head[:5], [row[:5] for row in rows[:5]]), Table(head, rows, "All settings by set", folded=True)]


def defaults_larger(record: Record) -> list[Table]:
    """Mean share of the best by rank and discount, then the best of each set."""
    pairs = [key.split() for key in record["means"]]
    ranks, discounts = (sorted({pair[i] for pair in pairs}, key=float) for i in (0, 1))
    rows = [[f"K ≤ {k}", *(f"{100 * record['means'][f'{k} {d}']:.1f} %" for d in discounts)] for k in ranks]
    tops = []
    for name, found in record["sets"].items():
        top = max(found["ndcg@10"], key=lambda key: float(found["ndcg@10"][key]))
        tops.append([name, *top.split(), f"{found['ndcg@10'][top]:.4f}"])
    head = [f"mean of {len(record['sets'])} sets", *(f"δ {d}" for d in discounts)]
    return [Table(head, rows), Table(["set", "best K", "best δ", "NDCG@10"], tops, "The best of each set", folded=True)]


def defaults_rules(record: Record) -> list[Table]:
    """The best rule of each kind, and what the best on the others gives a set, with its standard error."""
    present, names, rows, each = record["rules"]["present"], list(record["sets"]), [], []
    for kind, row in record["rules"]["chosen among"].items():
        gamma, rho, discount = row["best"][:3]
        best_rule = f"γ {gamma:g}, ρ {rho:g}, δ {discount:g}, τ/σ₁ = {in_words(row['best'])}"
        gain = f"{100 * row['mean gain left out']:+.1f} ± {100 * row['standard error']:.1f} %".replace("-", "−")
        rows.append([kind, best_rule, f"{100 * row['relative']:.1f} %", gain])
        each.append([kind, *(f"{100 * value:+.1f} %".replace("-", "−") for value in row["left out"])])
    share = f"{100 * present['relative']:.1f} %"
    return [
        Table(
            ["chosen among rules with any", "the best", "of the best setting", "gain on sets left out"],
            [["(the default)", "–", share, "–"], *rows],
        ),
        Table(["gain on the set left out", *names], each, "Set by set", folded=True),
    ]


def defaults_beside(record: Record) -> list[Table]:
    """Test values of three defaults on each set, and their mean shares of the best."""
    shares = []
    others = tuple(name for name in record["sets"] if name not in CHOSEN_ON)
    for title, names in (("chosen on", CHOSEN_ON), ("others", others), ("all", tuple(record["sets"]))):
        share, count = means(record["sets"], names)
        if count:
            shares.append([f"{title} ({count} sets)", *(f"{100 * value:.1f} %" for value in share.values())])
    rows = []
    for name, row in record["sets"].items():
        values = best([(row.get(model) or {}).get("test") for model in MODELS])
        rows.append([name if name in CHOSEN_ON else f"{name} (had no say)", *values])
    return [
        Table(["mean share of the best", *MODELS], shares, found_in(record)),
        Table(["NDCG@10 on test data", *MODELS], rows),
    ]


def neural_defaults(record: Record) -> list[Table]:
    """Share of the best penalty, by composition."""
    rows = [[name, *(f"{100 * share:.0f} %" for share in shares)] for name, shares in record["relative"].items()]
    return [Table(["share of the best", *(f"λ = {penalty:g}" for penalty in record["penalties"])], rows)]


def run_grid(record: Record) -> list[Table]:
    """The values that were chosen for each parameter."""
    rows = []
    for name, found in record["models"].items():
        grid = "; ".join(f"{key} {', '.join(f'{v:g}' for v in values)}" for key, values in found["grid"].items())
        rows.append([name, grid, f"{found['reached']:.4f}"])
    return [Table(["model", "grid", "NDCG@10 on validation data"], rows)]


def beside(record: Record) -> list[Table]:
    """The gain of each idea over the base, by set."""
    names = list(record["sets"])
    base = {name: record["sets"][name]["base"]["ndcg@10"] for name in names}
    rows = [["base, NDCG@10", *(f"{base[name]:.4f}" for name in names), "–"]]
    for idea in list(IDEAS)[1:]:
        found = {name: record["sets"][name].get(idea, {}) for name in names}
        gains = {name: row["ndcg@10"] / base[name] - 1 for name, row in found.items() if "ndcg@10" in row}
        if gains:
            cells = [
                f"{100 * gains[name]:+.1f} % ({found[name]['setting']})".replace("-", "−") if name in gains else "–"
                for name in names
            ]
            rows.append([idea, *cells, verdict(list(gains.values()))])
    return [Table(["", *names, "verdict"], rows)]


TABLES = {
    "rg2-defaults": rg2_defaults,
    "rg2-defaults-larger": defaults_larger,
    "rg2-defaults-rules": defaults_rules,
    "defaults-beside": defaults_beside,
    "neural-defaults": neural_defaults,
    "run-grid": run_grid,
    "beside": beside,
}
