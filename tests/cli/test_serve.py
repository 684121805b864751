"""`taylorank serve` up to where it listens; tests/serving has the rest."""

from __future__ import annotations

import importlib.util

import pytest

import taylorank as tr
from tests.cli.command import run


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TAYLORANK_API_KEY", raising=False)
    tr.Popularity().fit(tr.planted(60, 30, interactions=500)).save("m.tr")
    (tmp_path / "twice.csv").write_text("item,title\n1,a\n1,b\n")
    return tmp_path


@pytest.fixture
def started(monkeypatch):
    """The settings that a server is started with, in place of the server."""
    pytest.importorskip("prometheus_client", reason="needs the extra [serve]")
    pytest.importorskip("uvicorn", reason="needs the extra [serve]")
    given = []
    monkeypatch.setattr(
        "taylorank.serving.listening.run_one", lambda settings, bound, loaded: (given.append(settings), loaded())
    )
    return given


def test_it_is_safe_by_default(place, started, capsys):
    assert run("serve", "m.tr", "--port", "0") == 0
    (settings,) = started
    assert settings.allowed_hosts == ("localhost", "127.0.0.1", "[::1]")
    assert (settings.api_key, settings.cors_origins, settings.max_body) == (None, (), 8 << 20)
    assert capsys.readouterr().out.startswith("m at http://127.0.0.1:")


def test_options_reach_the_server(place, started, monkeypatch, capsys):
    monkeypatch.setenv("TAYLORANK_API_KEY", "from-the-environment")
    words = [
        "--split",
        "a=3,b=1",
        "--host",
        "0.0.0.0",
        "--port",
        "0",
        "--max-body",
        "0.5",
        "--cors-origin",
        "https://x.y",
    ]
    assert run("serve", "a=m.tr", "b=m.tr", *words) == 0
    (settings,) = started
    assert settings.weights == {"a": 3.0, "b": 1.0}
    assert settings.api_key == "from-the-environment"
    assert (settings.allowed_hosts, settings.cors_origins, settings.max_body) == ((), ("https://x.y",), 1 << 19)
    assert "warning" not in capsys.readouterr().err


def test_other_names_come_beside_the_local_ones(place, started):
    assert run("serve", "m.tr", "--host", "0.0.0.0", "--allow-host", "api.example", "--port", "0") == 0
    assert started[0].allowed_hosts == ("localhost", "127.0.0.1", "[::1]", "api.example")


def test_it_warns_where_anyone_may_ask(place, started, capsys):
    assert run("serve", "m.tr", "--host", "0.0.0.0", "--port", "0") == 0
    assert "anyone who reaches this address may ask" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.tr"], "no such file: none.tr"),
        (["m.tr", "m.tr"], "two models are named 'm'"),
        (["m.tr", "--split", "x=1"], "cannot use 'x=1'"),
        (["m.tr", "--items", "none.csv"], "no such file: none.csv"),
        (["m.tr", "--items", "twice.csv"], "item '1' in more than one row"),
        (["m.tr", "--hide", "none.txt"], "no such file: none.txt"),
        (["m.tr", "--host", "no.such.host.invalid"], "cannot listen at no.such.host.invalid"),
        (["m.tr", "--api-key", " "], "API key"),
        (["m.tr", "--port", "70000"], "--port"),
        ([], "MODELS"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(place, capsys, arguments, words):
    pytest.importorskip("prometheus_client", reason="needs the extra [serve]")
    pytest.importorskip("uvicorn", reason="needs the extra [serve]")
    port = [] if "--port" in arguments else ["--port", "0"]
    assert run("serve", *arguments, *port) == 2
    errors = capsys.readouterr().err
    assert words in errors
    assert errors.count("\n") == 1


def test_without_the_extra_it_says_what_to_install(place, monkeypatch, capsys):
    plain = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "uvicorn" else plain(name))
    assert run("serve", "m.tr") == 2
    assert "pip install 'taylorank[serve]'" in capsys.readouterr().err
