"""MySQL dumps: any title survives, however the stream is cut; links are resolved as the wiki resolves them."""

import gzip
import io

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research.datasets.simplewiki import SIMPLEWIKI
from research.datasets.sql import integers, table_columns, text
from taylorank.data import datasets
from taylorank.errors import DataError

HEAD = """-- MySQL dump 10.19
DROP TABLE IF EXISTS `{table}`;
CREATE TABLE `{table}` (
{columns},
  PRIMARY KEY (`{first}`),
  KEY `other` (`{first}`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

LOCK TABLES `{table}` WRITE;
/*!40000 ALTER TABLE `{table}` DISABLE KEYS */;
"""
TAIL = "/*!40000 ALTER TABLE ENABLE KEYS */;\nUNLOCK TABLES;\n"
ESCAPED = {"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\r": "\\r", "\0": "\\0", "\x1a": "\\Z"}


def quoted(value):
    if isinstance(value, str):
        return "'" + "".join(ESCAPED.get(c, c) for c in value) + "'"
    return "NULL" if value is None else str(value)


def dump(table, columns, *inserts, between=","):
    """Write a dump of `table` with one INSERT per list of rows."""
    defined = ",\n".join(f"  `{column}` varbinary(255) NOT NULL DEFAULT ''" for column in columns)
    out = HEAD.format(table=table, columns=defined, first=columns[0])
    for rows in inserts:
        values = between.join("(" + ",".join(map(quoted, row)) + ")" for row in rows)
        out += f"INSERT INTO `{table}` VALUES {values};\n"
    return (out + TAIL).encode()


def read(content, table, columns, block=1 << 20):
    blocks = table_columns(io.BytesIO(content), table, columns=columns, block=block)
    return [row for values in blocks for row in zip(*values, strict=True)]


titles = st.text(st.sampled_from("ab',()\\\";`\n\r\0\x1a %é♥") | st.characters(codec="utf-8"), max_size=12)
rows_of_titles = st.lists(st.tuples(st.integers(-2, 10**9), titles, st.none() | st.integers()), min_size=1, max_size=8)


@settings(deadline=None)
@given(st.lists(rows_of_titles, min_size=1, max_size=3), st.integers(1, 80), st.sampled_from([",", ",\n", " , "]))
def test_every_title_survives_wherever_the_stream_is_cut(inserts, block, between):
    content = dump("page", ("page_id", "page_title", "extra"), *inserts, between=between)
    found = read(content, "page", ("page_title", "page_id"), block=block)
    wanted = [(title.encode(), number) for rows in inserts for number, title, _ in rows]
    assert [(text(title), int(number)) for title, number in found] == wanted


def test_a_title_that_looks_like_sql_is_a_title():
    title = "x'),(1,0,'y');\nINSERT INTO `page` VALUES (3,0,'z');"
    content = dump("page", ("page_id", "page_title"), [(7, title), (8, "b")])
    assert [text(t).decode() for t, _ in read(content, "page", ("page_title", "page_id"))] == [title, "b"]


def test_doubled_quotes_and_binary_marks_are_understood():
    assert text(b"'it''s'") == b"it's"
    assert text(b"_binary 'a'") == b"a"


def test_numbers_are_decoded_and_nothing_else_is():
    assert integers((b"7", b"-12", b"9007199254740993")).tolist() == [7, -12, 9_007_199_254_740_993]
    with pytest.raises(DataError, match="a column of numbers holds something else"):
        integers((b"7", b"NULL"))


def test_another_tables_rows_are_not_taken():
    content = dump("page", ("page_id", "t"), [(1, "a")]) + dump("page_props", ("page_id", "t"), [(2, "b")])
    assert read(content, "page", ("page_id",)) == [(b"1",)]


def test_a_table_without_rows_is_empty():
    assert read(dump("page", ("page_id",)), "page", ("page_id",)) == []


def test_a_missing_column_is_named_with_those_there_are():
    with pytest.raises(DataError, match=r"no column pl_target_id \(it has pl_from, pl_title\)"):
        read(dump("pagelinks", ("pl_from", "pl_title"), [(1, "a")]), "pagelinks", ("pl_from", "pl_target_id"))


def test_a_file_that_is_no_dump_is_refused():
    with pytest.raises(DataError, match="does not define table page"):
        read(b"<html>404</html>", "page", ("page_id",))


@pytest.mark.parametrize("cut", [-90, -100])
def test_a_dump_that_breaks_off_is_refused(cut):
    content = dump("page", ("page_id", "t"), [(n, "title") for n in range(50)])
    with pytest.raises(DataError, match="the dump of page breaks off inside a row"):
        read(content[:cut], "page", ("page_id",))


PAGE = ("page_id", "page_namespace", "page_title", "page_is_redirect")
TARGET = ("lt_id", "lt_namespace", "lt_title")
LINKS = ("pl_from", "pl_from_namespace", "pl_target_id")


@pytest.fixture(autouse=True)
def registered():
    datasets.register(SIMPLEWIKI)


@pytest.fixture
def wiki(tmp_path, monkeypatch):
    monkeypatch.setenv("TAYLORANK_DATA", str(tmp_path))
    pages = [(1, 0, "A", 0), (2, 0, "O'Neill_(actor),_Jr.", 0), (3, 0, 'Back\\slash"', 0), (4, 4, "A", 0)]
    targets = [
        (10, 0, "A"),
        (11, 0, "O'Neill_(actor),_Jr."),
        (12, 0, 'Back\\slash"'),
        (13, 4, "A"),
        (14, 0, "Red_link"),
    ]
    links = [(1, 0, 11), (1, 0, 14), (2, 0, 12), (2, 0, 13), (3, 0, 10), (4, 4, 10), (4, 4, 99)]
    for table, columns, rows in (("page", PAGE, pages), ("linktarget", TARGET, targets), ("pagelinks", LINKS, links)):
        path = tmp_path / f"simplewiki-20250101-{table}.sql.gz"
        path.write_bytes(gzip.compress(dump(table, columns, rows[:2], rows[2:])))
    return tmp_path


def pairs(data):
    return set(data.to_frame().select("user", "item").rows())


def test_links_lead_from_page_to_page(wiki):
    assert pairs(datasets.get("simplewiki")) == {(1, 2), (2, 3), (2, 4), (3, 1), (4, 1)}


def test_articles_are_namespace_0_on_both_sides(wiki):
    articles = datasets.info("simplewiki").protocol("articles")
    paths = tuple(wiki / file.name for file in datasets.info("simplewiki").files)
    assert pairs(articles.loader(paths, {"user": "user", "item": "item"})) == {(1, 2), (2, 3), (3, 1)}


def test_a_truncated_dump_is_refused(wiki):
    path = wiki / "simplewiki-20250101-pagelinks.sql.gz"
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(DataError, match=r"pagelinks\.sql\.gz is damaged"):
        datasets.get("simplewiki")


def test_another_protocols_loader_needs_the_official_files(tmp_path, monkeypatch):
    monkeypatch.setenv("TAYLORANK_DATA", str(tmp_path))
    pl.DataFrame({"user": [1], "item": [2]}).write_parquet(tmp_path / "simplewiki.parquet")
    assert pairs(datasets.get("simplewiki")) == {(1, 2)}
    with pytest.raises(DataError, match="protocol articles of simplewiki needs the official files"):
        datasets.get("simplewiki", protocol="articles")
