"""Further data sets that are read from NAME.parquet in a data folder, or come with the library: no download here.

"paper" applies the papers' rule to them: the 5-core for recommendation, the 20-core for links. Counts are those of
the Parquet files.
"""

from __future__ import annotations

from taylorank.data.datasets.entries import raw
from taylorank.data.datasets.registry import Cleaning, Counts, Dataset
from taylorank.data.datasets.word_pairs import word_pairs

_COMPUTED = "computed from the file"


def _core(k: int, counts: Counts, *, name: str = "paper") -> Cleaning:
    return Cleaning(name, f"the {k}-core", core=k, counts=counts, counts_from=_COMPUTED)


ENTRIES = (
    Dataset(
        name="movietweetings",
        title="MovieTweetings: movie ratings from 0 to 10, taken from Twitter",
        citation="S. Dooms, T. De Pessemier, L. Martens. MovieTweetings. CrowdRec at RecSys 2013",
        terms="MIT licence",
        homepage="https://github.com/sidooms/MovieTweetings",
        rating="rating",
        timestamp="timestamp",
        cleanings=(raw(Counts(21_081, 12_611, 141_695), _COMPUTED), _core(5, Counts(5_973, 3_119, 102_461))),
        notes="on a scale of 10 the papers' threshold of 3 has no counterpart, so none is used",
    ),
    Dataset(
        name="moby-thesaurus",
        title="Moby Thesaurus: root word → related term",
        citation="G. Ward. Moby Thesaurus II",
        terms="public domain",
        cleanings=(
            raw(Counts(30_259, 102_428, 2_520_086), _COMPUTED),
            _core(20, Counts(23_040, 35_009, 1_895_603)),
        ),
        notes="the words are in moby-thesaurus-words.parquet",
    ),
    Dataset(
        name="thesaurus",
        title="Common words of the Moby Thesaurus: root word → related word; comes with taylorank",
        citation="G. Ward. Moby Thesaurus II",
        terms="public domain",
        loader=word_pairs,
        packaged="thesaurus.npz",
        cleanings=(raw(Counts(6_602, 7_020, 403_614), _COMPUTED), _core(20, Counts(5_334, 5_451, 364_017))),
        notes="a sample for demonstrations: the ids are the words themselves",
    ),
    Dataset(
        name="npm-deps-2016",
        title="npm packages of 2016 → their dependencies",
        citation="unknown here",
        terms="unknown here; do not redistribute",
        cleanings=(
            raw(Counts(290_563, 94_391, 2_333_313), _COMPUTED),
            _core(20, Counts(18_845, 2_362, 558_831)),
            _core(5, Counts(150_792, 17_261, 1_895_512), name="5-core"),
        ),
        notes="the names are in npm-deps-2016-names.parquet",
    ),
    Dataset(
        name="wikispeedia-links",
        title="Wikispeedia: hyperlinks between 4,600 Wikipedia articles",
        citation="R. West, J. Pineau, D. Precup. Wikispeedia. IJCAI 2009; R. West, J. Leskovec. Human Wayfinding in "
        "Information Networks. WWW 2012",
        terms="no licence is known here; see the homepage",
        homepage="https://snap.stanford.edu/data/wikispeedia.html",
        cleanings=(raw(Counts(4_587, 4_135, 119_882), _COMPUTED), _core(20, Counts(1_625, 992, 62_974))),
        notes="the titles are in wikispeedia-articles.parquet",
    ),
    Dataset(
        name="online-retail",
        title="Online Retail II: purchases from a gift shop, 2009-2011",
        citation="D. Chen. Online Retail II. UCI Machine Learning Repository",
        terms="CC BY 4.0",
        homepage="https://archive.ics.uci.edu/dataset/502/online+retail+ii",
        timestamp="timestamp",
        cleanings=(
            raw(Counts(5_852, 4_619, 480_971), _COMPUTED),
            _core(5, Counts(5_537, 4_199, 479_275)),
            Cleaning(
                "quantity",
                "strength = pieces bought in all",
                strength="quantity",
                duplicates="sum",
                counts=Counts(5_852, 4_619, 480_971),
                counts_from=_COMPUTED,
            ),
        ),
        notes="the item names are in online-retail-items.parquet",
    ),
    Dataset(
        name="amazon-beauty-bert4rec",
        title="Amazon Beauty as sequences, the BERT4Rec edition",
        citation="F. Sun et al. BERT4Rec. CIKM 2019",
        terms="no licence is known here; see the homepage",
        homepage="https://github.com/FeiSun/BERT4Rec",
        timestamp="pos",
        cleanings=(raw(Counts(40_226, 54_542, 353_962), _COMPUTED), _core(5, Counts(22_363, 12_101, 198_502))),
        notes="the timestamps are positions in the user's sequence",
    ),
    Dataset(
        name="amazon-sports-s3rec",
        title="Amazon Sports as sequences, the S3-Rec edition",
        citation="K. Zhou et al. S3-Rec. CIKM 2020",
        terms="no licence is known here; see the homepage",
        homepage="https://github.com/RUCAIBox/CIKM2020-S3Rec",
        timestamp="pos",
        cleanings=(raw(Counts(35_598, 18_357, 296_337), _COMPUTED), _core(5, Counts(35_598, 18_357, 296_337))),
        notes="the timestamps are positions in the user's sequence",
    ),
    Dataset(
        name="steam-200k",
        title="Steam 200k: games bought and hours played",
        citation="Steam Video Games, a public data set by Tamber",
        terms="unknown here; do not redistribute",
        homepage="https://www.kaggle.com/datasets/tamber/steam-video-games",
        cleanings=(
            raw(Counts(12_393, 5_155, 128_804), _COMPUTED),
            _core(5, Counts(3_726, 2_628, 110_176)),
        ),
    ),
)
