"""The files of the explorer: complete, small, and with no word to any other machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import taylorank

FOLDER = Path(taylorank.__file__).parent / "serving" / "explorer"
FILES = sorted(FOLDER.iterdir())
NAMES = {file.name for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_file_names_another_address(file):
    text = file.read_text().replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"(https?:)?//[\w-]+\.\w", text)
    assert "eval(" not in text
    assert "innerHTML" not in text


@pytest.mark.parametrize("file", [file for file in FILES if file.suffix == ".js"], ids=lambda file: file.name)
def test_imports_are_files_that_are_there_and_short(file):
    text = file.read_text()
    for name in re.findall(r'from "\./([\w.]+)"', text):
        assert name in NAMES
    assert len(text.splitlines()) < 300


def test_the_page_loads_files_that_are_there_and_has_no_script_of_its_own():
    page = (FOLDER / "index.html").read_text()
    loaded = re.findall(r'(?:src|href)="([\w.]+)"', page)
    assert {"explorer.js", "theme.js", "explorer.css", "icon.svg"} <= set(loaded) <= NAMES
    assert not re.search(r"<script>|<script [^>]*>[^<]|\son\w+=", page)  # the server's policy would refuse them


def test_every_element_that_scripts_name_is_on_the_page():
    ids = set(re.findall(r'\bid="([\w-]+)"', (FOLDER / "index.html").read_text()))
    for file in FILES:
        if file.suffix == ".js":
            assert set(re.findall(r'\$\("([\w-]+)"\)', file.read_text())) <= ids
