"""The lines of docs/stores.md find the lists of the model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from taylorank.stores import KINDS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "stores.md").read_text()
SECTIONS = {title.split("\n")[0].lower(): title for title in PAGE.split("\n## ")}

pytestmark = pytest.mark.filterwarnings("ignore:builtin type .* has no __module__ attribute:DeprecationWarning")  # SWIG


def blocks(text):
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("docs")


@pytest.fixture
def names(folder, monkeypatch, capsys):
    """What the first lines of the page leave behind."""
    monkeypatch.chdir(folder)
    found = {}
    first = blocks(PAGE)[0]
    if (folder / "shop.parquet").exists():
        first = first.replace('"shop.parquet")', '"shop.parquet", overwrite=True)')
    exec(compile(first, "docs/stores.md", "exec"), found)
    assert capsys.readouterr().out.startswith("parquet (exact, inner product): 300 items")
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_three_lines_find_the_list_of_a_user(kind, names, request, monkeypatch):
    for package in KINDS[kind].packages:
        pytest.importorskip(package)
    if kind == "pgvector":
        address = dict(part.split("=") for part in request.getfixturevalue("database").split())
        for variable, part in (("PGHOST", "host"), ("PGUSER", "user"), ("PGDATABASE", "dbname")):
            monkeypatch.setenv(variable, address[part])
    (lines,) = blocks(SECTIONS[kind])
    asked = [line for line in lines.splitlines() if line and "import" not in line and "model.export" not in line]
    assert len(asked) == 3
    exec(compile(lines, "docs/stores.md", "exec"), names)
    wanted = names["model"].recommend([17], 20, seen=[])[0][0].tolist()
    assert sorted(int(item) for item in names["ids"]) == sorted(wanted)
    if "client" in names:
        names["client"].close()


def test_a_new_user_is_a_query_too(names):
    import numpy as np

    (lines,) = blocks(SECTIONS["seen items, new users, metadata"])
    exec(compile(lines, "docs/stores.md", "exec"), names)
    items = names["model"].export_factors()[1]
    best = np.argsort(-(items @ names["user"]), kind="stable")[:10]
    np.testing.assert_array_equal(np.sort(names["visitor"].recommend(["visitor"], seen=[])[0][0]), np.sort(best))
