"""Pages whose sections hold a part that is made: what follows the line `<!-- found -->`."""

from __future__ import annotations

import re
from collections.abc import Callable

MARK = "<!-- found -->\n"


def filled(page: str, content: Callable[[str], str | None]) -> str:
    r"""Return the page with `content` of each section behind its mark; sections without mark or content stay.

    >>> filled("# T\n\n## A\n\nWords.\n\n<!-- found -->\nold\n", lambda section: "new")
    '# T\n\n## A\n\nWords.\n\n<!-- found -->\n\nnew\n'
    """
    return "".join(_section(section, content) for section in sections(page))


def sections(page: str) -> list[str]:
    """Return the page in pieces, each from one heading of the second level to the next."""
    return re.split(r"^(?=## )", page, flags=re.MULTILINE)


def _section(section: str, content: Callable[[str], str | None]) -> str:
    kept, mark, _ = section.partition(MARK)
    text = content(kept) if mark else None
    return section if text is None else f"{kept}{MARK}\n{text}\n"
