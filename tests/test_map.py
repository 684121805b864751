"""The maps of the project are true: folders, files and imports that pages name are there, and none is missing."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import grimp
import pytest

import taylorank

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "taylorank"
LINES_OF_A_SCREEN = 70


def folders(place: Path) -> set[str]:
    return {one.name for one in place.iterdir() if one.is_dir() and not one.name.startswith(("_", "."))}


def test_contributing_names_every_folder_and_no_other():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"^\| `([\w/]+)/` \|", page, re.M))
    assert all((ROOT / folder).is_dir() for folder in named)
    assert {folder.removeprefix("src/taylorank/") for folder in named if folder.startswith("src/")} == folders(SOURCE)
    assert {"native", "research", "tests", "docs"} <= named
    assert len(page.splitlines()) <= LINES_OF_A_SCREEN


def test_the_map_of_research_names_every_folder_and_no_other():
    named = set(re.findall(r"^\| `([\w/]+)/` \|", (ROOT / "research" / "README.md").read_text(), re.M))
    assert all((ROOT / "research" / folder).is_dir() for folder in named)
    assert {folder.split("/")[0] for folder in named} == folders(ROOT / "research")


def test_the_way_of_an_interaction_names_files_that_are_there_once_each():
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = page[page.index("| step |") : page.index("From the ranking interface on")]
    named = re.findall(r"`([a-z_]+/[a-z_]+\.py)`", table)
    assert len(named) == len(set(named))
    for file in re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", page):
        assert (SOURCE / file).is_file(), file


def test_the_picture_of_imports_is_that_of_the_code():
    drawn = re.findall(r"<title>([^<]+)</title>", (ROOT / "docs" / "architecture" / "imports.svg").read_text())
    arrows = {tuple(title.split("&#45;&gt;")) for title in drawn if "&gt;" in title}
    graph = grimp.build_graph("taylorank", exclude_type_checking_imports=True)
    parts = graph.find_children("taylorank")
    true = {
        (f".{a.split('.')[1]}", f".{b.split('.')[1]}")
        for a in parts
        for b in parts
        if a != b and graph.direct_import_exists(importer=a, imported=b, as_packages=True)
    }
    assert arrows <= true
    assert closure(arrows) >= true  # what is left out follows from what is drawn


def closure(arrows: set[tuple[str, str]]) -> set[tuple[str, str]]:
    reached = set(arrows)
    while True:
        more = {(a, d) for a, b in reached for c, d in arrows if b == c} - reached
        if not more:
            return reached
        reached |= more


PACKAGES = ["taylorank", *(f"taylorank.{name}" for name in sorted(folders(SOURCE)))]


@pytest.mark.parametrize("name", PACKAGES)
def test_no_module_is_shadowed_by_what_its_package_exports(name):
    package = importlib.import_module(name)
    for module in pkgutil.iter_modules(package.__path__):
        value = getattr(package, module.name, None) if module.name in getattr(package, "__all__", ()) else None
        assert value is None or inspect.ismodule(value), f"{name}.{module.name}"


def test_every_public_name_is_there():
    for name in taylorank.__all__:
        assert getattr(taylorank, name) is not None


def test_one_file_reads_the_names_of_metrics():
    readers = [
        file for file in SOURCE.rglob("*.py") if re.search(r"""split\w*\(['"]@|partition\(['"]@""", file.read_text())
    ]
    assert [str(file.relative_to(SOURCE)) for file in readers] == ["metrics/names.py"]
