"""Numbers and names formatted for readers."""

from __future__ import annotations

from typing import Any

from taylorank.metrics import split_metric

CAPITALS = {
    "ndcg": "NDCG",
    "dcg": "DCG",
    "map": "MAP",
    "map_min": "MAP (min)",
    "mrr": "MRR",
    "auc": "AUC",
    "ece": "ECE",
}
MISSING = "–"


def metric_label(name: str) -> str:
    """Return the metric's name for people.

    >>> metric_label("ndcg@10"), metric_label("hit_rate@5")
    ('NDCG@10', 'Hit rate@5')
    """
    word, cutoff = split_metric(name)
    label = CAPITALS.get(word, word.replace("_", " ").capitalize())
    return label if cutoff is None else f"{label}@{cutoff}"


def quality(value: float | None) -> str:
    """Return a metric with four decimals."""
    return MISSING if value is None else f"{value:.4f}"


def seconds(value: float | None) -> str:
    """Return a time to two figures, in the unit that suits it.

    >>> seconds(0.0123), seconds(2.04), seconds(75.0), seconds(4000.0)
    ('12 ms', '2.0 s', '75 s', '1 h 07 min')
    """
    if value is None:
        return MISSING
    if value < 0.9995:
        return f"{1000 * value:.2g} ms" if value < 0.0995 else f"{1000 * value:.0f} ms"
    if value < 600:
        return f"{value:.1f} s" if value < 9.95 else f"{value:.0f} s"
    minutes = round(value / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def memory(value: float | None) -> str:
    """Return bytes in the unit that suits them.

    >>> memory(25_300_000), memory(3_200_000_000)
    ('25 MB', '3.2 GB')
    """
    if value is None:
        return MISSING
    if value < 999_500_000:
        return f"{value / 1e6:.0f} MB" if value >= 9_950_000 else f"{value / 1e6:.1f} MB"
    return f"{value / 1e9:.1f} GB"


def p_value(value: float | None) -> str:
    """Return p with two figures, and small ones as a bound.

    >>> p_value(0.034), p_value(0.00002)
    ('0.034', '< 0.001')
    """
    if value is None:
        return MISSING
    return "< 0.001" if value < 0.001 else f"{value:.2g}"


def any_value(value: Any) -> str:
    """Return a parameter or a fact: thousands with separators, other numbers to four figures.

    >>> any_value(7390), any_value(1234.5), any_value(0.12345)
    ('7,390', '1,234', '0.1235')
    """
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {any_value(part)}" for key, part in value.items())
    return ", ".join(map(any_value, value)) if isinstance(value, list | tuple) else str(value)


def and_list(words: list[str]) -> str:
    """Join words as a sentence does.

    >>> and_list(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
