"""Links of pages to files beside docs/: those that have a page here lead to it, the others are downloads.

Pages are read on their own too, in a checkout, so they link to ../CONTRIBUTING.md and not to a page of the site.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

PAGES = {
    "../CONTRIBUTING.md": "contributing.md",
    "../CHANGELOG.md": "changelog.md",
    "../research/README.md": "laboratory.md",
}
WITHOUT_PAGE = re.compile(r"\[([^\]]+)\]\(\.\./src/[^)]*\.md\)")
# In pages that are those files, included: links are as the root of the checkout has them.
INCLUDED = ("contributing", "changelog", "security", "laboratory")


def relink(app: Sphinx, docname: str, source: list[str]) -> None:
    """Change the links of a page before it is parsed."""
    for outside, page in PAGES.items():
        source[0] = source[0].replace(f"]({outside}", f"]({page}")
    source[0] = WITHOUT_PAGE.sub(r"\1", source[0])


def relink_included(app: Sphinx, relative_path: Any, parent: str, content: list[str]) -> None:
    """Change the links of an included file, which are those from the root of the checkout."""
    if parent in INCLUDED:
        content[0] = content[0].replace("](docs/", "](").replace("](CONTRIBUTING.md", "](contributing.md")
        content[0] = (
            content[0].replace("](research/README.md", "](laboratory.md").replace("](CHANGELOG.md", "](changelog.md")
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", relink)
    app.connect("include-read", relink_included)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
