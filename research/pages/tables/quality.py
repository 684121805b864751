"""Tables of how models rank: on public splits, beside published rows, against rank, and as probabilities."""

from __future__ import annotations

from research.bench.quality.public_splits import SHOWN
from research.bench.quality.regression import TARGETS
from research.bench.quality.small_ratings import CALIBRATION, METRICS
from research.pages.tables import Record, Table, best


def public_splits(record: Record) -> list[Table]:
    """Ours beside the published rows of each set, best NDCG first; then what was chosen and how long it took."""
    tables, rows = [], []
    for name in dict.fromkeys(one["set"] for one in record["sets"]):
        found = [one for one in record["sets"] if one["set"] == name]
        values = {f"**RG², held back {one['held back']}**": [one["test"][key] for key in SHOWN] for one in found}
        values |= found[0]["published"]
        order = sorted(values, key=lambda model: -values[model][1])
        lines = [[model, *(f"{value:.4f}" for value in values[model])] for model in order]
        tables.append(Table([name.capitalize(), "recall@20", "NDCG@20"], lines))
    for one in record["sets"]:
        chosen = ", ".join(f"{key} {value}" for key, value in one["chosen"].items())
        total = f"{sum(one['seconds'].values()):.0f} s"
        rows.append([f"{one['set']}, held back {one['held back']}", chosen, f"{one['validation']:.4f}", total])
    return [
        *tables,
        Table(["", "chosen", "NDCG@20 on validation data", "in all"], rows, "What was chosen", folded=True),
    ]


def closed_form(record: Record) -> list[Table]:
    """Validation and test values by set, family and rank."""
    rows = [
        [
            name,
            row["family"],
            str(row["factors"]),
            *(f"{row[key]:.4f}" for key in ("validation ndcg@20", "recall@20", "ndcg@20")),
            f"{row['fit_seconds']:.0f} s",
        ]
        for name, found in record["search"].items()
        for row in found
    ]
    return [Table(["set", "model", "K", "validation NDCG@20", "recall@20", "NDCG@20", "a fit"], rows)]


def small_ratings(record: Record) -> list[Table]:
    """A row for each model, RecStudio's published one first."""
    columns = (*METRICS, CALIBRATION)
    rows = {"RecStudio's BPR, as published": record["recstudio"], **record["ours"]}
    cells = [[name, *(f"{row[key]:.4f}" if key in row else "–" for key in columns)] for name, row in rows.items()]
    return [Table(["", *columns], cells)]


def calibration(record: Record) -> list[Table]:
    """What is stated and what comes true, on average, then by fifths of p."""
    rows, fifths = [], []
    for row in record["rows"]:
        values = [f"{row[key]:.4f}" for key in ("stated", "true", "ece@20", "ndcg@20")]
        rows.append([row["data"], row["model"], *values])
        fifths.append([row["data"], row["model"], *(f"{p:.3f} → {true:.3f}" for p, true in row["bins"])])
    head = ["set", "model", "mean p stated", "share true", "ece@20", "NDCG@20"]
    numbers = ["lowest fifth of p", "second", "third", "fourth", "highest"]
    return [
        Table(head, rows, "The 20 best items of every user"),
        Table(["set", "model", *numbers], fifths, "Stated → true, by fifths of p", folded=True),
    ]


def rank_budget(record: Record) -> list[Table]:
    """Single fits by rank, then tuning within the same seconds."""
    names = list(dict.fromkeys(row["model"] for row in record["rows"]))
    ranks = [k for k in dict.fromkeys(row["K"] for row in record["rows"]) if k is not None]
    cells = {(row["model"], row["K"]): f"{row['test']:.4f}, {row['seconds']:.1f} s" for row in record["rows"]}
    fits = [[name, *(cells.get((name, k), cells.get((name, None), "–")) for k in ranks)] for name in names]
    tuned = [
        [
            f"{row['model']}, {row['allowed']:g} s",
            f"{row['fits']}",
            "–" if row["K"] is None else str(row["K"]),
            f"{row['seconds']:.1f} s",
            *(f"{row[part]:.4f}" for part in ("validation", "test")),
        ]
        for row in record["tuned"]
    ]
    return [
        Table(["NDCG@10 on test data, one fit", *(f"K = {k}" for k in ranks)], fits),
        Table(["tuned within", "fits", "K", "took", "validation NDCG@10", "test NDCG@10"], tuned),
    ]


def beyond_softmax(record: Record) -> list[Table]:
    """Ours and the published value of each loss."""
    rows = []
    for name, row in record["rows"].items():
        published = ["–", "–"] if row["published"] is None else [f"{value:.4f}" for value in row["published"]]
        options = {"temperature": row["chosen"].get("temperature"), **row["chosen"].get("options", {})}
        chosen = ", ".join(f"{key} {value}" for key, value in options.items() if value is not None)
        ours = [f"{row['test'][key]:.4f}" for key in ("recall@20", "ndcg@20")]
        rows.append([name, *ours, *published, chosen])
    head = ["", "recall@20", "NDCG@20", "published recall@20", "published NDCG@20", "chosen"]
    return [Table(head, rows)]


def printed_penalty(record: Record) -> list[Table]:
    """Scores and quality against both penalties."""
    head = ["penalty, λ", "rms score", "mean score of positives", "recall@20", "NDCG@20"]
    columns = ("rms score", "mean score of positives", "recall@20", "ndcg@20")
    tables = []
    for name, found in record["sets"].items():
        rows = [
            [f"{kind}, {row['λ']:.4g}", *(f"{row[key]:.{2 if 'mean' in key else 4}f}" for key in columns)]
            for kind in ("plain", "weighted")
            for row in found[kind]
        ]
        words = f"{name}: all factors are 0 from λ = {found['λ_max']:.4g} on, mean target {found['mean target']}"
        tables.append(Table(head, rows, words, folded=True))
    return tables


def regression(record: Record) -> list[Table]:
    """Quality and cost of the known settings."""
    rows = []
    for row in record["checks"]:
        cost = [f"{row['seconds']:.1f} s", str(row["passes"])] if "seconds" in row else ["–", "–"]
        values = [f"{row[key]:.4f}" for key in ("recall@20", "ndcg@20")]
        rows.append([row["what"], *values, *cost, TARGETS.get(row["what"], "–")])
    return [Table(["", "recall@20", "NDCG@20", "a fit", "passes", "target"], rows)]


def fit_best(record: Record) -> list[Table]:
    """`fit_best` beside its rivals on each set."""
    rivals = list(dict.fromkeys(rival for row in record["sets"].values() for rival in row.get("rivals", {})))
    rows = []
    for name, row in record["sets"].items():
        own = row.get("fit_best")
        first = ["–", "–"] if own is None else [own["chosen"], f"{own['seconds']:.0f} s"]
        tests = [None if own is None else own["test"]]
        tests += [row.get("rivals", {}).get(rival, {}).get("test") for rival in rivals]
        rows.append([name, *first, *best(tests), _gain(row["loss"])])
    return [Table(["NDCG@10", "chose", "in", "`fit_best`", *rivals, "against the best rival"], rows)]


def _gain(loss: float | None) -> str:
    if loss is None:
        return "–"
    return "level" if abs(loss) < 0.0005 else f"{-100 * loss:+.1f} %".replace("-", "−")


TABLES = {
    "public-splits": public_splits,
    "closed-form": closed_form,
    "small-ratings": small_ratings,
    "calibration": calibration,
    "rank-budget": rank_budget,
    "beyond-softmax": beyond_softmax,
    "printed-penalty": printed_penalty,
    "regression": regression,
    "fit-best": fit_best,
}
