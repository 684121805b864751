"""What packages are made of agrees: versions, hooks, workflows, the files that they name."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
yaml = pytest.importorskip("yaml")


def read(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_hooks_are_what_make_lint_runs():
    lint = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    commands = [line.strip().replace("$(BIN)/", "").removesuffix(" .") for line in lint.splitlines()]
    hooks = [hook["entry"].removeprefix(".venv/bin/") for hook in read(".pre-commit-config.yaml")["repos"][0]["hooks"]]
    assert hooks == commands


def test_versions_agree():
    version = PROJECT["project"]["version"]
    assert str(read("CITATION.cff")["version"]) == version
    assert re.search(rf"^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_wheels_are_built_for_the_oldest_python_and_for_the_stable_abi():
    stable = PROJECT["tool"]["scikit-build"]["wheel"]["py-api"]
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=").replace(".", "")
    built = PROJECT["tool"]["cibuildwheel"]["build"]
    assert built[:2] == [f"cp{oldest}-*", f"{stable}-*"]  # those after them try the stable one
    assert "STABLE_ABI" in (ROOT / "CMakeLists.txt").read_text()


def test_the_source_leaves_records_out():
    assert {"research", "tests", "docs", "examples"} <= set(PROJECT["tool"]["scikit-build"]["sdist"]["exclude"])


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.name)
def test_workflows_name_files_and_targets_that_are_there(path):
    text = path.read_text(encoding="utf-8")
    assert yaml.safe_load(text)["jobs"]
    for file in re.findall(r"(\.ci/\w+(?:\.py)?)", text):
        assert (ROOT / file).exists(), file
    for target in re.findall(r"\bmake (\w+)", text):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), target
    oses = yaml.safe_load(text)["jobs"].get("wheels", {}).get("strategy", {}).get("matrix", {}).get("os")
    assert oses is None or {"ubuntu-latest", "ubuntu-24.04-arm", "macos-14"} <= set(oses)
