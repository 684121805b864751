"""The data sets of the papers, and MovieLens in its other sizes. Every one has an official download.

The paper is Pu et al., NDCG-consistent softmax approximation with accelerated convergence, 2025. Counts of its Table 5
are those it prints; `taylorank datasets get NAME --cleaning paper` shows whether its protocol, read literally, gives
them.
"""

from __future__ import annotations

from taylorank.data.datasets.formats import adjacency_files, json_lines, zip_member
from taylorank.data.datasets.literals import literal_lines
from taylorank.data.datasets.registry import Cleaning, Counts, Dataset, File, Loader

_TABLE_5 = "Pu et al. 2025, Table 5"
_README = "the publisher's description"
_COMPUTED = "computed from the file"
_RATINGS = ("user", "item", "rating", "timestamp")


def raw(counts: Counts | None = None, counts_from: str = "") -> Cleaning:
    """Everything, uncleaned; only repeated pairs are merged."""
    return Cleaning("raw", "every pair, uncleaned", counts=counts, counts_from=counts_from)


def _rated(counts: Counts | None, counts_from: str) -> Cleaning:
    summary = "ratings ≥ 3, then the 5-core"
    return Cleaning("paper", summary, min_rating=3, core=5, counts=counts, counts_from=counts_from)


def _movielens(
    name: str, title: str, loader: Loader, *, md5: str, cleanings: tuple[Cleaning, ...], notes: str = ""
) -> Dataset:
    return Dataset(
        name=name,
        title=title,
        citation="F. M. Harper, J. A. Konstan. The MovieLens Datasets: History and Context. ACM TiiS 5(4), 2015",
        terms="GroupLens terms of use: research, no redistribution without permission (README in the archive)",
        homepage=f"https://grouplens.org/datasets/movielens/{name.removeprefix('ml-')}/",
        files=(File(f"{name}.zip", f"https://files.grouplens.org/datasets/movielens/{name}.zip", f"md5:{md5}"),),
        loader=loader,
        rating="rating",
        timestamp="timestamp",
        cleanings=cleanings,
        notes=notes,
    )


def _light_gcn(name: str, title: str, citation: str, *, terms: str, counts: Counts) -> Dataset:
    source = f"https://raw.githubusercontent.com/gusye1234/LightGCN-PyTorch/master/data/{name}"
    return Dataset(
        name=name,
        title=title,
        citation=f"{citation}; split: X. He et al. LightGCN. SIGIR 2020",
        terms=terms,
        homepage="https://github.com/gusye1234/LightGCN-PyTorch",
        files=tuple(File(f"{name}/{part}.txt", f"{source}/{part}.txt") for part in ("train", "test")),
        loader=adjacency_files,
        cleanings=(
            raw(counts, _COMPUTED),
            Cleaning("paper", "the published data as they are", counts=counts, counts_from=_COMPUTED),
        ),
        has_split=True,
        notes="published_split gives the train and test parts; ids are the numbers the split uses",
    )


ENTRIES = (
    _movielens(
        "ml-100k",
        "MovieLens 100K: movie ratings, 1997-1998",
        zip_member("u.data", format="tsv", columns=_RATINGS),
        md5="0e33842e24a9c977be4e0107933c0723",
        cleanings=(raw(Counts(943, 1_682, 100_000), _README), _rated(Counts(943, 1_203, 81_697), _COMPUTED)),
    ),
    _movielens(
        "ml-1m",
        "MovieLens 1M: movie ratings, 2000-2003",
        zip_member("ratings.dat", format="dat", columns=_RATINGS),
        md5="c4d9eecfca2ab87c1945afe126590906",
        cleanings=(
            raw(Counts(6_040, 3_706, 1_000_209), _COMPUTED),
            _rated(Counts(6_038, 3_307, 835_789), _COMPUTED),
        ),
    ),
    _movielens(
        "ml-10m",
        "MovieLens 10M: movie ratings from 0.5 to 5",
        zip_member("ratings.dat", format="dat", columns=_RATINGS),
        md5="ce571fd55effeba0271552578f2648bd",
        cleanings=(raw(), _rated(Counts(69_815, 9_888, 8_240_192), _TABLE_5)),
        notes='the "MovieLens" of Pu et al. 2025',
    ),
    _movielens(
        "ml-20m",
        "MovieLens 20M: movie ratings from 0.5 to 5",
        zip_member("ratings.csv", format="csv", user="userId", item="movieId"),
        md5="cd245b17a1ae2cc31bb14903e1204af3",
        cleanings=(raw(), _rated(None, "")),
    ),
    Dataset(
        name="amazon-electronics",
        title="Amazon reviews of electronics, 5-core file of 2014",
        citation="R. He, J. McAuley. Ups and Downs. WWW 2016; J. McAuley et al. Image-based Recommendations on "
        "Styles and Substitutes. SIGIR 2015",
        terms="no licence is known here; see the homepage, and cite the papers",
        homepage="https://jmcauley.ucsd.edu/data/amazon/",
        files=(
            File(
                "reviews_Electronics_5.json.gz",
                "https://snap.stanford.edu/data/amazon/productGraph/categoryFiles/reviews_Electronics_5.json.gz",
            ),
        ),
        loader=json_lines({"reviewerID": "user", "asin": "item", "overall": "rating", "unixReviewTime": "timestamp"}),
        rating="rating",
        timestamp="timestamp",
        cleanings=(
            raw(),
            _rated(None, ""),
            Cleaning(
                "published-counts",
                "no threshold, the 5-core",
                core=5,
                counts=Counts(192_403, 63_001, 1_689_188),
                counts_from=_TABLE_5,
            ),
        ),
        notes="Table 5 of Pu et al. 2025 seems to count the public 5-core file without the rating threshold that the "
        "text states; neither reading has been checked here against the file",
    ),
    Dataset(
        name="steam",
        title="Steam reviews of games, with hours played",
        citation="W.-C. Kang, J. McAuley. Self-Attentive Sequential Recommendation. ICDM 2018",
        terms="no licence is known here; see the homepage, and cite the paper",
        homepage="https://cseweb.ucsd.edu/~jmcauley/datasets.html#steam_data",
        files=(File("steam_reviews.json.gz", "https://cseweb.ucsd.edu/~wckang/steam_reviews.json.gz"),),
        loader=literal_lines({"username": "user", "product_id": "item", "hours": "hours", "date": "timestamp"}),
        timestamp="timestamp",
        cleanings=(
            raw(),
            Cleaning(
                "paper",
                "every review is positive; the 5-core",
                core=5,
                counts=Counts(281_204, 11_961, 3_484_497),
                counts_from=_TABLE_5,
            ),
            Cleaning("hours", "strength = hours played; reviews without playtime drop out", strength="hours"),
        ),
        notes="users are names as shown, which need not be unique; the counts of Table 5 have not been checked "
        "here against the file",
    ),
    _light_gcn(
        "gowalla",
        "Gowalla check-ins",
        "E. Cho, S. A. Myers, J. Leskovec. Friendship and Mobility. KDD 2011",
        terms="no licence is known here; see the repository",
        counts=Counts(29_858, 40_981, 810_128 + 217_242),
    ),
    _light_gcn(
        "yelp2018",
        "Yelp reviews of businesses, 2018 edition",
        "Yelp Dataset Challenge 2018",
        terms="Yelp's data-set terms apply to the source; see the repository",
        counts=Counts(31_668, 38_048, 1_237_259 + 324_147),
    ),
)
