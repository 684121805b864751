"""`taylorank export` as a shell calls it."""

from __future__ import annotations

import json
import typing

import polars as pl
import pytest

import taylorank as tr
from taylorank.cli import export
from taylorank.stores import KINDS
from tests.cli.command import run


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.tr"
    tr.RG2(8).fit(tr.planted(100, 60, interactions=1500)).save(path)
    return str(path)


def test_the_command_writes_and_reports(model_file, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "items.csv").write_text("item,title\n3,three\n")
    words = ("--to", "parquet", "--out", "shop", "--items", "items.csv", "--sample", "50", "--no-users")
    assert run("export", model_file, *words, "--json", "found.json") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("parquet (exact, inner product): 60 items, 9 numbers each, ")
    assert "recall@20 1.0000 of the model's exact lists" in shown
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["items"], found["measured"]["users"], found["metric"]) == (60, 50, "ip")
    items = pl.read_parquet("shop/items.parquet")
    assert items.filter(pl.col("id") == 3)["title"].to_list() == ["three"]
    assert not (tmp_path / "shop" / "users.parquet").exists()
    assert run("export", model_file, *words) == 2
    assert capsys.readouterr().err == "taylorank: shop is there already; choose another name, or overwrite it\n"
    assert run("export", model_file, *words, "--overwrite", "--quiet") == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--to", "parquet"), "--to parquet needs a place; add --out shop.parquet"),
        (("--to", "excel", "--out", "shop"), "excel"),
        (("--to", "parquet", "--out", "shop", "--sample", "-1"), "sample=-1"),
        (("--to", "parquet", "--out", "nowhere/shop"), "cannot write nowhere/shop"),
        (("--to", "parquet", "--out", "shop", "--items", "none.csv"), "no such file: none.csv"),
    ],
)
def test_bad_input_is_one_line(words, complaint, model_file, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run("export", model_file, *words) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_command_knows_every_store_and_has_an_example(capsys):
    hints = typing.get_type_hints(export.export)
    assert set(typing.get_args(hints["to"])) == set(KINDS)
    assert run("export", "--help") == 0
    assert "Example: taylorank export" in capsys.readouterr().out
