"""What the record says of columns (guessed, ignored, not used) and of rows with missing values."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taylorank.data import bytesource, read_interactions
from taylorank.errors import DataError


def read(text, **options):
    return read_interactions(io.BytesIO(text.encode()), **options)


@pytest.mark.parametrize(
    ("header", "row", "rating"),
    [
        ("User-ID,ISBN,Book-Rating", "276725,034545104X,5", "Book-Rating"),
        ("Id,ProductId,UserId,ProfileName,Score,Time,Summary", "1,B001,A3S,delm,5,1303862400,Good", "Score"),
        ("reviewerID,asin,overall,reviewTime", 'A1,B0,4,"09 13, 2009"', "overall"),
        ("review_id,user_id,business_id,stars,date", "r,u,b,4,2018-07-07 22:09:11", "stars"),
        ("userId,movieId,rating,timestamp", "1,2,4.5,1147880044", "rating"),
        ("user,item,review/score,pos", "1,2,4.5,3", "review/score"),
    ],
)
def test_usual_exports_are_recognised(header, row, rating):
    data = read(f"{header}\n{row}\n", min_rating=1)
    assert (data.nnz, f"rating={rating}" in repr(data)) == (1, True)
    assert f"ratings in {rating} not used" in repr(read(f"{header}\n{row}\n"))


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("reviewTime", ['"09 13, 2009"', '"01 5, 2013"'], ["2009-09-13", "2013-01-05"]),
        ("unixReviewTime", ["1252800000", "1357344000"], [1252800000, 1357344000]),
        ("date", ["2009/09/13", "2013/01/05"], ["2009-09-13", "2013-01-05"]),
        ("pos", ["2", "1"], [2, 1]),
    ],
)
def test_usual_times_are_recognised(column, values, expected):
    data = read(f"user,item,{column}\n1,1,{values[0]}\n1,2,{values[1]}\n")
    times = data.timestamps
    assert (times.astype("datetime64[D]").astype(str) if times.dtype.kind == "M" else times).tolist() == expected


def test_a_place_in_the_history_is_a_time_only_where_there_is_no_other():
    assert read("user,item,pos,time\n1,2,7,100\n").timestamps.tolist() == [100]


def test_ignored_columns_are_listed():
    assert "columns ignored: genre, helpful" in repr(read("user,genre,item,helpful\n1,drama,2,0\n"))
    assert "ignored" not in repr(read("user,item\n1,2\n"))
    wide = "user,item," + ",".join(f"x{k}" for k in range(40))
    assert "x11, … (40 in all)" in repr(read(f"{wide}\n1,2{',0' * 40}\n"))


BOOKS = pl.DataFrame({"User-ID": [1, 1, 2, 3], "ISBN": list("abab"), "Book-Rating": [0, 8, 0, 10]})


@pytest.mark.parametrize("kind", ["csv", "parquet", "polars", "pandas", "dictionary"])
def test_ratings_that_are_not_used_are_counted(tmp_path, kind):
    if kind in ("csv", "parquet"):
        getattr(BOOKS, f"write_{kind}")(tmp_path / f"a.{kind}")
        source = tmp_path / f"a.{kind}"
    else:
        source = {"polars": BOOKS, "pandas": BOOKS.to_pandas(), "dictionary": BOOKS.to_dict(as_series=False)}[kind]
    words = "2 of 4 ratings are 0: pass min_rating=… to keep the positive ones, or strength='Book-Rating'"
    data = read_interactions(source)
    assert words in repr(data)
    assert data.nnz == 4
    assert words in repr(read_interactions(source, rating="Book-Rating"))  # named, but nothing asked of it
    for options in ({"min_rating": 1}, {"strength": "Book-Rating"}, {"rating": ""}):
        assert "not used" not in repr(read_interactions(source, **options))


def test_low_ratings_are_counted_over_blocks(monkeypatch):
    monkeypatch.setattr(bytesource, "BLOCK_BYTES", 64)
    rows = "".join(f"{k},{k},{1 + k % 5 / 1}\n" for k in range(500))
    assert "200 of 500 ratings are in the lower half of 1 to 5: pass min_rating" in repr(
        read(f"user,item,stars\n{rows}")
    )


@pytest.mark.parametrize("values", [["good", "bad"], [None, None], [[1], [2]], [-5.0, 1e300], [float("nan"), 3.0]])
def test_what_only_looks_like_ratings_does_no_harm(values):
    table = pl.DataFrame({"user": [1, 2], "item": [3, 4], "score": values})
    assert "ratings in score not used" in repr(read_interactions(table))
    odd = pd.DataFrame({"user": [1, 2], "item": [3, 4], "score": pd.Series([1, "a"], dtype=object)})
    assert read_interactions(odd).nnz == 2


@pytest.mark.parametrize("missing", ["", "NA", "null", "NaN", "\\N"])
@pytest.mark.parametrize("times", [["100", "300"], ["1.5", "2.5"], ["2020-01-01", "2020-03-01"]])
def test_one_missing_time_does_not_cost_the_column(missing, times):
    text = f"user,item,timestamp\n1,1,{times[0]}\n1,2,{missing}\n2,1,{times[1]}\n"
    for options in ({}, {"timestamp": "timestamp"}):
        with pytest.raises(DataError, match=r'row 3 has no timestamp; .*missing="drop", or .* timestamp=""'):
            read(text, **options)
    whole = read(text, missing="drop")
    assert whole == read(text.replace(f"1,2,{missing}\n", ""))
    assert "1 without timestamp dropped" in repr(whole)
    assert read(text, timestamp="").nnz == 3


def test_missing_times_of_tables():
    stamps = pd.to_datetime(pd.Series(["2020-01-01", None, "2020-01-03"]))
    numbers = pd.Series([1.0, np.nan, 3.0])
    for column in (stamps, numbers):
        table = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 3], "time": column})
        with pytest.raises(DataError, match="row 2 has no timestamp"):
            read_interactions(table)
        assert read_interactions(table, missing="drop").nnz == 2
    nothing = pl.DataFrame({"user": [1, 1], "item": [1, 2], "time": [None, None]})
    assert "column time ignored, it holds no times" in repr(read_interactions(nothing))


def test_a_value_that_is_no_time_among_times_is_named():
    with pytest.raises(DataError, match="timestamp 'soon' in row 3 is not a time"):
        read("user,item,time\n1,1,100\n1,2,soon\n2,1,300\n", missing="drop")


@pytest.mark.parametrize("value", ["", "nan", "NA"])
@pytest.mark.parametrize("options", [{"min_rating": 3}, {"strength": "rating"}])
def test_missing_ratings_are_named_or_dropped(value, options):
    text = f"user,item,rating\n1,1,5\n1,2,{value}\n2,1,4\n"
    with pytest.raises(DataError, match=r'row 3 has no (rating|strength); drop such rows, or pass missing="drop"'):
        read(text, **options)
    data = read(text, missing="drop", **options)
    assert data.nnz == 2
    assert "1 without" in repr(data)
    assert "1,2" not in repr(data)


def test_a_row_that_is_dropped_anyway_may_lack_the_rest():
    assert read("user,item,rating,time\n1,1,5,1\n1,2,1,\n", min_rating=3).nnz == 1


def test_missing_values_of_lists():
    rows = [("a", 1, 2.0, 5), ("b", 2, None, 6), ("c", 3, 1.0, None), (None, 4, 1.0, 7)]
    data = read_interactions(rows, missing="drop")
    assert data.user_ids.tolist() == ["a"]
    assert "3 with a missing value dropped" in repr(data)


VALUE = st.one_of(st.none(), st.integers(-(10**6), 10**6))


@given(st.lists(st.tuples(st.integers(0, 9), VALUE, VALUE), min_size=1, max_size=40), st.integers(8, 200))
def test_dropping_missing_values_is_filtering_first(rows, block):
    """Whatever is missing where, and wherever the blocks end: the rows that are left, with their times and order."""
    rows = [(user, place, rating, time) for place, (user, rating, time) in enumerate(rows)]
    whole = [row for row in rows if None not in row]
    text = "user,item,rating,time\n" + "".join(
        ",".join("" if v is None else str(v) for v in row) + "\n" for row in rows
    )
    options = {"timestamp": "time", "min_rating": -(10**7), "missing": "drop"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bytesource, "BLOCK_BYTES", block)
        if not whole:
            with pytest.raises(DataError, match="no rows left"):
                read(text, **options)
            return
        data = read(text, **options)
    found = data.to_frame().sort("item")
    assert found["item"].to_list() == [row[1] for row in whole]
    assert found["timestamp"].to_list() == [row[3] for row in whole]
