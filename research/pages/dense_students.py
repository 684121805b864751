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

    def best_of(rows: list[Row], model: str, width: int | None, *, is_base: bool) -> str:
        of_width = [row for row in rows if row["model"] == model and row.get("factors") == width]
        values = [row["ndcg@10"] for row in of_width if not (is_base and row["change"])]
        return f"{max(values):.4f}" if values else "–"

    kinds = {
        "RG², K = 256": ("RG²", 256, False),
        "EASE": ("EASE", None, False),
        "student, the base, K = 64": ("student", 64, True),
        **{f"student, the best, K = {width}": ("student", width, False) for width in (64, 256, 512)},
    }
    return [
        [name, *(best_of(rows, model, width, is_base=is_base) for rows in found.values())]
        for name, (model, width, is_base) in kinds.items()
    ]


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
