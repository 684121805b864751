"""What makes tables readable on the site alone: long names in cells break at underscores."""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

LONG_NAME = 15  # characters that a narrow column may not hold


class BreakNames(SphinxPostTransform):
    """Let long names in cells break behind "_", "." and "/"; what is copied from the page stays the name."""

    default_priority = 900
    formats = ("html",)

    def run(self, **options: Any) -> None:
        """Replace the names."""
        for cell in self.document.findall(nodes.entry):
            for name in list(cell.findall(nodes.literal)):
                if len(name.astext()) >= LONG_NAME:
                    name.replace_self(nodes.raw("", breakable(name.astext()), format="html"))


def breakable(name: str) -> str:
    """Return code that may be broken in two.

    >>> breakable("a_b<c>")
    '<code class="docutils literal notranslate breakable">a_<wbr>b&lt;c&gt;</code>'
    """
    text = re.sub(r"([_./])(?=\w)", r"\1<wbr>", html.escape(name, quote=False))
    return f'<code class="docutils literal notranslate breakable">{text}</code>'


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_post_transform(BreakNames)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
