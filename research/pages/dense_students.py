"""What was changed of a student on dense data, for docs/students.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from research.pages.tables import Table

Row = dict[str, Any]


def dense_text(parts: Mapping[str, Row]) -> str:
    """Return what each change gives on dense data."""
    found = {key.split("/")[1]: part["rows"] for key, part in parts.items() if key.startswith("dense/")}
    tables = [Table(["best NDCG@10 on validation data", *found], _dense_bests(found)).markdown()]
    for name, rows in found.items():
        cells = [[_what(row), str(row.get("factors", "–")), f"{row['ndcg@10']:.4f}"] for row in rows]
        tables.append(Table(["", "K", "NDCG@10"], cells, f"{name}, every change", folded=True).markdown())
    return "\n\n".join(tables) + "\n"


def _dense_bests(found: Mapping[str, list[Row]]) -> list[list[str]]:
    """The best value of each kind of model on each set."""

    def best_of(rows: list[Row], model: str, width: int | None) -> str:
        kind = [row for row in rows if _kind(row) == model and row.get("factors") == width]
        return f"{max(row['ndcg@10'] for row in kind):.4f}" if kind else "–"

    kinds = [
        ("RG²", 256),
        ("EASE", None),
        ("student, the base", 64),
        ("student, changed", 64),
        ("student, changed", 256),
    ]
    names = [model if width is None else f"{model}, K = {width}" for model, width in kinds]
    return [[name, *(best_of(rows, *kind) for rows in found.values())] for name, kind in zip(names, kinds, strict=True)]


def _kind(row: Row) -> str:
    if row["model"] != "student":
        return str(row["model"])
    return "student, changed" if row["change"] else "student, the base"


def _what(row: Row) -> str:
    if row["model"] == "EASE":
        return f"EASE, λ = {row['regularization']:g}"
    if row["model"] != "student":
        return str(row["model"])
    change = row["change"]
    if not change:
        return "student, the base"
    if "sharpness" in change and len(change) > 2:
        return "student, all together: " + ", ".join(
            f"{k} {v}" for k, v in change.items() if not k.startswith("teacher")
        )
    return "student, " + ", ".join(f"{name} {'N' if value == 10**6 else value}" for name, value in change.items())
