"""The pages in docs that are made from records, or from what the library declares.

A module has `made(name, places)`, the text of docs/NAME.md, `more(places)` where further pages belong to it, and
`draw(places)` where there are pictures. What people wrote between the parts that are made is kept.
"""

from __future__ import annotations

import importlib
from typing import Any

from research.output import write_text
from research.places import HERE, Places
from taylorank.errors import ParameterError

TOPICS = ("fits", "gpu-and-spark", "serving", "quality", "choices", "protocols")  # of benchmarks
PAGES = {
    "claims": "claims",
    **{f"benchmarks/{topic}": "benchmarks" for topic in TOPICS},
    "optimisers": "optimisers",
    "reproduction": "reproduction",
    "results": "comparisons",
    "neural": "comparisons",
    "losses": "losses",
    "reliability": "reliability",
    "splits": "benchmarks",
    "spark": "spark",
    "students": "students",
    "explanation/which-loss": "loss_summary",
    "records": "records",
    "by-commit": "by_commit",
    "pictures": "pictures",
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


def more(name: str, places: Places = HERE) -> dict[str, str]:
    """Return the further pages of a page, by name."""
    module = module_of(name)
    pages: dict[str, str] = module.more(places) if hasattr(module, "more") else {}
    return {other: text.rstrip() + "\n" for other, text in pages.items()}


def write(name: str, places: Places = HERE) -> bool:
    """Write a page, what belongs to it, and its pictures; return whether a text has changed."""
    is_new = False
    for one, text in {name: made(name, places), **more(name, places)}.items():
        path = places.docs / f"{one}.md"
        is_new |= not path.exists() or path.read_text(encoding="utf-8") != text
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    if hasattr(module_of(name), "draw"):
        module_of(name).draw(places)
    return is_new
