from __future__ import annotations

import csv
import gzip
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from taylorank.data import Interactions, bytesource, read_interactions, tables
from taylorank.errors import DataError, ParameterError, TaylorankError

ROWS = [("u1", 7, 4.0, 30), ("u2", 7, 2.5, 10), ("u1", 9, 5.0, 20)]


def pairs_of(data):
    return set(zip(*(data.to_frame()[c].to_list() for c in ("user", "item")), strict=True))


@pytest.fixture
def frame():
    return pl.DataFrame(ROWS, schema=["user_id", "movieId", "rating", "timestamp"], orient="row")


def write_csv(rows, header, separator=","):
    return "".join(separator.join(map(str, row)) + "\n" for row in [header, *rows]).encode()


HEADER = ("user_id", "movieId", "rating", "timestamp")


def files():
    plain = write_csv(ROWS, HEADER)
    table = io.BytesIO()
    pl.DataFrame(ROWS, schema=list(HEADER), orient="row").write_parquet(table)
    inter = write_csv(ROWS, ("user_id:token", "item_id:token", "rating:float", "timestamp:float"), "\t")
    dat = "".join("::".join(map(str, row)) + "\n" for row in ROWS).encode()
    return {
        "a.csv": plain,
        "a.tsv": write_csv(ROWS, HEADER, "\t"),
        "semicolons.csv": write_csv(ROWS, HEADER, ";"),
        "a.csv.gz": gzip.compress(plain),
        "a.csv.zst": zstd.compress(plain),
        "a.inter": inter,
        "a.inter.gz": gzip.compress(inter),
        "a.dat": dat,
        "a.parquet": table.getvalue(),
        "windows.csv": plain.replace(b"\n", b"\r\n"),
        "bom.csv": b"\xef\xbb\xbf" + plain,
        "blank_lines.csv": plain.replace(b"\n", b"\n\n") + b"\n\n",
        "no_last_newline.csv": plain.rstrip(b"\n"),
        "quoted.csv": plain.replace(b"u1", b'"u1"').replace(b"user_id", b'"user_id"'),
    }


@pytest.mark.parametrize("name", files())
def test_every_format_gives_the_same_interactions(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(files()[name])
    columns = HEADER if name == "a.dat" else None
    data = read_interactions(path, min_rating=3, strength="rating", columns=columns)
    assert pairs_of(data) == {("u1", 7), ("u1", 9)}
    assert data.strengths.tolist() == [4.0, 5.0]
    assert data.timestamps.tolist() == [30, 20]
    assert "1 rated below 3 removed" in repr(data)
    assert read_interactions(str(path), columns=columns).nnz == 3


def test_the_guess_is_reported(tmp_path, frame):
    text = repr(read_interactions(frame, min_rating=3))
    assert "columns guessed: user=user_id, item=movieId, rating=rating, timestamp=timestamp" in text
    assert "guessed" not in repr(read_interactions(frame, user="user_id", item="movieId", timestamp=""))


@pytest.mark.parametrize("convert", [lambda f: f, lambda f: f.lazy(), lambda f: f.to_pandas(), lambda f: f.to_arrow()])
def test_tables_of_any_library(frame, convert):
    data = read_interactions(convert(frame), min_rating=3)
    assert pairs_of(data) == {("u1", 7), ("u1", 9)}


def test_pandas_objects_categories_and_missing_integers():
    table = pd.DataFrame({"user": pd.Series(["a", "b"], dtype="category"), "item": pd.Series(["x", "y"], dtype=object)})
    assert pairs_of(read_interactions(table)) == {("a", "x"), ("b", "y")}
    holes = pd.DataFrame({"user": [1.0, np.nan, 3.0], "item": [1, 2, 3]})
    assert pairs_of(read_interactions(holes, missing="drop")) == {(1, 1), (3, 3)}
    with pytest.raises(DataError, match="row 2 has no user"):
        read_interactions(holes)
    with pytest.raises(DataError, match="mixed type"):
        read_interactions(pd.DataFrame({"user": pd.Series([1, "a"], dtype=object), "item": [1, 2]}))
    with pytest.raises(DataError, match=r"1.5 is not an integer"):
        read_interactions(pd.DataFrame({"user": [1.5], "item": [1]}))


def test_pairs_dictionaries_arrays_and_matrices():
    assert pairs_of(read_interactions([("a", 1), ("b", 2)])) == {("a", 1), ("b", 2)}
    weighted = read_interactions([("a", 1, 0.5, 10), ("a", 1, 2.0, 20)], duplicates="sum")
    assert (weighted.strengths.tolist(), weighted.timestamps.tolist()) == ([2.5], [20])
    assert pairs_of(read_interactions({"user": ["a"], "item": [3]})) == {("a", 3)}
    assert pairs_of(read_interactions(np.array([[1, 2], [3, 4]]))) == {(1, 2), (3, 4)}
    assert read_interactions(sparse.csr_array(np.eye(3))).nnz == 3
    data = Interactions.from_arrays([1], [2])
    assert read_interactions(data) is data
    for bad in ([(1,)], [(1, 2), (1, 2, 3)], [], 5):
        with pytest.raises(DataError):
            read_interactions(bad)


def test_open_files_are_read(tmp_path):
    assert read_interactions(io.BytesIO(write_csv(ROWS, HEADER))).nnz == 3
    assert read_interactions(io.BytesIO(gzip.compress(b"1::2::3::4\n")), format="dat").nnz == 1
    with (tmp_path / "a.parquet").open("w+b") as file:
        file.write(files()["a.parquet"])
        file.seek(0)
        assert read_interactions(file).nnz == 3


def test_lightgcn_adjacency_text(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("0 5 6 7\n1 5 \n2\n10 7 5\n")
    data = read_interactions(path)
    assert pairs_of(data) == {(0, 5), (0, 6), (0, 7), (1, 5), (10, 7), (10, 5)}
    assert data.user_ids.tolist() == [0, 1, 2, 10]  # user 2 is listed without items
    path.write_text("0 5 6\n1 7 x\n")
    with pytest.raises(DataError, match="line 2 holds 'x'"):
        read_interactions(path, format="adjacency")
    path.write_text("0 5 6\n1 99999999999999999999\n")
    with pytest.raises(DataError, match="line 2 does not fit 64 bits"):
        read_interactions(path)


def test_files_without_header():
    assert pairs_of(read_interactions(io.BytesIO(b"1\t2\t5\t9\n3\t4\t1\t9\n"), format="tsv", min_rating=3)) == {(1, 2)}
    swapped = read_interactions(io.BytesIO(b"a,1\nb,2\n"), columns=("item", "user"))
    assert pairs_of(swapped) == {(1, "a"), (2, "b")}
    assert pairs_of(read_interactions(io.BytesIO(b"5,6,7\n"), user=2, item=0)) == {(7, 5)}


@pytest.mark.parametrize("spelling", ["007", "+7", "-0", " 7", "7 ", "7.0", "0x7", "1_0", "9223372036854775808", "00"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_text_that_is_no_plain_integer_stays_text(spelling, quote):
    body = f"user,item\n{quote}{spelling}{quote},1\n7,2\n".encode()
    data = read_interactions(io.BytesIO(body))
    assert pairs_of(data) == {(spelling, 1), ("7", 2)}


def test_a_late_text_id_turns_the_whole_column_into_text(monkeypatch):
    monkeypatch.setattr(bytesource, "BLOCK_BYTES", 64)
    lines = [f"{k},{k % 7}" for k in range(200)] + ["last,3"]
    data = read_interactions(io.BytesIO(("user,item\n" + "\n".join(lines)).encode()))
    assert set(data.user_ids.tolist()) == {str(k) for k in range(200)} | {"last"}
    assert data.item_ids.tolist() == list(range(7))


def test_ids_text_keeps_text():
    assert pairs_of(read_interactions(io.BytesIO(b"user,item\n1,2\n"), ids="text")) == {("1", "2")}
    assert pairs_of(read_interactions(pl.DataFrame({"user": [1], "item": [2]}), ids="text")) == {("1", "2")}
    assert pairs_of(read_interactions(pl.DataFrame({"user": ["1"], "item": ["02"]}))) == {("1", "02")}


def test_ids_text_over_several_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "BATCH_ROWS", 10)
    path = tmp_path / "a.parquet"
    pl.DataFrame({"user": range(50), "item": range(50)}).write_parquet(path, row_group_size=10)
    assert read_interactions(path, ids="text").user_ids.tolist() == sorted(str(k) for k in range(50))


def test_dates_and_what_only_looks_like_times():
    dated = read_interactions(io.BytesIO(b"user,item,date\n1,2,2020-03-01 10:00:00\n1,3,2020-03-02 11:30:00\n"))
    assert dated.timestamps.astype(str).tolist() == ["2020-03-01T10:00:00.000000", "2020-03-02T11:30:00.000000"]
    mixed = read_interactions(io.BytesIO(b"user,item,time\n1,2,1.5\n1,3,2\n"))
    assert mixed.timestamps.tolist() == [1.5, 2.0]
    odd = read_interactions(io.BytesIO(b"user,item,time\n1,2,soon\n"))
    assert odd.timestamps is None
    assert "column time ignored" in repr(odd)
    with pytest.raises(DataError, match="'soon' in row 2 is not a time"):
        read_interactions(io.BytesIO(b"user,item,time\n1,2,soon\n"), timestamp="time")


def test_latin1_dat_works_and_other_text_asks_for_its_encoding(tmp_path):
    path = tmp_path / "movies.dat"
    path.write_bytes("1::Amélie::5::9\n2::Ünder::4::9\n".encode("latin-1"))
    assert set(read_interactions(path, columns=("user", "item")).item_ids.tolist()) == {"Amélie", "Ünder"}
    table = tmp_path / "a.csv"
    table.write_bytes("user,item\n1,Amélie\n".encode("latin-1"))
    with pytest.raises(DataError, match=r'not utf-8 text \(byte 0xe9\).*encoding="latin-1"'):
        read_interactions(table)
    assert read_interactions(table, encoding="latin-1").item_ids.tolist() == ["Amélie"]


def test_a_character_cut_by_a_block_is_whole_again(monkeypatch):
    monkeypatch.setattr(bytesource, "BLOCK_BYTES", 7)
    names = ["Amélie", "Große", "日本", "🙂", "plain"]
    body = "user,item\n" + "".join(f"{k},{name}\n" for k, name in enumerate(names))
    assert set(read_interactions(io.BytesIO(body.encode())).item_ids.tolist()) == set(names)


def bad_files():
    table = files()["a.parquet"]
    packed = gzip.compress(write_csv(ROWS * 500, HEADER))
    return {
        "empty.csv": (b"", "the file is empty"),
        "blank.csv": (b"\n\n  \n", "the file is empty"),
        "header_only.csv": (b"user,item\n", "there are no rows"),
        "one_column.csv": (b"user\n1\n", "single column"),
        "no_user.csv": (b"person,item\n1,2\n", "no column looks like the user"),
        "two_users.csv": (b"user,user_id,item\n1,2,3\n", "user could be any of the columns 'user', 'user_id'"),
        "twice.csv": (b"user,item,item\n1,2,3\n", "column 'item' appears twice"),
        "again.csv": (b"user,item\n1,2\nuser,item\n3,4\n", "line 3 repeats the header"),
        "long_line.csv": (b"user,item\n1,2\n3,4,5\n", "line 3 has 3 fields, not 2"),
        "no_item.csv": (b"user,item\n1,2\n3\n", "row 3 has no item"),
        "cut.csv.gz": (packed[: len(packed) // 2], "ends too early"),
        "damaged.csv.gz": (packed[:40] + b"\xff" * 40 + packed[80:], "damaged"),
        "cut.csv.zst": (zstd.compress(write_csv(ROWS * 500, HEADER))[:60], "ends too early"),
        "cut.parquet": (table[: len(table) // 2], "not a whole Parquet file"),
        "text.parquet": (b"user,item\n1,2\n", "not a Parquet file"),
        "binary.csv": (bytes(range(256)) * 20, "not a text file"),
        "archive.csv": (b"PK\x03\x04" + bytes(50), "zip archive"),
        "quotes.csv": (b'user,item\n1,"2\n3,4\n', "cannot be parsed"),
    }


@pytest.mark.parametrize("name", bad_files())
def test_bad_files_give_one_clear_line(tmp_path, name):
    content, words = bad_files()[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_interactions(path)
    message = str(caught.value)
    assert words in message
    assert str(path) in message
    assert "\n" not in message
    assert caught.value.remedy


@pytest.mark.parametrize("value", ["inf", "-1", "many", "1e39"])
def test_bad_strengths_name_the_line(value):
    body = f"user,item,count\n1,2,3\n1,3,{value}\n".encode()
    with pytest.raises(DataError, match=r"strength .* in row 3 is not a finite number ≥ 0"):
        read_interactions(io.BytesIO(body), strength="count")


def test_nothing_left_says_which_step_removed_it():
    with pytest.raises(DataError, match="no rows left: 2 read, 2 rated below 9 removed; lower min_rating"):
        read_interactions(io.BytesIO(b"user,item,rating\n1,2,3\n1,3,4\n"), min_rating=9)
    with pytest.raises(DataError, match=r"no rows left: core\(5\) removed all 1 interactions"):
        read_interactions([(1, 2)]).core(5)


@pytest.mark.parametrize(
    "options",
    [{"duplicates": "first"}, {"missing": "ignore"}, {"ids": "int"}, {"format": "xls"}, {"min_rating": np.nan},
     {"user": "item", "item": "item"}],
)  # fmt: skip
def test_bad_options_are_refused(options):
    with pytest.raises(ParameterError):
        read_interactions(pl.DataFrame({"user": [1], "item": [2], "rating": [3]}), **options)
    with pytest.raises(TaylorankError, match=r"no column 'who' for user; the columns are 'user', 'item'"):
        read_interactions(pl.DataFrame({"user": [1], "item": [2]}), user="who")


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(DataError, match=r"nowhere.csv: no such file"):
        read_interactions(tmp_path / "nowhere.csv")
    with pytest.raises(DataError, match="a folder"):
        read_interactions(tmp_path)


def test_progress_reaches_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(bytesource, "BLOCK_BYTES", 100)
    path = tmp_path / "a.csv"
    path.write_bytes(write_csv(ROWS * 50, HEADER))
    calls = []
    read_interactions(path, progress=lambda report: calls.append((report.done, report.total)))
    assert calls == sorted(calls)
    assert calls[-1] == (path.stat().st_size,) * 2


FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)


@given(st.lists(st.tuples(FIELD, FIELD), min_size=1, max_size=20), st.integers(20, 200))
def test_what_csv_writes_is_read_back_exactly(rows, block):
    text = io.StringIO(newline="")
    csv.writer(text).writerows([("user", "item"), *rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bytesource, "BLOCK_BYTES", block)
        try:
            data = read_interactions(io.BytesIO(text.getvalue().encode()), ids="text")
        except DataError as error:
            assert ("user", "item") in rows and "repeats the header" in str(error)  # noqa: PT017, PT018
            return
    assert pairs_of(data) == set(rows)


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(0, 50)), min_size=1, max_size=40))
def test_integers_are_read_back_exactly(rows):
    body = "user,item\n" + "".join(f"{u},{i}\n" for u, i in rows)
    assert pairs_of(read_interactions(io.BytesIO(body.encode()))) == set(rows)


@given(st.binary(max_size=300), st.sampled_from([None, "csv", "tsv", "dat", "inter", "adjacency", "parquet"]))
def test_garbage_never_escapes_as_a_stranger(garbage, kind):
    """Whatever the bytes, the reader either understands them or raises its own one-line error."""
    try:
        data = read_interactions(io.BytesIO(garbage), format=kind)
    except TaylorankError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert data.nnz > 0


@given(st.text("0123456789,;\t\n\r\"':ab |", max_size=200))
def test_garbage_that_looks_like_text_never_escapes(garbage):
    try:
        read_interactions(io.BytesIO(("user,item\n" + garbage).encode()))
    except TaylorankError as error:
        assert "\n" not in str(error)  # noqa: PT017
