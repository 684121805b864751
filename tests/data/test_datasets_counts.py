"""Real data through the cleanings: the counts that are known."""

import pytest

from taylorank.data import datasets
from taylorank.data.datasets.places import present

KNOWN = [
    ("ml-1m", "raw", (6_040, 3_706, 1_000_209)),
    ("ml-1m", "paper", (6_038, 3_307, 835_789)),
    ("ml-100k", "raw", (943, 1_682, 100_000)),
    ("ml-100k", "paper", (943, 1_203, 81_697)),
    ("moby-thesaurus", "raw", (30_259, 102_428, 2_520_086)),
    ("moby-thesaurus", "paper", (23_040, 35_009, 1_895_603)),
    ("npm-deps-2016", "5-core", (150_792, 17_261, 1_895_512)),
    ("movietweetings", "raw", (21_081, 12_611, 141_695)),
    ("movietweetings", "paper", (5_973, 3_119, 102_461)),
    ("online-retail", "paper", (5_537, 4_199, 479_275)),
    ("gowalla", "raw", (29_858, 40_981, 810_128 + 217_242)),
    ("yelp2018", "paper", (31_668, 38_048, 1_237_259 + 324_147)),
    ("wikispeedia-links", "raw", (4_587, 4_135, 119_882)),
    ("amazon-beauty-bert4rec", "raw", (40_226, 54_542, 353_962)),
    ("amazon-sports-s3rec", "raw", (35_598, 18_357, 296_337)),
    ("steam-200k", "raw", (12_393, 5_155, 128_804)),
]
SPLITS = [
    ("gowalla", (29_858, 40_981), (810_128, 217_242)),
    ("yelp2018", (31_668, 38_048), (1_237_259, 324_147)),
]


def need(name):
    if present(datasets.info(name)) is None:
        pytest.skip(f"{name} is in no data folder (set TAYLORANK_DATA) and tests download nothing")


@pytest.mark.parametrize(("name", "cleaning", "counts"), KNOWN)
def test_known_counts(name, cleaning, counts):
    need(name)
    data = datasets.get(name, cleaning=cleaning)
    assert (data.n_users, data.n_items, data.nnz) == counts
    assert datasets.info(name).cleaning(cleaning).counts == counts


@pytest.mark.parametrize(("name", "sides", "sizes"), SPLITS)
def test_published_splits(name, sides, sizes):
    need(name)
    train, test = datasets.published_split(name)
    assert (train.n_users, train.n_items) == sides
    assert (train.nnz, test.nnz) == sizes
    assert train.users == test.users
    assert train.items == test.items


@pytest.mark.parametrize("name", datasets.names())
def test_every_registered_count_holds_where_the_data_is_here(name):
    need(name)
    checked = {(n, p) for n, p, _ in KNOWN}
    for cleaning in datasets.info(name).cleanings:
        if cleaning.counts is not None and (name, cleaning.name) not in checked:
            data = datasets.get(name, cleaning=cleaning.name)
            assert (data.n_users, data.n_items, data.nnz) == cleaning.counts
