"""SVG pictures become part of the page, so that their colours follow its light or dark mode."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

WIDE = 520  # pixels; such a picture scrolls on a phone, for its words would be too small


class InlineDrawings(SphinxPostTransform):
    """Replace images that are SVG files under docs by the SVG itself; builders of anything but HTML keep the image."""

    default_priority = 5  # before images are copied
    formats = ("html",)

    def run(self, **options: Any) -> None:
        """Replace each picture."""
        for image in list(self.document.findall(nodes.image)):
            path = Path(self.app.srcdir) / image["uri"]
            if path.suffix == ".svg" and path.is_file() and "thumb" not in path.name:
                text = inline(path.read_text(encoding="utf-8"), alt=image.get("alt", ""), name=path.stem)
                image.replace_self(nodes.raw("", text, format="html"))


def inline(svg: str, *, alt: str, name: str) -> str:
    """Return the SVG as a figure that is named to those who cannot see it; its ids are made unique by its name."""
    svg = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>", "", svg, flags=re.DOTALL).strip()
    ids = set(re.findall(r'\bid="([^"]+)"', svg))
    for one in ids:
        svg = svg.replace(f'id="{one}"', f'id="{name}-{one}"').replace(f"url(#{one})", f"url(#{name}-{one})")
        svg = svg.replace(f'href="#{one}"', f'href="#{name}-{one}"')
    svg = re.sub(r"<svg\b", '<svg aria-hidden="true"', svg, count=1)
    width = re.search(r'<svg[^>]*\bwidth="([\d.]+)', svg)
    kind = "drawing wide" if width and float(width[1]) > WIDE else "drawing"
    return f'<div class="{kind}" role="img" aria-label="{html.escape(alt, quote=True)}" tabindex="0">{svg}</div>'


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_post_transform(InlineDrawings)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
