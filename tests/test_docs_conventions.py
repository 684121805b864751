"""The examples of the pages on conventions, notebooks and the command line run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import taylorank as tr
from tests.cli.command import run

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.mark.parametrize("page", ["compat", "notebooks"])
def test_python_blocks_run_one_after_the_other(page, capsys):
    if page == "compat":
        pytest.importorskip("sklearn")
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text(), re.DOTALL)
    for number, block in enumerate(blocks):
        exec(compile(block, f"docs/{page}.md, {number}", "exec"), names)
    assert capsys.readouterr().out
    if page == "notebooks":
        assert len(names["lists"]) == 15
        assert [report.done for report in names["steps"]] == [1, 2, 3, 4, 5]


def test_the_commands_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.txt").write_text(
        "".join(f"{u} {u % 7} {u % 5 + 7} {u % 3 + 12} {u % 2 + 15}\n" for u in range(40))
    )
    tr.planted(80, 40, interactions=1500, random_state=1).to_frame().write_csv("ratings.csv")
    block = re.search(r"```sh\n(taylorank split.*?)```", (DOCS / "cli.md").read_text(), re.DOTALL)
    for line in block[1].strip().splitlines():
        assert run(*shlex.split(line)[1:]) == 0, line
    block = re.search(r"```sh\n(taylorank tune.*?)```", (DOCS / "cli.md").read_text(), re.DOTALL)
    for line in block[1].strip().splitlines():
        assert run(*shlex.split(line)[1:]) == 0, line
    assert len(tr.load("newer.tr").users) == 80
    assert (tmp_path / "recs.parquet").is_file()


def test_the_page_names_every_command(capsys):
    page = (DOCS / "cli.md").read_text()
    run("--help")
    for name in re.findall(r"^│ (\w[\w-]*) ", capsys.readouterr().out, re.MULTILINE):
        assert f"`{name}`" in page or f"`{name} " in page, name
