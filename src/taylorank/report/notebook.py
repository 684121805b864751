"""A comparison in a notebook or at a prompt: text, a table in HTML, columns, and the charts of the report."""

from __future__ import annotations

import importlib
from typing import Any

from taylorank.data.html import html_table
from taylorank.errors import ParameterError
from taylorank.report import charts
from taylorank.report.page import require_extra
from taylorank.report.record import Record
from taylorank.report.series import PLAIN_COLOURS, series_of
from taylorank.report.tables import summary_table
from taylorank.report.words import adjusted_p, further_sentences, label, lead_sentence, mark_words

KINDS = {
    "forest": charts.forest,
    "trade-off": charts.trade_off,
    "convergence": lambda record, series: charts.convergence(record, series, against="seconds"),
    "by-cutoff": charts.by_cutoff,
    "by-popularity": charts.by_popularity,
    "tuning": charts.tuning,
}
METRICS = 4  # shown in text


def comparison_text(record: Record) -> str:
    """Return the sentences and the table of the first metrics, in columns."""
    settings = {**record["settings"], "metrics": record["settings"]["metrics"][:METRICS]}
    content = summary_table({**record, "settings": settings}, series_of(record))
    rows = [content.head, *([first.text, *(f"{c.text}{c.mark}" for c in cells)] for first, *cells in content.rows)]
    full = [row for row in rows if len(row) == len(content.head)]
    widths = [max(len(row[column]) for row in full) for column in range(len(content.head))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(text.rjust(w) for text, w in zip(row[1:], widths[1:], strict=False))])
        for row in rows
    ]
    words = [lead_sentence(record), *further_sentences(record), "", *lines, mark_words(record)]
    return "\n".join(words).rstrip()


def comparison_html(record: Record) -> str:
    """Return the sentence and the table of all models."""
    content = summary_table(record, series_of(record))
    rows = [[first.text, *(f"{c.text} {c.small}{c.mark}".strip() for c in cells)] for first, *cells in content.rows]
    return html_table(content.head, rows, caption=lead_sentence(record), more=mark_words(record))


def comparison_columns(record: Record) -> dict[str, list[Any]]:
    """Return one row per model and metric."""
    rows = []
    for name, found in record["summary"]["models"].items():
        for metric, value in found.get("metrics", {}).items():
            rows.append(
                {
                    "model": label(record, name),
                    "metric": metric,
                    "mean": value["mean"],
                    "low": value.get("low"),
                    "high": value.get("high"),
                    "p_adjusted": adjusted_p(found.get("versus_best", {}).get(metric)),
                    "fit_seconds": found.get("fit_seconds"),
                    "memory_bytes": found.get("peak_memory_bytes"),
                }
            )
    names = list(rows[0]) if rows else ["model", "metric", "mean"]
    return {name: [row[name] for row in rows] for name in names}


def chart_of(record: Record, kind: str) -> Any:
    """Return a chart of the report as an altair chart, in plain colours."""
    require_extra()
    if kind not in KINDS:
        raise ParameterError(f"there is no chart {kind!r}", f"choose from {', '.join(KINDS)}")
    spec = KINDS[kind](record, series_of(record))
    if spec is None:
        raise ParameterError(f"this comparison has nothing for the chart {kind!r}", "choose another")
    return importlib.import_module("altair").Chart.from_dict(_in_plain_colours(spec))


def _in_plain_colours(value: Any) -> Any:
    """Replace the variables of the report's page, which a notebook does not have."""
    if isinstance(value, dict):
        return {name: _in_plain_colours(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_in_plain_colours(part) for part in value]
    return PLAIN_COLOURS.get(value, value) if isinstance(value, str) else value
