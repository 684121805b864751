"""Outputs: whole or not at all, links followed, modes kept, devices and pipes written to and never replaced."""

from __future__ import annotations

import concurrent.futures
import os
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

import taylorank as tr
from taylorank import part_files
from taylorank.errors import DataError
from taylorank.output import atomic_folder, atomic_path, check_place, output_folder
from tests.cli.command import run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes, links and pipes of Unix")


def write(path, text="new"):
    with atomic_path(path) as temporary:
        temporary.write_text(text)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path):
    target = tmp_path / "a"
    for kept in (0o600, 0o640, 0o444):
        target.write_text("old")
        target.chmod(kept)
        write(target)
        assert (target.read_text(), mode(target)) == ("new", kept)
        target.unlink()


def test_a_new_file_has_the_mode_of_new_files(tmp_path):
    write(tmp_path / "a")
    (tmp_path / "b").write_text("")
    assert mode(tmp_path / "a") == mode(tmp_path / "b")


def test_links_are_followed(tmp_path):
    (tmp_path / "far").mkdir()
    real, link, dangling = tmp_path / "far" / "real", tmp_path / "link", tmp_path / "dangling"
    real.write_text("old")
    link.symlink_to("far/real")
    dangling.symlink_to("far/later")
    for place in (link, dangling):
        write(place)
        assert place.is_symlink()
    assert real.read_text() == (tmp_path / "far" / "later").read_text() == "new"
    assert sorted(os.listdir(tmp_path / "far")) == ["later", "real"]


def test_a_loop_of_links_is_an_error(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for action in (write, check_place):
        with pytest.raises(DataError, match=r"cannot write .*a: Too many levels"):
            action(tmp_path / "a")


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    check_place(pipe)
    write(pipe, "through")
    reader.join(10)
    assert found == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_device_is_written_to(tmp_path):
    """A device that a test may make has the numbers of /dev/null; where none may be made, a link to it has to do."""
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.open("wb").close()
    except OSError:
        device.unlink(missing_ok=True)
        device.symlink_to("/dev/null")
    (tmp_path / "data.csv").write_text("user,item\n1,2\n1,3\n2,2\n")
    assert run("train", str(tmp_path / "data.csv"), "--model", "popularity", "--out", str(device), "--quiet") == 0
    assert stat.S_ISCHR(device.stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "null"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_is_an_error_of_one_line(tmp_path, capsys):
    (tmp_path / "full").symlink_to("/dev/full")
    (tmp_path / "data.csv").write_text("user,item\n1,2\n1,3\n2,2\n")
    assert run("train", str(tmp_path / "data.csv"), "--model", "popularity", "--out", str(tmp_path / "full")) == 2
    assert capsys.readouterr().err.endswith(": No space left on device; check the folder and free space\n")


def test_folders_and_names_that_are_none(tmp_path):
    for path, words in (
        (tmp_path, "is a folder"),
        (tmp_path / "a\0b", "no file name"),
        (tmp_path / "a\ud800b", "no file name"),
        (3, "no file name"),
        (None, "no file name"),
        (b"bytes", "no file name"),
        ("~nosuchuser/a", "home folder of an unknown user"),
        (tmp_path / "nope" / "a", "there is no folder"),
        (tmp_path / ("x" * 300), "too"),
    ):
        for action in (write, check_place):
            with pytest.raises(DataError, match=words) as raised:
                action(path)
            assert len(str(raised.value)) < 400
    assert os.listdir(tmp_path) == []


def folder_at(path):
    with atomic_folder(path):
        pass


def made_at(path):
    with output_folder(path):
        pass


@pytest.mark.parametrize("action", [write, check_place, folder_at, made_at])
def test_a_folder_that_is_not_there_is_not_made(action, tmp_path):
    for place in (tmp_path / "nope" / "x", tmp_path / "nope" / "deeper" / "x"):
        with pytest.raises(DataError, match=r"there is no folder .*nope.*; make it, or choose another"):
            action(place)
    assert os.listdir(tmp_path) == []


def test_a_tilde_is_the_home_folder_for_whatever_writes_and_reads(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    data = tr.planted(30, 20, interactions=200)
    data.save_npz("~/log.npz")
    model = tr.RG2(4).fit(tr.Interactions.load_npz("~/log.npz"))
    model.save("~/model.tr")
    assert np.array_equal(tr.load("~/model.tr").item_factors, model.item_factors)
    assert run("train", "~/log.npz", "--model", "popularity", "--out", "~/popular.tr") == 0
    assert run("export", "~/model.tr", "--to", "parquet", "--out", "~/shop") == 0
    tr.tune("itemknn", *data.split((0.8, 0.2)), trials=1, file="~/trials.jsonl")
    tr.compare(data, ["popularity"], trials=0, file="~/c.json").save("~/c.json")
    assert os.listdir(tmp_path / "here") == []
    assert {"log.npz", "model.tr", "popular.tr", "shop", "trials.jsonl", "c.json"} <= {*os.listdir(tmp_path)}
    assert run("train", "~/log.npz", "--model", "popularity", "--out", "~nosuchuser/n.tr") == 2
    assert os.listdir(tmp_path / "here") == []


def test_names_as_long_as_the_file_system_allows(tmp_path):
    write(tmp_path / ("é" * 127))
    assert os.listdir(tmp_path) == ["é" * 127]


def test_what_a_killed_process_left_is_removed_and_what_another_is_writing_is_not(tmp_path):
    target = tmp_path / "a.tr"
    killed_inside(target)
    assert len(os.listdir(tmp_path)) == 1
    others = [tmp_path / ".a.tr.txt", tmp_path / ".a.tr.12345678.part.old", tmp_path / ".b.tr.12345678.part"]
    for other in others:
        other.write_text("not ours")
    (tmp_path / ".a.tr.12345678.part").write_text("a file, as earlier versions left them")
    with part_files.part_folder(target) as busy:
        write(target)
        assert {*tmp_path.iterdir()} == {target, busy, *others}
    killed_inside(target)
    check_place(target)
    assert {*tmp_path.iterdir()} == {target, *others}


def killed_inside(target):
    """Have another process kill itself while it writes."""
    code = """import os, sys
from taylorank.part_files import Path, part_folder
with part_folder(Path(sys.argv[1])):
    os.kill(os.getpid(), 9)"""
    subprocess.run([sys.executable, "-c", code, str(target)], check=False)


def test_a_library_that_puts_another_file_in_place_is_still_locked(tmp_path):
    """As safetensors does: a second writer must not take the first one's file for a leftover."""
    with atomic_path(tmp_path / "a.tr") as temporary:
        (temporary.parent / "other").write_text("whole")
        os.replace(temporary.parent / "other", temporary)
        write(tmp_path / "a.tr", "second")
        assert temporary.read_text() == "whole"
    assert (tmp_path / "a.tr").read_text() == "whole"
    assert os.listdir(tmp_path) == ["a.tr"]


def test_threads_that_save_at_once_leave_a_whole_file_of_the_usual_mode(tmp_path):
    model = tr.Popularity().fit(tr.planted(30, 20, interactions=200))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: model.save(tmp_path / "m.tr"), range(60)))
    (tmp_path / "plain").write_text("")
    assert tr.load(tmp_path / "m.tr").seen == model.seen
    assert mode(tmp_path / "m.tr") == mode(tmp_path / "plain")
    assert sorted(os.listdir(tmp_path)) == ["m.tr", "plain"]


def test_it_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(os, "fsync", lambda handle: done.append(os.readlink(f"/proc/self/fd/{handle}")))
    monkeypatch.setattr(os, "replace", lambda a, b, move=os.replace: (done.append("moved"), move(a, b)))
    write(tmp_path / "a")
    assert ".part/" in done[0]
    assert done[1:] == ["moved", str(tmp_path)]


def limited(code, *arguments):
    """Run Python code with files of at most 2 kB, which fails as a full disk does, whoever runs it."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))\n"
    return subprocess.run(
        [sys.executable, "-c", limit + code, *map(str, arguments)], capture_output=True, text=True, timeout=120
    )


def test_a_disk_that_is_full_is_an_error_of_one_line(tmp_path):
    rng = np.random.default_rng(0)
    data, model, out = tmp_path / "data.npz", tmp_path / "model.tr", tmp_path / "out"
    tr.Interactions.from_arrays(rng.integers(0, 100, 900), rng.integers(0, 90, 900)).save_npz(data)
    tr.Popularity().fit(tr.Interactions.load_npz(data)).save(model)
    out.mkdir()
    command = "import sys; from taylorank.cli import main; main(sys.argv[1:])"
    for arguments in (
        ("train", data, "--model", "popularity", "--out", out / "model.tr"),
        ("recommend", model, "--all", "--out", out / "lists.parquet"),
        ("recommend", model, "--all", "--out", out / "lists.csv"),
        ("recommend", model, *(["--for-user", "1"] * 30), "--json", out / "lists.json"),
        ("evaluate", model, data, "--seen", data, "--per-user", out / "users.parquet"),
    ):
        done = limited(command, *arguments)
        assert done.returncode == 2, done.stderr
        assert "Traceback" not in done.stderr
        assert done.stderr.endswith(": File too large; check the folder and free space\n"), done.stderr
    assert os.listdir(out) == []
    for call in ("save_npz", "save"):
        value = f"tr.Interactions.load_npz({str(data)!r})" if call == "save_npz" else f"tr.load({str(model)!r})"
        done = limited(f"import taylorank as tr; {value}.{call}({str(out / 'x')!r})")
        assert "DataError: cannot write" in done.stderr
    assert os.listdir(out) == []


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    def fill(text, **options):
        with atomic_folder(tmp_path / "shop", **options) as folder:
            (folder / "mark").write_text(text)
            if text == "broken":
                raise OSError(28, "No space left on device")

    fill("one")
    with pytest.raises(DataError, match="is there already"):
        fill("two")
    with pytest.raises(DataError, match=r"cannot write .*/shop: No space left"):
        fill("broken", replaces="mark")
    assert (tmp_path / "shop" / "mark").read_text() == "one"
    fill("two", replaces="mark")
    assert (tmp_path / "shop" / "mark").read_text() == "two"
    with pytest.raises(DataError, match="not what an earlier run wrote"):
        fill("three", replaces="other")
    assert os.listdir(tmp_path) == ["shop"]
    (tmp_path / "plain").mkdir()
    assert mode(tmp_path / "shop") == mode(tmp_path / "plain")


def shop_with(tmp_path, text, **how):
    with atomic_folder(tmp_path / "shop", **how) as folder:
        (folder / "mark").write_text(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('called `unwrap()` on an `Err` value: Os { code: 24, kind: TooManyOpenFiles, message: "x" }', os.strerror(24)),
        ("index out of bounds", "a library failed"),
    ],
)
def test_a_panic_of_a_library_is_an_error_of_one_line(tmp_path, text, words):
    class PanicException(BaseException):
        """As polars raises them."""

    with pytest.raises(DataError, match=words), atomic_path(tmp_path / "a"):
        raise PanicException(text)
    with pytest.raises(KeyboardInterrupt), atomic_path(tmp_path / "a"):
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == []


def test_folders_change_places_in_one_step(tmp_path, monkeypatch):
    if not part_files._exchanged(*(Path(tempfile.mkdtemp(dir=tmp_path)) for _ in range(2))):
        pytest.skip("this file system cannot exchange two names")
    shop_with(tmp_path, "old")
    monkeypatch.setattr(os, "replace", lambda *_: pytest.fail("for a moment there would be no folder"))
    shop_with(tmp_path, "new", replaces="mark")
    assert (tmp_path / "shop" / "mark").read_text() == "new"


@pytest.fixture
def in_two_steps(monkeypatch):
    monkeypatch.setattr(part_files, "_exchanged", lambda *_: False)


def test_a_folder_that_cannot_be_moved_leaves_the_old_one(tmp_path, monkeypatch, in_two_steps):
    shop_with(tmp_path, "old")
    replace, calls = os.replace, []

    def second_fails(source, target):
        calls.append(source)
        if len(calls) == 2:
            raise OSError(5, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(os, "replace", second_fails)
    with pytest.raises(DataError, match="Input/output error"):
        shop_with(tmp_path, "new", replaces="mark")
    assert (tmp_path / "shop" / "mark").read_text() == "old"
    assert os.listdir(tmp_path) == ["shop"]


def test_a_folder_that_a_kill_left_aside_comes_back(tmp_path, in_two_steps):
    shop_with(tmp_path, "old")
    os.rename(tmp_path / "shop", tmp_path / ".shop.old")  # killed between the two steps
    with pytest.raises(DataError, match="is there already"):
        shop_with(tmp_path, "new")
    assert (tmp_path / "shop" / "mark").read_text() == "old"
    shop_with(tmp_path, "new", replaces="mark")
    assert (tmp_path / "shop" / "mark").read_text() == "new"
    assert os.listdir(tmp_path) == ["shop"]


def test_a_folder_that_a_kill_left_half_written_is_removed_and_one_under_way_is_not(tmp_path):
    left = tmp_path / ".shop.abcdefgh.part"
    left.mkdir()
    (left / "half").write_text("x")
    with atomic_folder(tmp_path / "shop", replaces="mark") as first:
        assert not left.exists()
        shop_with(tmp_path, "second")
        assert first.exists()
    assert os.listdir(tmp_path) == ["shop"]


def test_folders_with_names_that_are_none(tmp_path):
    for place, words in ((tmp_path / "a\0b", "is no file name"), (tmp_path / "no" / "shop", "there is no folder")):
        with pytest.raises(DataError, match=words), atomic_folder(place):
            pass
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "mark").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with atomic_folder(tmp_path / "link", replaces="mark") as folder:
        (folder / "mark").write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "mark").read_text() == "new"
    with atomic_folder(tmp_path / ("é" * 127)) as folder:  # 254 bytes, of 255 that file systems allow
        pass


def test_every_output_of_every_command_needs_its_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("user,item\n1,2\n1,3\n2,2\n3,3\n")
    tr.RG2(2).fit(tr.read_interactions("log.csv")).save("m.tr")
    before = sorted(os.listdir())
    train = ("log.csv", "--model", "popularity")
    for words in (
        ("run", "--out"),
        ("fit", "log.csv", "--out"),
        ("fit", "log.csv", "--out", "f.tr", "--json"),
        ("train", *train, "--out"),
        ("tune", "log.csv", "--file"),
        ("tune", "log.csv", "--out"),
        ("tune", "log.csv", "--json"),
        ("compare", "log.csv", "--models", "popularity", "--json"),
        ("compare", "log.csv", "--models", "popularity", "--report"),
        ("split", "log.csv", "--out"),
        ("update", "m.tr", "log.csv", "--out"),
        ("recommend", "m.tr", "--all", "--out"),
        ("recommend", "m.tr", "--for-user", "1", "--json"),
        ("similar", "m.tr", "--item", "2", "--json"),
        ("explain", "m.tr", "--user", "1", "--item", "3", "--json"),
        ("evaluate", "m.tr", "log.csv", "--json"),
        ("evaluate", "m.tr", "log.csv", "--per-user"),
        ("export", "m.tr", "--to", "parquet", "--out"),
        ("export", "m.tr", "--to", "parquet", "--out", "shop", "--json"),
        ("diagnose", "m.tr", "--json"),
        ("datasets", "list", "--json"),
        ("datasets", "stats", "log.csv", "--json"),
    ):
        assert run(*words, "nope/x.csv") == 2, words
        assert "there is no folder" in capsys.readouterr().err, words
        assert sorted(os.listdir()) == before, words
