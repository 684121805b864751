"""The losses on two sets and two backbones in one small table, in docs/explanation/which-loss.md."""

from __future__ import annotations

import json

from research.pages.sections import filled
from research.places import Places

SOURCES = (("ML-1M", "ml-1m-gradients", "ndcg@10"), ("Gowalla", "gowalla-gradients", "ndcg@20"))
BACKBONES = ("mf", "lightgcn")


def made(name: str, places: Places) -> str:
    """Return the page with the table."""
    page = (places.docs / f"{name}.md").read_text(encoding="utf-8")
    return filled(page, lambda _: table(places))


def table(places: Places) -> str:
    """Return a row for each loss, the best of each column bold; records are named below."""
    columns = [(title, file, metric, backbone) for title, file, metric in SOURCES for backbone in BACKBONES]
    found = [_values(places, file, metric, backbone) for _, file, metric, backbone in columns]
    losses = sorted(set().union(*found), key=lambda loss: -max(values.get(loss, 0) for values in found[:2]))
    rows = [f"| loss | {' | '.join(f'{title}, {_word(backbone)}' for title, _, _, backbone in columns)} |"]
    rows.append("|---|" + "---:|" * len(columns))
    rows += [f"| {loss} | {' | '.join(_cell(values, loss) for values in found)} |" for loss in losses]
    files = ", ".join(f"[{file}.json](../../research/records/comparisons/{file}.json)" for _, file, _ in SOURCES)
    return "\n".join([*rows, "", f"Records: {files}; commands and commits: [records](../records.md).", ""])


def _word(backbone: str) -> str:
    return {"mf": "factors", "lightgcn": "LightGCN"}[backbone]


def _values(places: Places, file: str, metric: str, backbone: str) -> dict[str, float]:
    """Return loss → mean on a backbone."""
    record = json.loads((places.comparisons / f"{file}.json").read_text(encoding="utf-8"))
    found = {}
    for model, one in record["summary"]["models"].items():
        loss, _, own = model.partition("/")
        if (own or "mf") == backbone and one.get("metrics"):
            found[loss] = one["metrics"][metric]["mean"]
    return found


def _cell(values: dict[str, float], loss: str) -> str:
    if loss not in values:
        return ""
    text = f"{values[loss]:.4f}"
    return f"**{text}**" if values[loss] == max(values.values()) else text
