"""Values, names and options that no reader expects: each is read as what it is, or refused in one line."""

from __future__ import annotations

import datetime
import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import taylorank as tr
from taylorank.data import Interactions, read_interactions
from taylorank.data.source import open_data
from taylorank.errors import DataError, ParameterError, TaylorankError, UnknownIdError


def refused(action, words, kind=TaylorankError):
    with pytest.raises(kind, match=words) as raised:
        action()
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 2000


def read(text, **options):
    return read_interactions(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


LOG = "user,item\n1,2\n"


@pytest.mark.parametrize(
    ("text", "encoding", "words"),
    [(LOG.encode("utf-16-le"), "utf-16", "not utf-16 text"), (LOG.encode("utf-32-le"), "utf-32", "not utf-32 text"),
     (LOG, "punycode", "not punycode text"), (LOG, "undefined", "unknown encoding|not undefined"),
     (LOG, "a\0b", "unknown encoding"), (LOG, 3, "encoding=3 is no text"), (LOG, "", "encoding='' is no text"),
     (LOG.encode("utf-16") + b"x", "utf-16", "not utf-16 text")],
)  # fmt: skip
def test_encodings(text, encoding, words):
    refused(lambda: read(text, encoding=encoding), words)


@pytest.mark.parametrize(
    ("path", "words"),
    [("~nosuchuser/x.csv", "unknown user"), ("a\0b.csv", "NUL"), ("a\ud800b.csv", "half a character"),
     ("a" * 5000, "too long|no such file"),
     ("b" * 300 + ".csv", "too long")],
)  # fmt: skip
def test_paths(path, words):
    refused(lambda: read_interactions(path), words, DataError)
    refused(lambda: open_data(path), words, DataError)
    refused(lambda: Interactions.load_npz(path), f"no such file|cannot read|is damaged|{words}", DataError)
    refused(lambda: tr.load(path), f"no such file|damaged or not|{words}", DataError)


@pytest.mark.parametrize("columns", ["user,item", 3, [1, 2], (), [None, "item"], {"user", "item"}, [["user"], "item"]])
def test_names_of_columns(columns):
    refused(lambda: read("1,2,3\n", columns=columns), "is no list of names", ParameterError)


@pytest.mark.parametrize("name", ["user", "item", "rating", "strength", "timestamp"])
@pytest.mark.parametrize("column", [1.5, True, ["user"], b"user"])
def test_columns_that_are_none(name, column):
    refused(lambda: read("1,2,3\n", **{name: column}), f"{name}=.* is no column", ParameterError)


@pytest.mark.parametrize("name", ["duplicates", "missing", "ids", "format", "separator", "quote"])
@pytest.mark.parametrize("value", [3, ["last"], b"last"])
def test_choices_that_are_none(name, value):
    refused(lambda: read(LOG, **{name: value}), f"{name}=", ParameterError)


def frame(**columns):
    return pl.DataFrame({"user": [1, 2], "item": [1, 2], **columns})


LARGE = pl.Series([1, 2**70], dtype=pl.Int128)


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [(frame(user=LARGE), {}, "user id 1180591620717411303424 does not fit 64 bits"),
     (frame(t=LARGE), {"timestamp": "t"}, "timestamp 1180591620717411303424 does not fit"),
     (frame(t=pl.Series([1, 2**64 - 1], dtype=pl.UInt64)), {"timestamp": "t"}, "does not fit 64 bits"),
     (frame(s=[[1], [2]]), {"strength": "s"}, "strength column holds List"),
     (frame(rating=[[1], [2]]), {"min_rating": 2}, "rating column holds List"),
     (frame(s=[b"1", b"2"]), {"strength": "s"}, "strength column holds Binary"),
     (frame(s=pl.Series([object()] * 2, dtype=pl.Object)), {"strength": "s"}, "strength column holds Object"),
     (frame(user=[[1], [2]]), {}, "user column holds List"),
     (frame(user=[b"1", b"2"]), {}, "user column holds Binary"),
     (frame(user=[{"a": 1}] * 2), {}, "user column holds Struct"),
     (pa.table({"user": [[1]], "item": [1]}), {}, "user column holds List"),
     (pd.DataFrame({"user": [1], "item": [1], "s": [[1]]}), {"strength": "s"}, "strength column holds"),
     (pd.DataFrame({"user": [1], "item": [1], "t": pd.to_timedelta([1])}), {"timestamp": "t"}, "holds Duration")],
)  # fmt: skip
def test_types_of_columns(table, options, words):
    refused(lambda: read_interactions(table, **options), words, DataError)


def test_small_integers_of_a_wide_type_are_read():
    data = read_interactions(frame(user=pl.Series([7, 9], dtype=pl.Int128)))
    assert data.user_ids.tolist() == [7, 9]


def test_times_that_are_all_missing():
    table = pd.DataFrame({"user": [1, 2], "item": [1, 2], "timestamp": pd.to_datetime([None, None])})
    assert read_interactions(table).timestamps is None  # the column was only guessed
    refused(lambda: read_interactions(table, timestamp="timestamp"), "row 1 has no timestamp", DataError)
    seconds = pd.DataFrame({"user": [1], "item": [1], "time": np.array(["2020-01-01"], dtype="datetime64[s]")})
    assert read_interactions(seconds).timestamps.tolist() == [datetime.datetime(2020, 1, 1)]


NONE = [None, float("nan"), pd.NaT, pd.NA, np.datetime64("NaT")]


@pytest.mark.parametrize("none", NONE, ids=lambda none: type(none).__name__)
def test_values_that_stand_for_none(none):
    day = datetime.datetime(2020, 1, 1)
    for times in ([none, none], [day, none], [1, none]):
        refused(lambda times=times: Interactions.from_arrays([1, 2], [1, 2], timestamps=times), "timestamp", DataError)
        rows = [(1, 1, 1.0, times[0]), (2, 2, 1.0, times[1])]
        refused(lambda rows=rows: read_interactions(rows), "timestamp", DataError)
        if none is times[0]:
            refused(lambda rows=rows: read_interactions(rows, missing="drop"), "no rows left", DataError)
    for ids in ([none, none], [1, none], ["a", none]):
        refused(lambda ids=ids: Interactions.from_arrays(ids, [1, 2]), "an id is missing", DataError)
        pairs = [(ids[0], 1), (ids[1], 2)]
        refused(lambda pairs=pairs: read_interactions(pairs, ids="text"), "an id is missing", DataError)
    refused(lambda: Interactions.from_arrays([1, 2], [1, 2], strengths=[1.0, none]), "strength", DataError)


def test_times_that_are_not_one_for_each_row():
    for times in ([[1, 2], [3, 4]], [[1], [2, 3]]):
        refused(lambda times=times: Interactions.from_arrays([1, 2], [1, 2], timestamps=times), "timestamps", DataError)


FACTORS = [tr.IALS, tr.WRMF, tr.ReleasedRG, tr.SampledRG2, tr.Distilled, tr.Neural]


@pytest.mark.parametrize("model", FACTORS)
def test_factors_that_memory_does_not_hold_are_refused_before_they_are_made(model):
    data = tr.planted(60, 30, interactions=500)
    for factors in (2**24, 2**35):
        refused(
            lambda factors=factors: model(factors=factors).fit(data),
            r"takes .* GiB, and .* are free; give fewer factors",
        )


def test_times_of_python():
    zone = datetime.timezone(datetime.timedelta(hours=2))
    moments = [datetime.datetime(2020, 1, 1, 2, tzinfo=zone), datetime.datetime(2020, 1, 1)]
    data = Interactions.from_arrays([1, 2], [1, 1], timestamps=moments)
    assert data.timestamps.tolist() == [datetime.datetime(2020, 1, 1)] * 2
    days = Interactions.from_arrays([1], [1], timestamps=[datetime.date(2020, 1, 2)])
    assert days.timestamps.tolist() == [datetime.datetime(2020, 1, 2)]
    for odd in ([moments[1], "x"], [moments[1], 3], ["x", moments[1]]):
        refused(lambda o=odd: Interactions.from_arrays([1, 2], [1, 1], timestamps=o), "neither numbers nor dates")


@pytest.mark.parametrize("huge", [10**400, 10**5000], ids=["400 digits", "5000 digits"])
def test_integers_that_nothing_holds(huge):
    pairs = [(1, 2), (2, 1)]
    model = tr.Popularity().fit(pairs)
    for action in (
        lambda: read_interactions([(huge, 2)]),
        lambda: read_interactions([(1, 2, huge)]),
        lambda: read_interactions([(1, 2, 1, huge)]),
        lambda: read_interactions({"user": [huge], "item": [1]}),
        lambda: read("user,item,rating\n1,2,3\n", min_rating=huge),
        lambda: tr.RG2(factors=huge).fit(pairs),
        lambda: tr.RG2(1, regularization=huge).fit(pairs),
        lambda: tr.IALS(1, num_threads=huge).fit(pairs),
        lambda: model.recommend([1], n=huge),
        lambda: model.recommend([huge]),
        lambda: tr.evaluate(model, pairs, k=huge),
        lambda: tr.evaluate(model, pairs, metrics=f"ndcg@{'9' * 400}"),
        lambda: tr.evaluate(model, pairs, confidence=0.9, resamples=huge),
        lambda: read_interactions(pairs).core(huge),
        lambda: tr.planted(30, 20, interactions=100).split(random_state=huge),
    ):
        refused(action, r"0{300}|\d bits|too large|9{300}|neither numbers")


def test_lists_that_memory_does_not_hold_are_refused_before_they_are_made():
    model = tr.Popularity().fit([(1, 2), (2, 1)])
    for n in (2**63, 2**40):
        refused(lambda n=n: model.recommend([1], n=n), r"more than 2⁶³|takes .* GiB, and .* are free")
    assert model.recommend([1], n=1000)[0].shape == (1, 1000)
    assert model.recommend([1], n=np.int64(3))[0].shape == (1, 3)


def test_ids_that_cannot_be_keys():
    model = tr.Popularity().fit([("a", "x"), ("b", "y")])
    data = read_interactions([("a", "x")])
    refused(lambda: model.recommend(["a"], items=[["x"]]), "unknown item", UnknownIdError)
    refused(lambda: model.explain(["a"], "y"), "unknown user", UnknownIdError)
    refused(lambda: data.items_of(["a"]), "unknown user", UnknownIdError)
    refused(lambda: read_interactions([(["a"], 2)]), "is not an id", DataError)
    assert data.users.positions([{}, "a", ["a"], None]).tolist() == [-1, 0, -1, -1]
    assert model.recommend(["a"], exclude=[{}])[0].tolist() == model.recommend(["a"])[0].tolist()
