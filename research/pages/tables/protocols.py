"""Tables about how models are judged: seeds, tests of significance, the public splits."""

from __future__ import annotations

from research.bench.quality.split_order import PLACES
from research.pages.tables import Record, Table


def seed_agreement(record: Record) -> list[Table]:
    """Share of lists that two seeds have in common, by tolerance."""
    rows = []
    for row in record["results"]:
        is_default = " (default)" if row["tolerance"] == record["default"] else ""
        shares = [f"{100 * row['same']:.2f} % of {row['users']:,}", f"{100 * row['common']:.1f} %"]
        values = " and ".join(f"{value:.4f}" for value in row["ndcg@10"])
        rows.append([row["data"], f"{row['tolerance']:g}{is_default}", *shares, values, str(row["passes"][0])])
    head = ["data", "tolerance", "the same ten in the same order", "items in common", "NDCG@10", "passes"]
    default = [row for row in rows if "default" in row[1]]
    return [Table(head, default), Table(head, rows, "Every tolerance", folded=True)]


def significance_size(record: Record) -> list[Table]:
    """How often equal models are marked, and worse ones found."""
    rows = []
    for row in record["cases"]:
        marked, found = row["false"], row.get("found")
        shares = [f"{100 * marked[kind]:.1f} %" for kind in ("holm", "all_pairs")]
        power = [f"{100 * found[kind]:.0f} %" if found else "–" for kind in ("holm", "all_pairs")]
        rows.append([row["case"], *shares, *power])
    head = ["models", "equal, marked: Holm", "all pairs", "worse, found: Holm", "all pairs"]
    return [Table(head, rows)]


def split_order(record: Record) -> list[Table]:
    """Variation of item shares, then likeness along the lines."""
    shares, lines, new = [], [], []
    for name, row in record["sets"].items():
        popular = row["z_variance"]["popular"]
        shown = "–" if popular is None else f"{popular}"
        shares.append([name, f"{row['z_variance']['all']}", shown, f"{row['z_variance_of_a_random_split']['all']}"])
        if "along_the_line" in row:
            lines.append([name, *(f"{row['along_the_line'][place]:.3f}" for place in PLACES)])
        items = row["new_items"]
        if items["users"]:
            gap = f"{items['difference']:.4f} ± {items['standard_error']:.4f}"
            new.append([name, f"{items['first']:.4f}", f"{items['last']:.4f}", gap, f"{items['users']:,}"])
    return [
        Table(["z-variance of item shares", "all items", "popular ones", "a random split"], shares),
        Table(["likeness to the user's test items, by place", *PLACES], lines),
        Table(["of items that no line before has", "first", "last", "difference", "users"], new),
    ]


TABLES = {"seed-agreement": seed_agreement, "significance-size": significance_size, "split-order": split_order}
