"""What makes long pages readable on the site alone: names in tables break at underscores, long printouts are folded."""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

LONG_NAME = 15  # characters that a narrow column may not hold
LONG_PRINTOUT = 5  # lines
FOLDED = ("benchmarks",)  # pages of which each section ends with what a command printed


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


class FoldPrintouts(SphinxPostTransform):
    """Fold what commands printed, if it is long: the words before it say what it shows."""

    default_priority = 900
    formats = ("html",)

    def run(self, **options: Any) -> None:
        """Fold the blocks of this page."""
        if self.env.docname not in FOLDED:
            return
        for block in list(self.document.findall(nodes.literal_block)):
            lines = len(block.astext().splitlines())
            if lines > LONG_PRINTOUT:
                opening = f'<details class="printout"><summary>What it printed, {lines} lines</summary>'
                block.replace_self(
                    [nodes.raw("", opening, format="html"), block, nodes.raw("", "</details>", format="html")]
                )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_post_transform(BreakNames)
    app.add_post_transform(FoldPrintouts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
