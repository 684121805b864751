"""python look.py SITE PICTURES: pages of a built site in Chromium, on a phone and a desk, light and dark.

A page that is wider than the window is a fault; a picture of each is left to be looked at. Nothing is fetched.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
WIDTHS = {"phone": (390, 844), "desk": (1280, 900)}
THEMES = ("light", "dark")
# One page of each kind, and those with the widest tables and pictures.
PAGES = (
    "index",
    "tutorials/first-model",
    "tutorials/compare-fairly",
    "how-to/from-implicit",
    "explanation/closed-form",
    "reference/api",
    "reference/generated/taylorank.RG2",
    "reference/cli",
    "reference/glossary",
    "cli",
    "results",
    "records",
    "claims",
    "benchmarks/quality",
    "optimisers",
    "gallery/index",
)


def looked_at(site: Path, pictures: Path) -> list[str]:
    """Open every page at every width and theme; return a line for each fault."""
    from playwright.sync_api import sync_playwright

    pictures.mkdir(parents=True, exist_ok=True)
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        return [f"there is no browser; install one of {', '.join(NAMES)}"]
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        for kind, (width, height) in WIDTHS.items():
            for theme in THEMES:
                window = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
                window.add_init_script(f"localStorage.setItem('mode', '{theme}')")
                for name in PAGES:
                    found += _faults(window, site / f"{name}.html", pictures / f"{kind}-{theme}", name)
                window.close()
        browser.close()
    return found


def _faults(window: Any, path: Path, folder: Path, name: str) -> list[str]:
    page, said = window.new_page(), []
    page.on("pageerror", lambda error: said.append(f"{path}: {error}"))
    page.goto(path.as_uri(), wait_until="load")
    wide, room = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    picture = folder / f"{name.replace('/', '-')}.png"
    picture.parent.mkdir(exist_ok=True)
    page.screenshot(path=picture)
    page.close()
    where = f"{folder.name} {name}"
    return [f"{where}: {error}" for error in said] + ([f"{where}: {wide} px in {room}"] if wide > room else [])


if __name__ == "__main__":
    lines = looked_at(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
    print("\n".join(lines) or f"{len(PAGES)} pages fit {len(WIDTHS)} widths; their pictures are in {sys.argv[2]}")
    sys.exit(bool(lines))
