"""The list of data sets: complete, consistent, and helpful with misspelt names."""

import dataclasses
import re

import polars as pl
import pytest

from taylorank.data import datasets
from taylorank.data.datasets import Cleaning, Dataset, registry
from taylorank.data.datasets.registry import Counts
from taylorank.errors import DataError, ParameterError, TaylorankError

EVERY = [datasets.info(name) for name in datasets.names()]


def every_set(test):
    return pytest.mark.parametrize("dataset", EVERY, ids=[d.name for d in EVERY])(test)


def test_the_papers_sets_and_the_benchmarks_are_there():
    wanted = {"ml-10m", "amazon-electronics", "steam", "gowalla", "yelp2018", "ml-1m", "ml-20m"}
    assert wanted <= set(datasets.names())
    assert len(set(datasets.names())) == len(datasets.names())


@every_set
def test_an_entry_can_be_cited_and_cleaned(dataset):
    assert dataset.title
    assert dataset.citation
    assert dataset.terms
    names = [cleaning.name for cleaning in dataset.cleanings]
    assert names[:2] == ["raw", "paper"]
    assert len(set(names)) == len(names)
    assert dataset.cleaning("raw").core is None
    assert dataset.cleaning("raw").min_rating is None


@every_set
def test_counts_come_with_their_source(dataset):
    for cleaning in dataset.cleanings:
        assert (cleaning.counts is None) == (cleaning.counts_from == "")
        if cleaning.min_rating is not None:
            assert dataset.rating is not None


@every_set
def test_files_have_an_address_a_loader_and_a_wellformed_checksum(dataset):
    assert bool(dataset.files or dataset.packaged) == (dataset.loader is not None)
    for file in dataset.files:
        assert file.address.startswith("https://")
        assert file.address.endswith(file.name.rpartition("/")[2])
        assert file.checksum is None or re.fullmatch(r"md5:[0-9a-f]{32}|sha256:[0-9a-f]{64}", file.checksum)


def test_file_names_do_not_collide():
    names = [file.name for dataset in EVERY for file in dataset.files]
    assert len(set(names)) == len(names)


def test_entries_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        datasets.info("ml-1m").name = "other"


def test_published_counts_are_the_papers():
    assert datasets.info("ml-10m").cleaning("paper").counts == Counts(69_815, 9_888, 8_240_192)
    electronics = datasets.info("amazon-electronics")
    assert electronics.cleaning("published-counts").min_rating is None
    assert electronics.cleaning("paper").min_rating == 3


@pytest.mark.parametrize(("misspelt", "meant"), [("ml1m", "ml-1m"), ("Gowala", "gowalla"), ("yelp", "yelp2018")])
def test_a_misspelt_name_is_answered_with_close_ones(misspelt, meant):
    with pytest.raises(DataError, match=rf"unknown data set '{misspelt}'; did you mean .*{meant}"):
        datasets.info(misspelt)


def test_a_name_like_no_other_is_answered_with_the_list():
    with pytest.raises(DataError, match="choose one of: ml-100k, "):
        datasets.info("zzz")


def test_an_unknown_cleaning_is_answered_with_those_there_are():
    with pytest.raises(ParameterError, match="ml-1m has no cleaning 'papers'; choose one of: raw, paper"):
        datasets.get("ml-1m", cleaning="papers")


def test_a_set_in_one_part_has_no_published_split():
    with pytest.raises(
        TaylorankError, match="published in one part; split it yourself; published splits: gowalla, yelp"
    ):
        datasets.published_split("ml-1m")


def test_the_older_names_of_cleanings_warn():
    dataset = datasets.info("ml-1m")
    with pytest.warns(DeprecationWarning, match="write cleanings"):
        assert dataset.protocols == dataset.cleanings
    with pytest.warns(DeprecationWarning, match="write cleaning"):
        assert dataset.protocol("paper") is dataset.cleaning("paper")
    with pytest.warns(DeprecationWarning, match=r"write datasets\.Cleaning"):
        assert datasets.Protocol is datasets.Cleaning
    with (
        pytest.warns(DeprecationWarning, match=r"get\(protocol=…\) is deprecated; write cleaning=…"),
        pytest.raises(ParameterError, match="ml-1m has no cleaning 'none'"),
    ):
        datasets.get("ml-1m", protocol="none")
    with pytest.raises(AttributeError, match="no attribute 'Protocols'"):
        _ = datasets.Protocols


def test_a_set_of_ones_own_is_known_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_ADDED", {})
    monkeypatch.setenv("TAYLORANK_DATA", str(tmp_path))
    pl.DataFrame({"user": [1, 2], "item": [3, 4]}).write_parquet(tmp_path / "our-clicks.parquet")
    own = Dataset("our-clicks", "Clicks", "", "internal", (Cleaning("raw", "every pair"),))
    with pytest.raises(DataError, match="unknown data set 'our-clicks'"):
        datasets.get("our-clicks")
    datasets.register(own)
    datasets.register(own)
    assert datasets.names().count("our-clicks") == 1
    assert datasets.get("our-clicks").nnz == 2
    with pytest.raises(ParameterError, match="there is another data set 'our-clicks' already; choose another name"):
        datasets.register(dataclasses.replace(own, title="others"))
    with pytest.raises(ParameterError, match="another data set 'ml-1m'"):
        datasets.register(dataclasses.replace(own, name="ml-1m"))
