"""What the builds with sanitizers leave in their record."""

from __future__ import annotations

import json
import os
import time

from research.attack import sanitize

TESTS = """<testsuites><testsuite name="pytest" errors="0" failures="0" skipped="2" tests="9"/></testsuites>"""


def test_tests_that_passed_are_counted(tmp_path):
    (tmp_path / "tests.xml").write_text(TESTS)
    assert sanitize.passed(tmp_path / "tests.xml") == {"tests": 7, "skipped": 2}


def test_builds_stand_beside_each_other_in_one_record(tmp_path):
    file = tmp_path / "sanitize.json"
    for name, tests in (("thread", 1), ("address", 2), ("thread", 3)):
        file.write_text(json.dumps(sanitize.with_build(file, name, {"tests": tests})))
    known = json.loads(file.read_text())["builds"]
    assert {name: one["tests"] for name, one in known.items()} == {"address": 2, "thread": 3}
    assert known["thread"]["says"] == "ThreadSanitizer"


def test_tests_and_attack_are_run_with_the_build(monkeypatch):
    ran = []

    def run(words, environment, name):
        ran.append((words[2], environment["LD_PRELOAD"], name))
        place = words[-1].removeprefix("--junitxml=")
        found = TESTS if words[2] == "pytest" else json.dumps({"attacks": {"kernels": {"tried": 5}}})
        with open(place, "w") as file:
            file.write(found)

    monkeypatch.setattr(sanitize, "_run", run)
    found = sanitize._found("thread", {"LD_PRELOAD": "tsan"}, 0.1)
    assert found == {"tests": 7, "skipped": 2, "attack": {"tried": 5}}
    assert ran == [("pytest", "tsan", "thread"), ("research.attack", "tsan", "thread")]


def test_it_is_built_again_when_a_source_is_newer(tmp_path):
    assert not sanitize.is_built(tmp_path)
    module = tmp_path / "_native.so"
    module.touch()
    os.utime(module, (time.time() + 60,) * 2)
    assert sanitize.is_built(tmp_path)
    os.utime(module, (0, 0))
    assert not sanitize.is_built(tmp_path)
