"""A model in a notebook: its parameters, and what it was fitted to."""

from __future__ import annotations

from html import escape
from typing import Any

from taylorank.data.html import html_table


def model_html(self: Any) -> str:
    """Return the parameters that differ from the default first, the others folded away."""
    default = type(self)().get_params(deep=False)
    params = self.get_params(deep=False)
    changed = {name: value for name, value in params.items() if repr(value) != repr(default.get(name))}
    others = {name: value for name, value in params.items() if name not in changed}
    data = self.__dict__.get("train_")
    fitted = "not fitted" if data is None else f"fitted to {data.n_users:,} users × {data.n_items:,} items"
    shown = html_table([], [[name, _short(value)] for name, value in changed.items()], caption=f"{type(self).__name__}")
    rest = html_table([], [[name, _short(value)] for name, value in others.items()])
    folded = f"<details><summary>default parameters</summary>{rest}</details>" if others else ""
    return f"{shown}{folded}<p>{escape(fitted)}</p>"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:119]}…"
