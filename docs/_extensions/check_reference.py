"""python check_reference.py FOLDER: methods of models and data are on their pages, with all their docstrings say."""

from __future__ import annotations

import html
import inspect
import re
import sys
from pathlib import Path

from members import members_of

from taylorank.registry import MODELS

CLASSES = ["Interactions", *(kind.__name__ for kind in MODELS.values())]


def faults(folder: Path) -> list[str]:
    """Return a line for each method whose text or parameters are not on the page of its class."""
    found = []
    for name in CLASSES:
        page = folder / "reference" / "generated" / f"taylorank.{name}.html"
        shown = page.read_text(encoding="utf-8")
        text = words(html.unescape(re.sub(r"<[^>]+>", "", shown)))
        for method in members_of("taylorank", name)["methods"]:
            if f'id="taylorank.{name}.{method}"' not in shown:
                found.append(f"{page.name}: {method} is not there")
            elif (missing := first_missing(name, method, text)) is not None:
                found.append(f"{page.name}: {method} lacks {missing!r}")
    return found


def first_missing(name: str, method: str, text: str) -> str | None:
    """Return the first parameter or sentence of a method that a page lacks."""
    import taylorank

    function = getattr(getattr(taylorank, name), method)
    prose = re.split(r"\n\s*(?:Parameters\n|>>>)", inspect.getdoc(function) or "")[0]
    parameters = [one for one in inspect.signature(function).parameters if one != "self"]
    wanted = [*parameters, *re.split(r"(?<=[.:;])\s", prose)]
    return next((part for part in wanted if f" {words(part)} " not in f" {text} "), None)


def words(text: str) -> str:
    """Return letters and figures alone, whatever stands between them."""
    return " ".join(re.findall(r"[^\W_]+", text.replace("_", "")))


if __name__ == "__main__":
    lines = faults(Path(sys.argv[1]).resolve())
    print("\n".join(lines) or f"{len(CLASSES)} classes, every method with what it says")
    sys.exit(bool(lines))
