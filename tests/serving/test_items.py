"""The items file, filters over its columns, search, hidden items."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pydantic", reason="needs the extra [serve]")
pytest.importorskip("prometheus_client", reason="needs the extra [serve]")

from taylorank.data import Ids
from taylorank.errors import DataError, ParameterError
from taylorank.serving.catalogue import read_items
from taylorank.serving.search import SearchIndex, folded


def written(tmp_path, text, name="items.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_titles_and_columns_follow_the_items_of_the_model(tmp_path):
    path = written(tmp_path, "movieId,Title,year\n30,C,1999\n10,A,\n99,Z,2000\n")
    found = read_items(path).for_items(Ids([10, 20, 30]))
    assert found.titles == ["A", "20", "C"]
    assert found.columns["year"].to_list() == [None, None, 1999]
    assert found.kinds == {"Title": "text", "year": "number"}
    assert found.unknown == 1


def test_ids_of_text_are_not_altered(tmp_path):
    path = written(tmp_path, "sku\tname\n007\tBond\n7\tSeven\n", "items.tsv")
    assert read_items(path).for_items(Ids(["007", "7"])).titles == ["Bond", "Seven"]


def test_parquet_with_dates_lists_and_missing_numbers(tmp_path):
    frame = pl.DataFrame({"id": [1, 2], "when": ["2020-01-01", None], "tags": [["a"], ["b"]], "p": [float("nan"), 2.0]})
    frame.with_columns(pl.col("when").str.to_date()).write_parquet(tmp_path / "items.parquet")
    found = read_items(tmp_path / "items.parquet").for_items(Ids([1, 2]))
    assert found.kinds == {"when": "text", "tags": "text", "p": "number"}
    assert found.columns["when"].to_list() == ["2020-01-01", None]
    assert found.columns["p"].to_list() == [None, 2.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item,title\n1,a\n2,b\n1,c\n", "item '1' in more than one row"),
        ("item,title\n,a\n", "row 1 has no id"),
        ("what,title\n1,a\n", "named like an item's id"),
        ("item,title\n1,a,b,c\n", "cannot read"),
        ("", "cannot read"),
        ("item,title\n5,a\n6,b\n", "none of the model's 2 items"),
    ],
)
def test_a_bad_items_file_is_refused(tmp_path, text, words):
    with pytest.raises((DataError, ParameterError), match=words):
        read_items(written(tmp_path, text)).for_items(Ids([1, 2]))


def test_a_missing_items_file_and_a_missing_column_are_refused(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_items(tmp_path / "none.csv")
    with pytest.raises(ParameterError, match="no column 'sku'"):
        read_items(written(tmp_path, "item\n1\n"), item_column="sku")


FILTERS = [
    ({"genre": "a"}, lambda i: i % 3 == 0),
    ({"genre": {"in": ["a", "b"]}}, lambda i: i % 3 != 2),
    ({"genre": {"!=": "a"}}, lambda i: i % 3 != 0),
    ({"genre": {">": "a", "<=": "c"}}, lambda i: i % 3 != 0),
    ({"title": {"contains": "number 1"}}, lambda i: str(i).startswith("1")),
    ({"year": 1990}, lambda i: i % 40 == 10),
    ({"year": {"in": [1990, 1991.0, 2**62]}}, lambda i: i % 40 in (10, 11)),
    ({"year": {">=": 1990, "<": 2000}}, lambda i: 10 <= i % 40 < 20),
    ({"price": {"<": 10}}, lambda i: i % 7 and i / 4 < 10),
    ({"price": {"<=": 10.0}, "genre": "b"}, lambda i: i % 7 and i / 4 <= 10 and i % 3 == 1),
    ({"in_stock": True}, lambda i: i % 2 == 0),
    ({"in_stock": {"in": [False]}}, lambda i: i % 2 == 1),
    ({"genre": {"in": []}}, lambda i: False),
]


@pytest.mark.parametrize(("filters", "holds"), FILTERS)
def test_filters_leave_what_satisfies_them(everything, data, filters, holds):
    reply = everything.recommend({"history": [], "n": 500, "filters": filters})
    assert reply.status == 200, reply.body
    expected = {item for item in data.item_ids[data.item_popularity > 0].tolist() if holds(item)}
    assert {item["id"] for item in reply.json["items"]} == expected
    again = everything.recommend({"user": 3, "n": 500, "filters": filters, "items": [0, 1, 2, 3, 4]}).json["items"]
    assert {item["id"] for item in again} == {i for i in range(5) if holds(i)} - set(data.items_of(3).tolist())


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({"colour": "red"}, "no column 'colour'"),
        ({"year": "1990"}, "holds numbers"),
        ({"year": {"in": [1990, "x"]}}, "holds numbers"),
        ({"genre": {"<": 5}}, "holds texts"),
        ({"in_stock": 1}, "holds flags"),
        ({"year": {"contains": "19"}}, "holds numbers"),
        ({"year": {}}, "asks nothing"),
        ({"year": {"like": 5}}, "filters"),
        ({"year": None}, "filters"),
    ],
)
def test_a_filter_that_does_not_fit_is_refused(everything, filters, words):
    reply = everything.recommend({"user": 3, "filters": filters})
    assert reply.status == 422
    assert words in reply.json["error"]


def test_without_an_items_file_titles_are_ids_and_nothing_can_be_filtered(serve):
    client = serve("rg2")
    item = client.recommend({"user": 3}).json["items"][0]
    assert item["title"] == str(item["id"])
    assert "--items" in client.recommend({"user": 3, "filters": {"year": 1}}).json["remedy"]


def slow_search(titles, ids, popularity, text, n):
    """Look at every item."""
    wanted = folded(text)
    popular = sorted(range(len(titles)), key=lambda item: -popularity[item])
    tests = [
        lambda t, i: i == wanted,
        lambda t, i: t == wanted,
        lambda t, i: t.startswith(wanted),
        lambda t, i: i.startswith(wanted),
        lambda t, i: f" {wanted}" in t,
        lambda t, i: wanted in t,
        lambda t, i: wanted in i,
    ]
    found = [
        item for holds in tests for item in popular if holds(folded(titles[item]), folded(str(ids[item])))
    ] if wanted else popular  # fmt: skip
    return list(dict.fromkeys(found))[:n]


@given(
    st.lists(st.text("abAÄ é1", max_size=6), min_size=1, max_size=12),
    st.text("abÄe 1", max_size=3),
    st.integers(1, 5),
    st.randoms(use_true_random=False),
)
def test_search_finds_what_a_look_at_every_item_finds(titles, text, n, random):
    ids = random.sample(range(30), len(titles))
    popularity = np.array([random.random() for _ in titles])
    assert SearchIndex(ids, titles, popularity).find(text, n).tolist() == slow_search(titles, ids, popularity, text, n)


def test_search_over_http(everything, data):
    found = everything.get("/v1/items?q=CAFE%20number%207&n=3").json["items"]
    assert found[0]["id"] == 7
    assert all(item["title"].startswith("Café number 7") for item in found)
    assert everything.get("/v1/items?q=7&n=1").json["items"][0]["id"] == 7
    popular = everything.get("/v1/items?n=3").json["items"]
    assert [item["popularity"] for item in popular] == sorted(data.item_popularity, reverse=True)[:3]
    assert everything.get("/v1/items?q=xyz").json == {"items": []}
    assert everything.get("/v1/items?n=0").status == 422


def test_hidden_items_are_nowhere(serve, folder, tmp_path, data):
    hidden = data.item_ids[np.argsort(-data.item_popularity)[:20]].tolist()
    (tmp_path / "hide.txt").write_text("".join(f"{item}\n" for item in [*hidden, "unknown"]))
    client = serve("rg2", "ease", hide=tmp_path / "hide.txt")
    for model in ("rg2", "ease"):
        items = client.recommend({"user": 3, "n": 500, "model": model}).json["items"]
        assert items
        assert not {item["id"] for item in items} & set(hidden)
        near = client.get(f"/v1/items/{hidden[0]}/similar?n=30&model={model}").json["items"]
        assert near
        assert not {item["id"] for item in near} & set(hidden)
    assert not {item["id"] for item in client.get("/v1/items?n=100").json["items"]} & set(hidden)
    assert not set(client.get("/v1/map").json["ids"]) & set(hidden)
