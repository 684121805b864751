"""The lines of docs/spark.md and docs/spark_switching.md run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from planted_frame import frame_of, with_strengths

import taylorank as tr

DOCS = Path(__file__).resolve().parents[2] / "docs"


def _examples(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def test_the_examples_of_the_page_run(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data = tr.planted(300, 200, interactions=6000, random_state=9)
    frame_of(spark, data).write.parquet(f"file://{tmp_path}/interactions.parquet")
    names: dict[str, Any] = {}
    for example in _examples("spark.md"):
        exec(compile(_in_folder(example, tmp_path), "docs/spark.md", "exec"), names)
    assert "ndcg@20" in capsys.readouterr().out
    assert tr.load("model.tr").users == names["local"].users
    assert names["model"].recommendForAllUsers(2).count() == len(names["local"].users)


def _in_folder(example: str, folder: Path) -> str:
    """Spark reads paths from where Java was started, which is not this folder."""
    for name in ("interactions.parquet", "lists.parquet", "rg2-model"):
        example = example.replace(f'"{name}"', f'"{folder}/{name}"')
    return example


def test_three_lines_change(spark):
    before, after = (example.strip().splitlines() for example in _examples("spark_switching.md"))
    assert len(before) == len(after)
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 3
    data = with_strengths(tr.planted(200, 120, interactions=3000, random_state=9))
    frame = frame_of(spark, data, columns=("user", "item", "strength")).withColumnRenamed("strength", "count")
    names: dict[str, Any] = {"train": frame, "test": frame.limit(10)}
    shapes = []
    for lines in (before, after):
        exec(compile("\n".join(lines), "docs/spark_switching.md", "exec"), names)
        assert names["lists"].count() == 200
        assert names["scored"].count() == 10
        shapes.append((names["lists"].columns, names["scored"].columns))
    assert shapes[0] == shapes[1]  # what follows in a script goes on as it is
