"""Where files are looked for, in which order, and what happens to wrong ones."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from file_server import Site, serve

from taylorank.data import datasets
from taylorank.data.datasets import places
from taylorank.data.datasets.places import cache_folder, data_folders, locate, present
from taylorank.data.datasets.registry import Cleaning, Dataset, File
from taylorank.errors import DataError

CONTENT = b"0 1 2\n1 2\n"


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Two data folders, a working directory and a cache of the test's own."""
    for name in ("first", "second", "work/here", "work/shared/data", "cache"):  # the last but one is not looked at
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("TAYLORANK_DATA", os.pathsep.join([str(tmp_path / "first"), str(tmp_path / "second")]))
    monkeypatch.setenv("TAYLORANK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path / "work" / "here")
    return tmp_path


def make(address="https://nowhere.invalid/toy.txt", checksum=None):
    raw = Cleaning("raw", "everything")
    file = File("toy.txt", address, checksum)
    return Dataset("toy", "t", "c", "l", (raw,), files=(file,), loader=datasets.info("gowalla").loader)


def test_the_cache_is_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("TAYLORANK_CACHE", "~/own")
    assert cache_folder() == Path.home() / "own"
    monkeypatch.delenv("TAYLORANK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "taylorank"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "taylorank"


def test_data_folders_are_those_named_and_no_others(folders, monkeypatch):
    assert data_folders() == [folders / "first", folders / "second"]
    monkeypatch.delenv("TAYLORANK_DATA")
    assert data_folders() == []
    (folders / "work" / "shared" / "data" / "toy.txt").write_bytes(CONTENT)  # beside the working directory
    assert present(make()) is None


def test_folders_are_searched_in_order_and_the_cache_last(folders):
    spots = ["first/toy.txt", "second/toy.parquet", "cache/toy.txt"]
    for place in spots:
        (folders / place).write_bytes(CONTENT)
    for place in spots:
        found = locate(make())
        assert found.paths == (folders / place,)
        assert found.is_parquet == place.endswith("parquet")
        (folders / place).unlink()
    assert present(make()) is None


def test_in_one_folder_the_official_file_goes_before_parquet(folders):
    (folders / "first" / "toy.parquet").write_bytes(b"")
    (folders / "first" / "toy.txt").write_bytes(CONTENT)
    assert not locate(make()).is_parquet


def test_a_set_of_several_files_counts_only_when_complete(folders):
    gowalla = datasets.info("gowalla")
    (folders / "first" / "gowalla-train.parquet").write_bytes(b"")
    (folders / "second" / "gowalla").mkdir()
    (folders / "second" / "gowalla" / "train.txt").write_bytes(CONTENT)
    assert present(gowalla) is None
    (folders / "second" / "gowalla" / "test.txt").write_bytes(CONTENT)
    assert [path.name for path in locate(gowalla).paths] == ["train.txt", "test.txt"]
    (folders / "first" / "gowalla-test.parquet").write_bytes(b"")
    assert locate(gowalla).is_parquet


def test_what_is_nowhere_is_downloaded_once(folders):
    with serve(Site(CONTENT)) as site:
        dataset = make(site.address)
        assert locate(dataset).paths == (folders / "cache" / "toy.txt",)
        assert locate(dataset).paths == (folders / "cache" / "toy.txt",)
        assert len(site.requests) == 1


def test_a_download_that_fails_says_where_to_put_the_file(folders):
    with pytest.raises(DataError, match=rf"nowhere\.invalid/toy\.txt: .+ save it as {folders}/cache/toy\.txt"):
        locate(make())


def test_a_set_without_download_says_what_is_wanted_and_where(folders):
    dataset = replace(make(), files=(), loader=None)
    message = rf"no download; set TAYLORANK_DATA to the folder that holds toy\.parquet .*{folders}/first"
    with pytest.raises(DataError, match=message):
        locate(dataset)


def test_a_wrong_file_in_a_data_folder_is_refused_and_left_alone(folders):
    (folders / "first" / "toy.txt").write_bytes(b"other")
    with pytest.raises(DataError, match=r"first/toy\.txt has md5:\w+, not md5:\w+; replace it"):
        locate(make(checksum="md5:" + hashlib.md5(CONTENT).hexdigest()))
    assert (folders / "first" / "toy.txt").read_bytes() == b"other"


def test_a_cached_file_that_rotted_is_put_aside_and_fetched_again(folders):
    with serve(Site(CONTENT)) as site:
        dataset = make(site.address)
        locate(dataset)
        (folders / "cache" / "toy.txt").write_bytes(b"rotten")
        with pytest.raises(DataError, match=r"it is now toy\.txt\.bad; run again to download it"):
            locate(dataset)
        assert locate(dataset).paths[0].read_bytes() == CONTENT


def test_a_file_put_in_the_cache_by_hand_is_recorded_and_then_held_to(folders):
    (folders / "cache" / "toy.txt").write_bytes(CONTENT)
    locate(make())
    assert hashlib.sha256(CONTENT).hexdigest() in (folders / "cache" / "toy.txt.sha256").read_text()
    (folders / "cache" / "toy.txt").write_bytes(b"changed")
    with pytest.raises(DataError, match=r"had sha256:"):
        locate(make())


def test_a_cache_that_cannot_be_written_is_still_read(folders, monkeypatch):
    def refuse(target, content):
        raise DataError("cannot write")

    monkeypatch.setattr(places, "record_checksum", refuse)
    (folders / "cache" / "toy.txt").write_bytes(CONTENT)
    assert locate(make()).paths == (folders / "cache" / "toy.txt",)


def test_a_spoilt_record_is_named(folders):
    (folders / "cache" / "toy.txt").write_bytes(CONTENT)
    (folders / "cache" / "toy.txt.sha256").write_text("?")
    with pytest.raises(DataError, match=r"toy\.txt\.sha256 holds no SHA-256; delete it"):
        locate(make())


def test_path_is_the_file_or_the_folder_of_several(folders):
    frame = pl.DataFrame({"user": [1], "item": [2]})
    for name in ("steam-200k", "gowalla-train", "gowalla-test"):
        frame.write_parquet(folders / "second" / f"{name}.parquet")
    assert datasets.path("steam-200k") == folders / "second" / "steam-200k.parquet"
    assert datasets.path("gowalla") == folders / "second"
