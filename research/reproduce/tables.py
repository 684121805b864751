"""What each table of the papers holds: data, protocol, columns, and the model that stands for each row."""

from __future__ import annotations

from dataclasses import dataclass

from research.bench.quality.public_splits import PUBLISHED
from research.datasets.simplewiki import SIMPLEWIKI
from research.papers import PU_2024, PU_2025, SUMMARY_2026
from research.reproduce.printed import LIGHTGCN_IN_2024, RG2_IN_2024, SETS, TABLE_3, TABLE_4, Numbers
from taylorank.data import datasets
from taylorank.errors import DataError
from taylorank.ranking.protocol import EvaluationProtocol, PublishedSplit, Ratio


@dataclass(frozen=True)
class Row:
    """A method: what the papers call it, which contender it is here, and what they print of it."""

    label: str
    model: str
    printed: Numbers | None = None


@dataclass(frozen=True)
class Table:
    """One table: `columns` are metrics, in the order of the numbers that are printed.

    Where the papers have no numbers for these data, `printed_on` names the data that theirs are of, and `reference`
    the model to which both are compared, for values of different data do not compare.
    """

    name: str
    title: str
    source: str
    dataset: str
    cleaning: str | None
    protocol: EvaluationProtocol
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    printed_on: str = ""
    reference: str = ""

    def row(self, model: str) -> Row:
        """Return the row of a model; one that is not in the table has no printed numbers."""
        return next((row for row in self.rows if row.model == model), Row(model, model))


# The papers' name of a method → the contender here.
MF = {
    "BPR": "bpr",
    "BCE": "bce",
    "SSM": "sampled-softmax",
    "Sparsemax": "sparsemax",
    "UIB": "uib",
    "SML": "sml",
    "WRMF": "wrmf-paper",
    "SM": "softmax",
    "RG²": "rg2-paper",
    "RG×": "rgx-paper",
}
OURS = (
    Row("RG², all its parameters tuned", "rg2"),
    Row("sampled RG², tuned", "sampled-rg2"),
    Row("WRMF, a proper grid", "wrmf"),
    Row("iALS", "ials"),
    Row("EASE", "ease"),
)
RECOMMENDATION = ("mrr@10", "ndcg@10")
LINKS = ("map@10", "mrr@10")
BY_NDCG = Ratio()
BY_MAP = Ratio(chooses="map@10")  # Pu et al. 2025, Sec. 5.1.1: MAP@10 stops and chooses for links


def _of_set(numbers: Numbers, name: str) -> Numbers:
    place = 2 * SETS.index(name)
    return numbers[place : place + 2]


def _recommendation(printed_on: str) -> tuple[Row, ...]:
    factors = [Row(name, MF[name], _of_set(row, printed_on)) for name, row in TABLE_3.items()]
    means = tuple(mean for mean, _ in RG2_IN_2024)
    before = Row("RG², as Pu et al. 2024 print it", MF["RG²"], _of_set(means, printed_on))
    graphs = [
        Row(f"{name} on LightGCN", f"{MF[name].removesuffix('-paper')}/lightgcn", _of_set(row, printed_on))
        for name, row in LIGHTGCN_IN_2024.items()
    ]
    return (*factors, before, *graphs, *OURS)


def _links() -> tuple[Row, ...]:
    printed = (Row(name, MF[name], TABLE_4.get(name)) for name in MF if name not in ("UIB", "SML", "WRMF"))
    ours = (row for row in OURS if row.model != "ease")  # a dense matrix over all pages is beyond it
    return (*printed, Row("WRMF, the papers' grid", MF["WRMF"]), *ours)


def _published(name: str) -> tuple[Row, ...]:
    """Public tables have Recall@20 and NDCG@20; the summary of Pu, Lian and Chen 2026 names the third column."""
    contenders = {
        "MF-BPR": "bpr",
        "LightGCN": "bpr/lightgcn",
        "softmax, MF": "softmax",
        "softmax, LightGCN": "softmax/lightgcn",
        "EASE": "ease",
    }
    known = [Row(label, model, PUBLISHED[name][label]) for label, model in contenders.items()]
    plain = [Row(label, MF[label]) for label in ("SSM", "BCE", "Sparsemax", "WRMF", "RG²", "RG×")]
    ours = [row for row in OURS if row.model != "ease"]
    return (*known, Row("NCE", "nce"), *plain, *ours, Row("RG², tuned on groups held back", GROUPS))


GROUPS = "rg2, groups held back"  # a row of the benchmark public-splits, and no contender


def _table(name: str, title: str, *, dataset: str = "", printed_on: str = "", own: bool = True) -> Table:
    return Table(
        name,
        title,
        f"{PU_2025}, Table 3; {PU_2024}, Tables 4 and 5",
        dataset or name,
        "paper",
        BY_NDCG,
        RECOMMENDATION,
        _recommendation(printed_on),
        printed_on="" if own else printed_on,
        reference="" if own else MF["WRMF"],
    )


def _split(name: str, title: str) -> Table:
    columns = ("recall@20", "ndcg@20", "precision@20")
    return Table(
        name,
        title,
        f"{SUMMARY_2026} (no numbers); public tables",
        name,
        None,
        PublishedSplit(),
        columns,
        _published(name),
    )


_ALL = (
    _table("ml-1m", "ML-1M, in place of MovieLens", printed_on="MovieLens", own=False),
    _table("ml-10m", "ML-10M: the papers' MovieLens", printed_on="MovieLens"),
    _table("electronics", "Electronics", dataset="amazon-electronics", printed_on="Electronics"),
    _table("steam", "Steam", printed_on="Steam"),
    Table("simplewiki", "Wiki", f"{PU_2025}, Table 4", "simplewiki", "paper", BY_MAP, LINKS, _links()),
    Table(
        "moby-thesaurus",
        "Moby Thesaurus, in place of Wiki",
        f"{PU_2025}, Table 4",
        "moby-thesaurus",
        "paper",
        BY_MAP,
        LINKS,
        _links(),
        printed_on="Wiki",
        reference=MF["RG²"],
    ),
    _split("gowalla", "Gowalla, the published split"),
    _split("yelp2018", "Yelp2018, the published split"),
)
TABLES: dict[str, Table] = {table.name: table for table in _ALL}
datasets.register(SIMPLEWIKI)


def table_named(name: str) -> Table:
    """Return the table of a data set.

    >>> table_named("simplewiki").columns
    ('map@10', 'mrr@10')
    """
    for table in TABLES.values():
        if name in (table.name, table.dataset):
            return table
    raise DataError(f"the papers have no table for {name!r}", f"choose one of: {', '.join(TABLES)}")
