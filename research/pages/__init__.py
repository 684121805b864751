"""The pages in docs that are made from records, or from what the library declares.

A module has `made(name, places)`, the text of docs/NAME.md, and `draw(places)` where the page has pictures. What people
wrote between the parts that are made is kept.
"""

from __future__ import annotations

import importlib
from typing import Any

from research.output import write_text
from research.places import HERE, Places
from taylorank.errors import ParameterError

PAGES = {
    "claims": "claims",
    "benchmarks": "benchmarks",
    "optimisers": "optimisers",
    "reproduction": "reproduction",
    "results": "comparisons",
    "neural": "comparisons",
    "losses": "losses",
    "reliability": "reliability",
    "splits": "benchmarks",
    "students": "students",
}


def module_of(name: str) -> Any:
    """Import what makes a page; losses and optimisers need torch."""
    if name not in PAGES:
        raise ParameterError(f"no page {name!r} is made here", f"choose from {', '.join(PAGES)}")
    return importlib.import_module(f"research.pages.{PAGES[name]}")


def made(name: str, places: Places = HERE) -> str:
    """Return the text of a page."""
    text: str = module_of(name).made(name, places)
    return text.rstrip() + "\n"


def write(name: str, places: Places = HERE) -> bool:
    """Write a page and its pictures; return whether the text has changed."""
    path, text = places.docs / f"{name}.md", made(name, places)
    is_new = not path.exists() or path.read_text(encoding="utf-8") != text
    write_text(path, text)
    if hasattr(module_of(name), "draw"):
        module_of(name).draw(places)
    return is_new
