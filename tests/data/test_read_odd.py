"""Files and tables that ordinary tools read without complaint, and that must not be read wrongly."""

from __future__ import annotations

import csv
import datetime
import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from taylorank.data import Interactions, bytesource, read_interactions
from taylorank.data.roles import assign_roles
from taylorank.errors import DataError, ParameterError, TaylorankError


def pairs_of(data):
    return set(zip(*(data.to_frame()[c].to_list() for c in ("user", "item")), strict=True))


def read(text, **options):
    return read_interactions(io.BytesIO(text.encode()), **options)


def test_quotes_inside_fields_of_other_columns_swallow_nothing():
    data = read('user,item,title\n1,10,5" disk\n2,11,foo\n3,12,7" vinyl\n4,13,bar\n')
    assert pairs_of(data) == {(1, 10), (2, 11), (3, 12), (4, 13)}
    many = "".join(f"{k},{k % 50},{'5 inch' if k % 997 else '5' + chr(34) + ' disk'}\n" for k in range(20_000))
    assert read("user,item,title\n" + many).nnz == 20_000


@pytest.mark.parametrize(
    "text",
    [
        "user,item,rating,timestamp\n1,Heat,3,100\n1,Good, The Bad,5,200\n",
        "title,user,item\nHeat,1,2\nGood, Bad,3,4\n",
        "user,item,rating\n1,2,3\n1,6,6,6\n",
        "user,item,rating\n1,2\n1,6,6,6\n",  # one field short, one too many
    ],
)
def test_lines_with_too_many_fields_are_refused_even_in_columns_nobody_wants(text):
    with pytest.raises(DataError, match=r"line 3 has \d fields, not \d"):
        read(text)


FIELD = st.text(st.sampled_from(list('ab1 ",;\n\r\té"')), max_size=5)


@given(st.lists(st.tuples(FIELD, FIELD, FIELD, FIELD), min_size=1, max_size=25), st.integers(8, 300))
def test_what_csv_writes_is_read_back_with_columns_left_out(rows, block):
    """User and item are columns 3 and 1 of four; what stands in the others must not matter."""
    rows = [(a, f"i{b}", c, f"u{d}") for a, b, c, d in rows]
    text = io.StringIO(newline="")
    csv.writer(text).writerows([("x", "item", "y", "user"), *rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bytesource, "BLOCK_BYTES", block)
        data = read(text.getvalue())
    assert pairs_of(data) == {(user, item) for _, item, _, user in rows}


@given(st.lists(st.text('ab1,"\n', max_size=12), max_size=12))
def test_raw_text_is_read_as_csv_reads_it_or_refused(lines):
    text = "user,item,note\n" + "\n".join(lines) + "\n"
    try:
        got = pairs_of(read(text, ids="text"))
    except TaylorankError:
        return
    rows = [[*row, "", ""][:2] for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row][1:]
    assert got == {tuple(row) for row in rows if any(row)}


def test_column_numbers_keep_the_first_row_of_a_file_without_header():
    data = read("u1,i1,5\nu2,i2,3\n", user=0, item=1)
    assert pairs_of(data) == {("u1", "i1"), ("u2", "i2")}
    assert "no header" in repr(data)
    assert pairs_of(read("user,item,rating\nu2,i2,3\n", user=0, item=1)) == {("u2", "i2")}


def test_records_are_rows_and_text_is_not():
    data = read_interactions([{"user": 1, "item": 2, "rating": 5}, {"user": 3, "item": 4, "rating": 1}], min_rating=3)
    assert pairs_of(data) == {(1, 2)}
    for bad in (["ab", "cd"], [1, 2], [(1, 2), {"user": 1}]):
        with pytest.raises(DataError, match="rows are not all"):
            read_interactions(bad)


def test_a_character_at_the_edge_of_what_is_looked_at_first_is_no_error():
    assert read("\n\nuser,item\n" + "ab,é\n" * 300_000).nnz == 1


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ('user,"item\n1,2\n', {}),
        ('1\t"Weird Al" Yankovic\n2\tx\n', {"format": "tsv", "columns": ("user", "item")}),
        ("1," + "x" * 300_000 + "\n2,y\n", {"columns": ("user", "item")}),
    ],
)
def test_a_first_line_that_cannot_be_parsed_is_one_line(text, options):
    with pytest.raises(DataError, match="line 1 cannot be parsed"):
        read(text, **options)


def test_quotes_may_mean_nothing():
    data = read('user\titem\n1\t"Weird Al" Yankovic\n2\t7" disk\n', format="tsv", quote="")
    assert set(data.item_ids.tolist()) == {'"Weird Al" Yankovic', '7" disk'}


def test_encodings():
    data = read_interactions(io.BytesIO("user,item\n1,é\n".encode("utf-16")), encoding="utf-16")
    assert pairs_of(data) == {(1, "é")}
    for encoding in ("rot13", "base64", "nonsense"):
        with pytest.raises(DataError, match="unknown encoding"):
            read("user,item\n1,2\n", encoding=encoding)


def test_tables_with_numbered_repeated_and_mixed_columns():
    assert pairs_of(read_interactions(pd.DataFrame([[1, 2], [3, 4]]), user=0, item=1)) == {(1, 2), (3, 4)}
    twice = pd.DataFrame([[1, 2, 3]], columns=["user", "item", "item"])
    repeated = pa.table([pa.array([1])] * 3, names=["user", "item", "item"])
    for table in (twice, repeated):
        with pytest.raises(DataError, match="same name"):
            read_interactions(table)
    mixed = (
        pd.DataFrame({"user": pd.Series([1.0, "a"], dtype=object), "item": [1, 2]}),
        {"user": [1, "a"], "item": [1, 2]},
    )
    for table in mixed:
        with pytest.raises(DataError, match=r"not an id|mixed type"):
            read_interactions(table)
    large = pd.DataFrame({"user": pd.array([2**53 + 1, None], dtype="Int64"), "item": [1, 2]})
    assert pairs_of(read_interactions(large, missing="drop")) == {(2**53 + 1, 1)}
    with pytest.raises(DataError, match="different length"):
        read_interactions({"user": [1, 2], "item": [1]})


def test_options_that_mean_nothing_are_refused():
    matrix = sparse.csr_array(np.array([[1, 2], [0, 5]]))
    for source in (matrix, Interactions.from_matrix(matrix), [(1, 2)], io.BytesIO(b"1 2 3\n2 4\n")):
        with pytest.raises(ParameterError, match="min_rating does not apply"):
            read_interactions(
                source, min_rating=3, **({"format": "adjacency"} if isinstance(source, io.BytesIO) else {})
            )
    table = pl.DataFrame({"user": [1], "item": [2], "rating": [3]})
    with pytest.raises(TaylorankError, match="no column 'nope' for rating"):
        read_interactions(table, rating="nope")
    for role in ("user", "item"):
        with pytest.raises(ParameterError, match="names no column"):
            read_interactions(table, **{role: ""})
    with pytest.raises(ParameterError, match="names no column"):
        read_interactions(table, rating="", min_rating=3)
    with pytest.raises(ParameterError, match="not a number"):
        read_interactions(table, min_rating="3")


def test_lists_take_the_options_that_they_can():
    assert pairs_of(read_interactions([(1, 2)], ids="text")) == {("1", "2")}
    assert pairs_of(read_interactions([(1, 2), (None, 3), (4, float("nan"))], missing="drop")) == {(1, 2)}
    with pytest.raises(DataError, match="no rows left"):
        read_interactions([(None, 3)], missing="drop")
    dated = read_interactions([(1, 2, 1.0, datetime.datetime(2020, 1, 2))])
    assert dated.timestamps.astype(str).tolist() == ["2020-01-02T00:00:00.000000"]


def test_empty_quoted_fields_are_missing():
    assert pairs_of(read('"user","item"\n"1","10"\n"","11"\n', missing="drop")) == {(1, 10)}
    for text in ('user,item\n2,x\n1,""\n', 'user,item\n2,a"b\n1,""\n'):
        with pytest.raises(DataError, match="row 3 has no item"):
            read(text)


def test_blank_lines_are_dropped_and_counted():
    with pytest.raises(DataError, match="row 2 has no user"):
        read("user,item,rating\n,,5\n1,2,3\n")
    with pytest.raises(DataError, match="row 6 has no user"):
        read("user,item,rating\n1,2,3\n\n\n3,4,5\n,7,1\n")


def test_double_colons_do_not_win_over_commas():
    data = read("1,std::vector,5\n2,std::map,4\n", columns=("user", "item"))
    assert pairs_of(data) == {(1, "std::vector"), (2, "std::map")}


def test_integers_between_blanks_must_say_what_they_are(tmp_path):
    path = tmp_path / "links.txt"
    path.write_text("1 10 11\n2 12 13\n")
    with pytest.raises(DataError, match="could be columns, or a user and its items"):
        read_interactions(path)
    assert read_interactions(path, format="adjacency").nnz == 4
    assert pairs_of(read_interactions(path, format="csv")) == {(1, 10), (2, 12)}


class Pipe(io.RawIOBase):
    """A file that cannot go back."""

    def __init__(self, content):
        self.content = io.BytesIO(content)

    def readable(self):
        return True

    def read(self, size=-1):
        return self.content.read(size)


def test_pipes_text_files_homes_and_files_that_stand_elsewhere(tmp_path, monkeypatch):
    assert read_interactions(Pipe(b"user,item\n1,2\n")).nnz == 1
    with pytest.raises(DataError, match="opened as text"):
        read_interactions(io.StringIO("user,item\n1,2\n"))
    late = io.BytesIO(b"preamble\nuser,item\n1,2\n")
    late.readline()
    assert read_interactions(late).nnz == 1
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.csv").write_text("user,item\n1,2\n")
    assert read_interactions("~/a.csv").nnz == 1
    (tmp_path / "a.csv").chmod(0o644)
    with (tmp_path / "a.csv").open() as opened, pytest.raises(DataError, match="opened as text"):
        read_interactions(opened)


class Counted(str):
    """Text that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)


def test_the_work_grows_with_the_number_of_columns_not_with_its_square():
    names = [Counted(f"c{k}") for k in range(2000)]
    roles = assign_roles([Counted("user"), Counted("item"), *names], {}, needs_rating=False)
    assert len(roles.ignored) == 2000
    assert Counted.compared < 50 * len(names)
