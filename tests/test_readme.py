"""The README's example runs as printed, and its names exist."""

from __future__ import annotations

import re
from pathlib import Path

import taylorank as tr

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_example_runs_as_printed(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len([line for line in example.splitlines() if line.strip()]) <= 10
    exec(compile(example, str(README), "exec"), {})
    shown = capsys.readouterr().out
    assert re.search(r"NDCG@10 0\.\d{4}, recall@10 0\.\d{4}", shown)


def test_public_names_exist():
    for name in tr.__all__:
        assert getattr(tr, name) is not None
    assert set(tr.__all__) <= set(dir(tr))
