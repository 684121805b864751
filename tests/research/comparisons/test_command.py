"""`python -m research.comparisons` as a person meets it."""

from __future__ import annotations

import taylorank as tr
from taylorank.selection import Comparison


def test_records_are_written_again_without_the_users_values(run, tmp_path, capsys):
    file, out = tmp_path / "c.json", tmp_path / "small"
    data = tr.planted(60, 30, interactions=900)
    whole = tr.compare(data, ["ease", "popularity"], seeds=(0,), trials=0, file=file, per_user=True)
    assert run("comparisons", "slim", file, "--to", out) == 0
    assert f"{out / 'c.json'}: {file.stat().st_size:,} → " in capsys.readouterr().out
    assert [path.name for path in out.iterdir()] == ["c.json"]
    assert Comparison.load(out / "c.json") == whole
    assert run("comparisons", "slim", file, "--to", out, "--per-user") == 0
    assert Comparison.load(out / "c.json").per_user.keys() == whole.per_user.keys()


def test_bad_input_is_one_line_and_exit_code_2(run, tmp_path, capsys):
    assert run("comparisons", "slim", tmp_path / "nowhere.json", "--to", tmp_path / "small") == 2
    assert "cannot read" in capsys.readouterr().err
    assert run("comparisons", "pairs", "netflix") == 2
    assert "no table for 'netflix'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
