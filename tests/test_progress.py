"""Long calls say what they do: on a terminal by default, elsewhere if they are asked, to a callback, to the log."""

from __future__ import annotations

import logging

import pytest

import taylorank as tr
from taylorank import progress
from taylorank.data import datasets
from taylorank.data.datasets import places
from tests.cli.command import run

DATA = tr.planted(60, 30, interactions=700, random_state=1)
MODEL = tr.EASE().fit(DATA)


@pytest.fixture
def terminal(monkeypatch, capsys):
    """Return what the terminal was sent since the last call."""
    monkeypatch.setattr(progress, "_is_terminal", lambda: True)
    monkeypatch.setattr(progress, "MOMENT", 0.0)
    monkeypatch.setattr(progress, "REFRESH", 0.0)
    return lambda: capsys.readouterr().err


CALLS = {
    "rg2": lambda **how: tr.RG2(4).fit(DATA, **how),
    "ials": lambda **how: tr.IALS(4, iterations=3).fit(DATA, **how),
    "ease": lambda **how: tr.EASE().fit(DATA, **how),
    "itemknn": lambda **how: tr.ItemKNN().fit(DATA, **how),
    "distilled": lambda **how: tr.Distilled(tr.RG2(4), 2, steps=5).fit(DATA, **how),
    "tune": lambda **how: tr.tune("ials", *DATA.split((0.8, 0.2)), trials=2, space={"factors": [2, 3]}, **how),
    "evaluate": lambda **how: tr.evaluate(MODEL, DATA, seen=[], **how),
    "recommend": lambda **how: MODEL.recommend([0] * 20_000, 3, **how),
    "partial_fit": lambda **how: tr.RG2(4).fit(DATA, progress=False).partial_fit(DATA[:20], sweeps=3, **how),
    "diagnose": lambda **how: tr.diagnose(tr.RG2(4).fit(DATA, progress=False), **how),
    "fit_best": lambda **how: tr.fit_best(DATA, seconds=0.5, **how),
    "compare": lambda **how: tr.compare(DATA, ["ease", "popularity"], seeds=(0,), trials=0, **how),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_terminal_shows_a_line_and_removes_it(name, terminal):
    CALLS[name]()
    lines = terminal().split("\r\x1b[K")
    assert any(" s" in line for line in lines)
    assert lines[-1] == ""
    assert all("\n" not in line and len(line) < 80 for line in lines)


@pytest.mark.parametrize("columns", [40, 120])
def test_the_line_is_as_long_as_the_terminal_is_wide(terminal, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    with progress.narrated("fitting" * 30):
        progress.report("step")
    assert max(map(len, terminal().split("\r\x1b[K"))) == columns - 1


@pytest.mark.parametrize("name", CALLS)
def test_it_is_silent_if_it_should_be(name, terminal):
    CALLS[name](progress=False)
    assert terminal() == ""


def test_without_a_terminal_nothing_is_written_by_default(capsys):
    for call in CALLS.values():
        call()
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out.splitlines()[0].startswith("60 users")  # fit_best says what it chose
    assert "fitting" not in shown.out


def test_quick_calls_show_nothing_on_a_terminal(terminal, monkeypatch):
    monkeypatch.setattr(progress, "MOMENT", 1000.0)
    CALLS["rg2"]()
    assert terminal() == ""


def test_lines_come_now_and_then_where_there_is_no_terminal(capsys, monkeypatch):
    monkeypatch.setattr(progress, "LINES", 0.0)
    tr.IALS(4, iterations=3).fit(DATA, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in lines] == [f"fitting IALS: step {step}" for step in (1, 2, 3)]


@pytest.mark.parametrize("name", ["rg2", "ials", "tune", "compare", "partial_fit", "diagnose", "fit_best"])
def test_a_callback_gets_every_report(name):
    seen = []
    CALLS[name](progress=seen.append)
    assert seen
    assert all(isinstance(one, progress.Report) for one in seen)
    assert [one.seconds for one in seen] == sorted(one.seconds for one in seen)
    if name != "fit_best":  # which names the model that it tries
        assert len({one.what for one in seen}) == 1  # what it calls has no line of its own


def test_an_update_counts_its_sweeps():
    seen = []
    CALLS["partial_fit"](progress=seen.append)
    assert {one.what for one in seen} == {"updating RG2"}
    assert [one.done for one in seen if one.done] == [1, 2, 3]


def test_a_quiet_search_for_a_model_still_reports_to_a_callback(capsys):
    seen = []
    tr.fit_best(DATA, seconds=0.5, quiet=True, progress=seen.append)
    assert seen
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("words", [["recommend", "--all"], ["fold-in", "log.csv"]], ids=lambda words: words[0])
def test_lists_in_a_file_tell_of_themselves_in_pipes(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "LINES", 0.0)
    tr.RG2(4).fit(DATA).save("model.tr")
    DATA.to_frame().write_csv("log.csv")
    command, *rest = words
    assert run(command, "model.tr", *rest, "--out", "recs.csv") == 0
    assert "recommending: 60 of 60 users" in capsys.readouterr().err
    assert run(command, "model.tr", *rest, "--out", "recs.csv", "--quiet") == 0
    assert capsys.readouterr().err == ""


def test_downloads_tell_of_themselves_in_pipes(tmp_path, monkeypatch, capsys):
    def locate(dataset, progress):
        progress(3_000_000, 5_000_000)
        return places.Located((tmp_path / "log.csv",), is_parquet=False)

    monkeypatch.setattr(progress, "LINES", 0.0)
    monkeypatch.setattr("taylorank.cli.datasets.locate", locate)
    assert run("datasets", "get", "ml-1m") == 0
    assert "data set ml-1m: 3 of 5 MB" in capsys.readouterr().err
    assert run("datasets", "get", "ml-1m", "--quiet") == 0
    assert capsys.readouterr().err == ""


def test_reading_a_file_tells_how_much_is_read(terminal, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("user,item\n" + "ann,tea\n" * 200_000)
    tr.read_interactions(log)
    shown = terminal()
    assert "reading log.csv: 2 of 2 MB, read, " in shown
    tr.read_interactions(log, progress=False)
    assert terminal() == ""


def test_data_sets_tell_of_downloads(terminal, tmp_path, monkeypatch):
    log = tmp_path / "log.csv"
    log.write_text("1\t2\t3\t4\n" * 100)

    def download(dataset, progress):
        progress(3_000_000, 5_000_000)
        return places.Located((log,), is_parquet=False)

    monkeypatch.setattr(datasets, "locate", download)
    datasets.path("ml-1m")
    assert "data set ml-1m: 3 of 5 MB, downloaded, " in terminal()
    datasets.path("ml-1m", progress=False)
    assert terminal() == ""


def test_lists_for_a_few_users_are_not_told_of(terminal):
    MODEL.recommend([0, 1], 3)
    assert terminal() == ""


def test_what_a_fit_evaluates_does_not_count_in_its_line():
    seen = []
    train, valid = DATA.split((0.8, 0.2))
    tr.IALS(4, iterations=3).fit(train, valid, progress=seen.append)
    assert [one.done for one in seen] == [1, 2, 3]


def test_progress_changes_nothing_in_the_result():
    quiet, loud = tr.IALS(4, iterations=3).fit(DATA, progress=False), tr.IALS(4, iterations=3)
    loud.fit(DATA, progress=lambda report: None)
    assert (quiet.item_factors == loud.item_factors).all()
    assert [sorted(step) for step in quiet.history_] == [sorted(step) for step in loud.history_]


def test_the_log_has_what_was_done(caplog):
    with caplog.at_level(logging.INFO, logger="taylorank"):
        tr.RG2(4).fit(DATA)
    assert [record.name for record in caplog.records] == ["taylorank"]
    assert caplog.messages[0].startswith("fitting RG2: ")


def test_an_error_ends_the_line(terminal):
    with pytest.raises(ZeroDivisionError):
        tr.RG2(4).fit(DATA, callback=lambda step: 1 / 0)
    assert terminal().endswith("\r\x1b[K")
    progress.report("nobody listens")
    assert terminal() == ""
