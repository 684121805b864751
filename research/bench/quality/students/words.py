"""What the study found, in words."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]


def describe(record: Row) -> list[str]:
    """Describe the results part by part."""
    lines = []
    for key, part in record["parts"].items():
        if "error" in part:
            lines.append(f"{key}: failed: {part['error']}")
        lines += [f"{key}: {line}" for line in _lines(part)]
    return lines


def _lines(part: Row) -> list[str]:
    lines = []
    if part.get("best"):
        lines.append(f"validation: teacher {part['best_teacher']['value']:.4f}, student {part['best']['value']:.4f}")
    for name, row in part.get("models", {}).items():
        lines.append(f"{name}: " + ", ".join(f"{metric} {value:.4f}" for metric, value in row["test"].items()))
    for row in part.get("rows", []):
        kind = {name: row[name] for name in ("factors", "change", "regularization") if name in row}
        lines.append(f"{row['model']} {kind}: NDCG@10 {row['ndcg@10']:.4f}")
    return lines
