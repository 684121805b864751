"""Tables in HTML for notebooks: plain elements that take the notebook's own style, light or dark."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taylorank.data.interactions import Interactions

SHOWN_STEPS = 8


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "", more: str = "") -> str:
    """Return a table; the first cell of a row names it. `more` is a line of text below.

    >>> html_table(["metric", "mean"], [["ndcg@10", "0.5"]])[:44]
    '<table><thead><tr><th scope="col">metric</th'
    """
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    columns = "".join(f'<th scope="col">{escape(text)}</th>' for text in head)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(text)}</td>" for text in row[1:])}</tr>'
        for row in rows
    )
    thead = f"<thead><tr>{columns}</tr></thead>" if head else ""
    below = f"<p>{escape(more)}</p>" if more else ""
    return f"<table>{title}{thead}<tbody>{body}</tbody></table>{below}"


def data_html(data: Interactions) -> str:
    """Return what `describe` finds, and the steps that led here."""
    from taylorank.data.describe import describe

    found = describe(data)
    rows = [["users", f"{found.users:,}"], ["items", f"{found.items:,}"], ["interactions", f"{found.interactions:,}"]]
    rows.append(["density", f"{100 * found.density:.3g} %"])
    for name, spread in (("per user", found.per_user), ("per item", found.per_item)):
        rows.append([f"interactions {name}", f"{spread.min:,} to {spread.max:,}, median {spread.median:,g}"])
    if found.first is not None:
        rows.append(["from, to", f"{found.first} to {found.last}"])
    steps = "".join(f"<li>{escape(str(step))}</li>" for step in data.steps[-SHOWN_STEPS:])
    history = f"<details><summary>how it came about</summary><ol>{steps}</ol></details>" if steps else ""
    return html_table([], rows, caption="Interactions") + history
