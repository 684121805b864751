"""The data set that comes with the library."""

import numpy as np
import pytest

import taylorank as tr
from taylorank.data import datasets
from taylorank.data.datasets.places import PACKAGED
from taylorank.data.datasets.word_pairs import pack_pairs, word_pairs
from taylorank.data.source import open_data
from taylorank.errors import DataError

FILE = PACKAGED / "thesaurus.npz"


def terms_of(data, root):
    return set(data.item_ids[data.matrix[[list(data.user_ids).index(root)]].indices])


def test_it_is_there_without_a_data_folder_or_a_network(monkeypatch, tmp_path):
    monkeypatch.setenv("TAYLORANK_DATA", "")
    monkeypatch.setenv("TAYLORANK_CACHE", str(tmp_path))
    data = tr.datasets.thesaurus()
    assert (data.n_users, data.n_items, data.nnz) == datasets.info("thesaurus").cleaning("raw").counts
    assert {"sea", "flood"} <= terms_of(data, "ocean")
    assert open_data("thesaurus").nnz == data.nnz
    assert datasets.path("thesaurus") == FILE


def test_it_is_small():
    assert FILE.stat().st_size <= 1_000_000


def test_every_word_has_at_least_ten_others():
    data = tr.datasets.thesaurus()
    assert data.by_user.row_lengths.min() >= 10
    assert data.item_popularity.min() >= 10
    assert data.core(10).nnz == data.nnz


def test_words_are_single_common_and_sorted():
    data = tr.datasets.thesaurus()
    for words in (data.user_ids, data.item_ids):
        assert all(word.isalpha() and word.islower() for word in words)
        assert (np.sort(words) == words).all()
        assert {"moon", "doctor", "happy", "garden", "music"} <= set(words)


def test_packing_keeps_every_pair(tmp_path):
    pairs = [("b", "a"), ("b", "c"), ("b", "zz"), ("d", "a"), ("e", "b"), ("e", "zz")]
    data = tr.Interactions.from_arrays(*zip(*pairs, strict=True))
    np.savez_compressed(tmp_path / "pairs.npz", **pack_pairs(data))
    read = word_pairs((tmp_path / "pairs.npz",), {})
    matrix = read.matrix.tocoo()
    found = zip(read.user_ids[matrix.row], read.item_ids[matrix.col], strict=True)
    assert sorted(found) == sorted(pairs)


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "bad.npz").write_bytes(FILE.read_bytes()[:5000])
    with pytest.raises(DataError, match=r"bad\.npz holds no pairs of words .*; install taylorank again"):
        datasets.get("thesaurus", path=tmp_path / "bad.npz")


def test_its_recommendations_mean_something():
    model = tr.RG2(64).fit(tr.datasets.thesaurus())
    mine = model.fold_in([("me", "monarch"), ("me", "throne")])
    assert {"king", "crown", "ruler", "sovereign", "prince"} & set(mine.recommend(["me"], n=20)[0][0])
