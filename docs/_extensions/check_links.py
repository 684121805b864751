"""python check_links.py FOLDER: every link and anchor within a built site leads somewhere; nothing is fetched."""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FOREIGN = ("http", "https", "mailto", "data", "javascript")


class Page(HTMLParser):
    """The links and the anchors of a page, and what it would fetch from elsewhere."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.fetched: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag names and where it leads."""
        given = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := given.get(key))}
        target = given.get("href") or given.get("src")
        if target is None:
            return
        if urlsplit(target).scheme not in FOREIGN:
            self.links.append(target)
        elif (tag, given.get("rel")) == ("link", "stylesheet") or tag in ("script", "img"):
            self.fetched.append(target)


page_at = cache(Page)


def faults(folder: Path) -> list[str]:
    """Return a line for each link that leads nowhere, and for each thing that a page would fetch from elsewhere."""
    found = []
    for path in sorted(set(folder.rglob("*.html")) - set((folder / "_static").rglob("*"))):
        found += [f"{path.relative_to(folder)}: fetches {target}" for target in page_at(path).fetched]
        for link in page_at(path).links:
            if not leads_somewhere(path, link, folder):
                found.append(f"{path.relative_to(folder)}: {link} leads nowhere")
    return found


def leads_somewhere(path: Path, link: str, folder: Path) -> bool:
    """Whether a link of a page has a file, and its anchor a place in it."""
    parts = urlsplit(link)
    base = folder if parts.path.startswith("/") else path.parent
    target = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
    target = target / "index.html" if target.is_dir() else target
    if not target.is_file():
        return False
    anchor = unquote(parts.fragment)
    return not anchor or target.suffix != ".html" or anchor in page_at(target).anchors


if __name__ == "__main__":
    lines = faults(Path(sys.argv[1]).resolve())
    print("\n".join(lines) or f"{len(list(Path(sys.argv[1]).rglob('*.html')))} pages, every link leads somewhere")
    sys.exit(bool(lines))
