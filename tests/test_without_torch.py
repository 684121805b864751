"""What works where torch is not installed, and what is said there of what does not."""

from __future__ import annotations

import subprocess
import sys

import pytest

BLOCKED = """
import sys
class Nobody:
    def find_spec(self, name, path=None, target=None):
        if name == "torch" or name.startswith("torch."):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Nobody())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "torch" else found(name, package)
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", BLOCKED + code], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_the_closed_forms_need_no_torch():
    code = (
        "import taylorank as tr; d = tr.planted(50, 20, interactions=400); print(tr.RG2(4).fit(d).item_factors.shape)"
    )
    assert "(20, 4)" in run(code)


@pytest.mark.parametrize(
    "use",
    [
        "tr.losses.names()",
        "tr.backbones.names()",
        "tr.samplers.names()",
        "tr.Neural().fit(tr.planted(50, 20, interactions=400))",
        "tr.tune('softmax', *tr.planted(50, 20, interactions=400).split((0.8, 0.2)))",
    ],
)
def test_the_rest_names_the_extra(use):
    assert "torch is not installed" in run(f"import taylorank as tr; {use}")
    assert "taylorank[torch]" in run(f"import taylorank as tr; {use}")


def test_a_composition_can_be_named_and_shown():
    assert "Neural(loss='bpr'" in run("from taylorank.registry import model_named; print(model_named('bpr/lightgcn'))")
    assert "temperature=1.0" in run("from taylorank.registry import model_named; print(model_named('ccl'))")
