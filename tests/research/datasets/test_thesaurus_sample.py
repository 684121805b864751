"""The sample in the package is what its command makes."""

import os
from pathlib import Path

import polars as pl
import pytest

from research.datasets.thesaurus_sample import thesaurus_sample, without_senses
from taylorank.data.datasets.places import PACKAGED, data_folders
from taylorank.data.datasets.word_pairs import word_pairs

LISTS = Path("/usr/share/dict/scowl")


def list_of(folder, *words):
    file = folder / f"{words[0]}.txt"
    file.write_text("\n".join(words))
    return file


def test_words_are_chosen_by_lists_and_by_how_many_roots_have_them(tmp_path, capsys):
    words = ["ant", "bee", "cow", "dog", "elk", "Fox", "go-cart", "ass", "yak"]
    pl.DataFrame({"id": range(len(words)), "word": words}).write_parquet(tmp_path / "words.parquet")
    pairs = [(a, b) for a in range(len(words)) for b in range(len(words)) if a != b and not {a, b} <= {7, 8}]
    pairs = [(a, b) for a, b in pairs if b != 4 or a == 0]  # the elk is a term of one root alone
    frame = pl.DataFrame(pairs, schema=["user", "item"], orient="row")
    frame.write_parquet(tmp_path / "pairs.parquet")
    common = list_of(tmp_path, "ant", "bee", "cow", "go-cart", "ass", "Fox")
    wider = list_of(tmp_path, "dog", "elk")
    out = tmp_path / "sample.npz"
    files = tmp_path / "pairs.parquet", tmp_path / "words.parquet"
    thesaurus_sample(*files, common=[common], wider=[wider], roots=3, core=2, out=out)
    data = word_pairs((out,), {})
    assert list(data.user_ids) == list(data.item_ids) == ["ant", "bee", "cow", "dog"]
    assert data.nnz == 12
    assert "4 users × 4 items" in capsys.readouterr().out


def test_a_sense_goes_with_all_that_its_entry_lists():
    pairs = [("queen", "king"), ("queen", "slut"), ("queen", "baggage"), ("slut", "baggage"), ("travel", "baggage")]
    left = without_senses(pl.DataFrame(pairs, schema=["root", "term"], orient="row"))
    assert ("queen", "baggage") not in left.rows()
    assert {("queen", "king"), ("travel", "baggage")} <= set(left.rows())


def test_the_packaged_file_is_made_by_the_command(tmp_path):
    found = [folder for folder in data_folders() if (folder / "moby-thesaurus-words.parquet").is_file()]
    if not found or not LISTS.is_dir():
        pytest.skip("needs moby-thesaurus in a data folder (TAYLORANK_DATA) and Debian's package scowl")
    lists = {level: LISTS / f"english-words.{level}" for level in (10, 20, 35)}
    pairs, words = (found[0] / f"moby-thesaurus{part}.parquet" for part in ("", "-words"))
    out = tmp_path / "thesaurus.npz"
    thesaurus_sample(pairs, words, common=[lists[10], lists[20]], wider=[lists[35]], out=out)
    made, kept = (word_pairs((file,), {}) for file in (out, PACKAGED / "thesaurus.npz"))
    assert made.users == kept.users
    assert made.items == kept.items
    assert (made.matrix != kept.matrix).nnz == 0
    assert os.path.getsize(out) < 1_000_000
