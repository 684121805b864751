"""`python -m research.bench`."""

from __future__ import annotations

import json

import pytest

from research.bench.__main__ import app
from taylorank.cli.main import run_app


def test_bench_runs_and_writes_json(tmp_path, capsys):
    target = tmp_path / "new" / "bench.json"
    run_app(app, ["read", "gather-sum", "--quick", "--json", str(target)])
    shown = capsys.readouterr().out
    assert "against pandas" in shown
    assert "scipy" in shown
    records = json.loads(target.read_text())
    assert {r["format"] for r in records["read"]["results"]} == {"csv", "parquet"}
    assert records["gather-sum"]["cases"]


def test_an_unknown_benchmark_is_one_line(capsys):
    with pytest.raises(SystemExit) as stopped:
        run_app(app, ["nothing"])
    assert stopped.value.code == 2
    assert "no benchmark 'nothing'" in capsys.readouterr().err
