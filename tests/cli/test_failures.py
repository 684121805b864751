"""Errors speak of commands and options, not of keywords of Python."""

from __future__ import annotations

import pytest

from taylorank.cli import main


def failure(words, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    return lines[0]


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("a,b\n1,2\n3,4\n", "say which: --user …, or --columns user,item for a file without header"),
        ("one\ntwo\n", "give --separator … if it is another"),
        ("user,item\n1,2\n,4\n", "--missing drop"),
        ('user,item\n"a,2\nb,4\n', '--quote ""'),
    ],
)
def test_remedies_name_options(text, remedy, tmp_path, capsys):
    (tmp_path / "d.csv").write_text(text)
    assert remedy in failure(["train", str(tmp_path / "d.csv"), "--out", str(tmp_path / "m.tr")], capsys)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["split", "d.csv"], "taylorank split needs --out; taylorank split --help has an example"),
        (["train"], "taylorank train needs DATA; taylorank train --help has an example"),
        (["datasets", "get"], "taylorank datasets get needs NAME; taylorank datasets get --help has an example"),
    ],
)
def test_what_a_command_needs_is_named(words, message, capsys):
    assert failure(words, capsys) == f"taylorank: {message}"


def test_an_option_without_its_value_is_named(capsys):
    assert "--out requires an argument" in failure(["split", "d.csv", "--out"], capsys)
