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


def test_students_need_no_torch():
    code = "import taylorank as tr; d = tr.planted(50, 20, interactions=400); m = tr.Distilled(tr.RG2(8), 4, steps=5)"
    assert "(20, 4)" in run(f"{code}; print(m.fit(d).fold_in(d).item_factors.shape)")


SIZES = "n_users=3, n_items=4, factors=2"


@pytest.mark.parametrize(
    ("read", "shown"),
    [
        ("tr.losses.names()[-1]", "hsm"),
        ("tr.losses.get('bpr').formula", "−(1/n) Σ_j log σ(o_y − o_j)"),
        ("tr.losses.get('entmax').options['alpha']", "1.5"),
        ("tr.losses.get('nce').needs_log_q", "True"),
        ("tr.backbones.names()", "('mf', 'lightgcn', 'sasrec', 'two-tower')"),
        ("tr.backbones.get('sasrec').takes", "sequences"),
        ("tr.samplers.names()", "('uniform', 'popularity', 'dynamic', 'in-batch')"),
        ("tr.samplers.get('dynamic').options['pool']", "16"),
        ("tr.Neural('bpr').settled_params()['regularization']", "0.03"),
    ],
)
def test_what_is_known_of_the_parts_needs_no_torch(read, shown):
    assert shown in run(f"import taylorank as tr; print({read})")


def test_reading_the_registries_does_not_import_torch_where_it_is():
    read = "tr.losses.get('softmax'), tr.backbones.get('mf'), tr.samplers.get('uniform'), tr.Neural"
    code = f"import sys; import taylorank as tr; {read}; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize(
    "use",
    [
        "tr.losses.get('entmax').function",
        f"tr.losses.get('entmax').criterion({SIZES})",
        "tr.losses.Positives",
        f"tr.backbones.get('mf')({SIZES})",
        "tr.backbones.get('mf').build(tr.planted(50, 20, interactions=400), 4)",
        "tr.backbones.SASRec",
        "tr.samplers.get('uniform')(n_items=4)",
        "tr.samplers.DynamicSampler",
        "tr.Neural().fit(tr.planted(50, 20, interactions=400))",
        "tr.tune('softmax', *tr.planted(50, 20, interactions=400).split((0.8, 0.2)))",
    ],
)
def test_the_rest_names_the_extra(use):
    assert "torch is not installed; pip install 'taylorank[torch]'" in run(f"import taylorank as tr; {use}")


def test_a_composition_can_be_named_and_shown():
    assert "Neural(loss='bpr'" in run("from taylorank.registry import model_named; print(model_named('bpr/lightgcn'))")
    assert "temperature=1.0" in run("from taylorank.registry import model_named; print(model_named('ccl'))")
