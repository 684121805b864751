"""Pages written by hand know every model, and their examples run."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

from taylorank.registry import MODELS

ROOT = Path(__file__).resolve().parents[1]


def test_the_page_of_models_knows_every_model_and_parameter():
    page = (ROOT / "docs" / "models.md").read_text()
    table = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    for name, kind in MODELS.items():
        assert f"**`{kind.__name__}` ({name})**" in page
        for parameter in inspect.signature(kind).parameters:
            rows = [cells for cells in table if f"`{parameter}`" in cells[1]]
            assert any(name in cells[2] or "all that" in cells[2] for cells in rows), f"{name}: {parameter}"


def test_the_examples_of_the_tuning_page_run(capsys):
    page = (ROOT / "docs" / "tuning.md").read_text()
    names: dict[str, Any] = {}
    for number, example in enumerate(re.findall(r"```python\n(.*?)```", page, re.DOTALL)):
        exec(compile(example, f"docs/tuning.md, {number}", "exec"), names)
    shown = capsys.readouterr().out
    assert "share of the variance" in shown
    assert "chosen: " in shown
    assert names["ids"].shape == (2, 5)
