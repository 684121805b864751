"""`taylorank train` for every model: its options, its refusals, its progress, its interruption."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from rich.console import Console

import taylorank as tr
from taylorank.cli.model_options import MEANINGS, parameters_of
from taylorank.cli.train import _fit
from taylorank.progress import narrated, report
from taylorank.registry import MODELS
from tests.cli.command import run


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.csv"
    tr.planted(80, 40, interactions=900, random_state=2).to_frame().write_csv(path)
    return path


OPTIONS = {
    "rg2": {"factors": 5, "regularization": 0.3, "ranking": "lift", "solver": "als", "iterations": 3},
    "rgx": {"factors": 5, "proposal_exponent": 0.9, "context_exponent": 1.0, "max_passes": 3},
    "wrmf": {"factors": 5, "alpha": 2.5, "regularization": 7.0, "solver": "cg"},
    "ials": {"factors": 5, "unobserved_weight": 0.2, "nu": 0.5, "tolerance": 0.001},
    "ease": {"regularization": 33.0, "max_items": 100},
    "itemknn": {"neighbours": 9, "shrink": 2.0},
}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_with_its_options(name, log, tmp_path, capsys):
    chosen = OPTIONS.get(name, {"factors": 3} if "factors" in parameters_of(MODELS[name]) else {})
    words = [word for key, value in chosen.items() for word in (f"--{key.replace('_', '-')}", str(value))]
    out = tmp_path / "m.tr"
    assert run("train", str(log), "--model", name, *words, "--seed", "3", "--num-threads", "1", "--out", str(out)) == 0
    assert f"fitted {name} in" in capsys.readouterr().out
    model = tr.load(out)
    seed = {"random_state": 3} if "random_state" in model.get_params() else {}
    expected = MODELS[name](**chosen, **seed)
    data = tr.read_interactions(log, strength="strength")
    again = expected.fit(data).recommend([1, 2])
    assert model.settled_params() == expected.settled_params()  # what is left to the data is known after the fit
    for got, wanted in zip(model.recommend([1, 2]), again, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_options_of_other_models_are_refused_with_the_list(log, tmp_path, capsys):
    for name, flag, own in (("rg2", "--alpha", "--proposal-exponent"), ("popularity", "--factors", "none")):
        assert run("train", str(log), "--model", name, flag, "3", "--out", str(tmp_path / "m.tr")) == 2
        complaint = capsys.readouterr().err
        assert f"{name} has no option {flag}" in complaint
        assert own in complaint
        assert complaint.count("\n") == 1
    assert run("train", str(log), "--model", "rg3", "--out", str(tmp_path / "m.tr")) == 2
    assert "no model is called 'rg3'; choose from rg2, rgx" in capsys.readouterr().err
    assert run("train", str(log), "--model", "wrmf", "--solver", "spectral", "--out", str(tmp_path / "m.tr")) == 2
    assert "choose from auto, cholesky" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_help_lists_what_each_model_takes(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run("train", "--help") == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for name, kind in MODELS.items():
        assert name in shown
        for parameter in parameters_of(kind):
            assert parameter in MEANINGS, f"say in cli/model_options.py what {parameter} means"
            option = shown[shown.rindex(f"--{parameter.replace('_', '-')} ") :]
            assert name in option[option.index("[") : option.index("]")]


def test_the_teacher_of_a_student_is_set(log, tmp_path, capsys):
    command = ["train", str(log), "--model", "distilled", "--factors", "3", "--steps", "5", "--quiet", "--bias=false"]
    named = ["--set", "teacher=ease", "--set", "teacher.regularization=7"]
    assert run(*command, *named, "--out", str(tmp_path / "m.tr")) == 0
    model = tr.load(tmp_path / "m.tr")
    assert (type(model.teacher), model.teacher.regularization, model.bias) == (tr.EASE, 7, False)
    for wrong, said in (("alpha=2", "alpha is not of the teacher"), ("teacher.magic=1", "no parameter 'magic'")):
        assert run(*command, "--set", wrong, "--out", str(tmp_path / "x.tr")) == 2
        assert said in capsys.readouterr().err
    assert run("train", str(log), "--model", "rg2", "--set", "alpha=2", "--out", str(tmp_path / "x.tr")) == 2
    assert "rg2 has no parts with options" in capsys.readouterr().err


def test_a_student_keeps_its_teacher_when_told_and_says_so_when_not(log, tmp_path, capsys):
    command = ["train", str(log), "--model", "distilled", "--factors", "3", "--steps", "5"]
    for more, words in (([], "--keep-teacher keeps it"), (["--keep-teacher"], "written")):
        file = tmp_path / f"{len(more)}.tr"
        assert run(*command, *more, "--out", str(file)) == 0
        shown = capsys.readouterr().out
        assert words in shown
        assert ("without its teacher" in shown) is (not more)
        assert hasattr(tr.load(file), "teacher_") is bool(more)
        user = str(tr.load(file).users.values[0])
        assert run("explain", str(file), "--user", user, "--item", "3") == (0 if more else 2)
        capsys.readouterr()
    assert run("train", str(log), "--model", "ease", "--keep-teacher", "--out", str(tmp_path / "x.tr")) == 2
    assert "use --model distilled" in capsys.readouterr().err


def test_no_seen_makes_a_smaller_file(log, tmp_path):
    for flag in ("--seen", "--no-seen"):
        assert run("train", str(log), "--factors", "2", "--quiet", flag, "--out", str(tmp_path / f"{flag}.tr")) == 0
    assert tr.load(tmp_path / "--no-seen.tr").seen.nnz == 0
    assert tr.load(tmp_path / "--seen.tr").seen.nnz == 900


class Slow:
    """A model whose fit takes 25 seconds of the clock that progress goes by."""

    def fit(self, data, progress=None):
        with narrated("fitting Slow", progress) as narrator:
            for step in range(1, 6):
                narrator.began -= 5
                report("residual 1.0e-01", done=step)


@pytest.mark.parametrize(("quiet", "lines"), [(False, 2), (True, 0)])
def test_a_piped_command_tells_now_and_then_how_far_it_is(quiet, lines, capsys):
    _fit(Slow(), None, Console(quiet=quiet), None)
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == lines
    assert all(line.startswith("fitting Slow: step ") for line in shown)


def test_ctrl_c_while_fitting_leaves_nothing(log, tmp_path):
    """A real signal to a real process, after it has said what it read."""
    code = "from taylorank.cli import main; main()"
    words = ["train", str(log), "--model", "ials", "--iterations", "100000000", "--factors", "8", "--out", "m.tr"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert "Interactions" in process.stdout.readline()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint == "taylorank: interrupted; nothing is left half-written\n"
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_fit_leaves_a_checkpoint_that_the_same_command_goes_on_from(tmp_path, monkeypatch):
    from taylorank.solvers import row_als

    data = tmp_path / "log.csv"
    tr.planted(80, 40, interactions=900).to_frame().write_csv(data)
    command = ["train", str(data), "--model", "ials", "--factors", "4", "--quiet"]
    assert run(*command, "--out", str(tmp_path / "whole.tr")) == 0
    calls, solve = [], row_als.row_solve

    def interrupted(*args, **kwargs):
        calls.append(1)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return solve(*args, **kwargs)

    monkeypatch.setattr(row_als, "row_solve", interrupted)
    command += ["--out", str(tmp_path / "resumed.tr"), "--checkpoint", str(tmp_path / "fit.npz")]
    assert run(*command) == 130
    assert (tmp_path / "fit.npz").exists()
    assert run(*command) == 0
    whole, resumed = (tr.load(tmp_path / f"{name}.tr") for name in ("whole", "resumed"))
    assert whole.user_factors.tobytes() == resumed.user_factors.tobytes()
    assert len(calls) < 9 + 2 * 16
    assert run("train", str(data), "--model", "ease", *command[-4:]) == 2
