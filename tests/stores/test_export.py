"""What every export does, shown by the tables of Parquet: vectors, ids, metadata, measures, refusals."""

from __future__ import annotations

import json
import os

import numpy as np
import pandas as pd
import polars as pl
import pytest

import taylorank as tr
from taylorank.errors import DataError, MissingExtraError, ParameterError
from taylorank.stores import KINDS, export
from taylorank.stores.catalogue import catalogue_of, equally_long
from taylorank.stores.measure import measured


def test_the_inner_product_of_the_tables_is_the_score(model, tmp_path):
    found = model.export("parquet", tmp_path / "shop")
    items, users = (pl.read_parquet(tmp_path / "shop" / f"{side}.parquet") for side in ("items", "users"))
    assert items["id"].to_list() == list(range(10, 120))
    assert users["id"].to_list() == list(range(290))
    scores = users["vector"].to_numpy() @ items["vector"].to_numpy().T
    np.testing.assert_allclose(scores, model.scores(np.arange(290))[:, 10:], rtol=1e-4, atol=1e-8)
    np.testing.assert_array_equal(items["popularity"], model.item_popularity[10:])
    assert (found.items, found.users, found.left_out_items, found.left_out_users) == (110, 290, 10, 10)
    assert found.bytes == (tmp_path / "shop" / "items.parquet").stat().st_size


def test_the_cosine_has_the_same_order(model, tmp_path):
    found = model.export("parquet", tmp_path / "shop", metric="cosine")
    items, users = (pl.read_parquet(tmp_path / "shop" / f"{side}.parquet") for side in ("items", "users"))
    V, U = items["vector"].to_numpy(), users["vector"].to_numpy()
    np.testing.assert_allclose(np.linalg.norm(V, axis=1), 1, rtol=1e-5)
    scores = model.scores(np.arange(290))[:, 10:]
    longest = np.linalg.norm(model.export_factors()[1][10:].astype(float), axis=1).max()
    np.testing.assert_allclose(U @ V.T * longest, scores, rtol=1e-3, atol=1e-6 * scores.max())
    assert found.metric == "cosine"
    assert found.measured.recall > 0.99


def test_items_of_zero_are_items_too():
    unit = equally_long(np.array([[0, 0], [1e-30, 0], [2, 0]], dtype=np.float32))
    assert np.isfinite(unit).all()
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1)
    with pytest.raises(DataError, match="all item vectors are 0; fit"):
        equally_long(np.zeros((2, 2), dtype=np.float32))


@pytest.mark.parametrize("which", ["text_model", "negative_model"])
def test_ids_of_any_kind_are_kept(which, request, tmp_path):
    fitted = request.getfixturevalue(which)
    fitted.export("parquet", tmp_path / "shop")
    for side, ids in (("items", fitted.items), ("users", fitted.users)):
        assert pl.read_parquet(tmp_path / "shop" / f"{side}.parquet")["id"].to_list() == ids.values.tolist()


def test_metadata_are_joined_by_id(model, tmp_path):
    table = pd.DataFrame({"item": [50, 11, 9, 999], "title": ["fifty", "eleven", "unranked", "unknown"], "price": 1.5})
    model.export("parquet", tmp_path / "a", metadata=table)
    items = pl.read_parquet(tmp_path / "a" / "items.parquet")
    assert items.filter(pl.col("title").is_not_null())["id", "title"].rows() == [(11, "eleven"), (50, "fifty")]
    assert items.columns == ["id", "popularity", "title", "price", "vector"]
    (tmp_path / "items.csv").write_text("id,title\n11,eleven\n")
    model.export("parquet", tmp_path / "b", metadata=tmp_path / "items.csv")
    assert pl.read_parquet(tmp_path / "b" / "items.parquet")["title"][1] == "eleven"


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        (pl.DataFrame({"title": ["a"]}), "no ids; name their column"),
        (pl.DataFrame({"item": [11, 11], "t": ["a", "b"]}), "item 11 twice"),
        (pl.DataFrame({"item": [11], "vector": [1]}), "a column 'vector'"),
        (pl.DataFrame({"item": ["eleven"]}), "are no Int64"),
        (pl.DataFrame({"item": [5000]}), "none of the model's items"),
        (5, "metadata are a int"),
        ("nowhere.csv", "no such file: nowhere.csv"),
    ],
)
def test_bad_metadata_are_refused_before_anything_is_written(metadata, words, model, tmp_path):
    with pytest.raises(DataError, match=words) as caught:
        model.export("parquet", tmp_path / "shop", metadata=metadata)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_the_measure_is_what_the_store_finds(model):
    ranker = model.ranker
    catalogue = catalogue_of(ranker, "ip")
    everything = catalogue.items.ids.values

    def half(user, k):
        """The exact list, with every other item missing from it."""
        return everything[np.argsort(-(catalogue.items.vectors @ user), kind="stable")][::2]

    found = measured(half, catalogue, ranker, sample=50, random_state=0)
    assert (found.n, found.users) == (20, 50)
    assert 0.3 < found.recall < 0.7
    assert found.milliseconds > 0
    asked = []
    measured(lambda user, k: asked.append(k) or everything, catalogue, ranker, sample=5, random_state=0)
    assert min(asked[1:]) > 20  # room for what the users have seen


def test_nobody_is_asked_unless_asked_for(model, tmp_path):
    found = model.export("parquet", tmp_path / "shop", sample=0, users=False)
    assert found.measured is None
    assert not (tmp_path / "shop" / "users.parquet").exists()
    assert str(found).splitlines() == [
        f"parquet (exact, inner product): 110 items, 17 numbers each, {found.bytes:,} bytes",
        "left out: 10 items without interactions, 10 users without history (they get the popular items)",
        f"in: {tmp_path / 'shop'}",
    ]


def test_the_report_is_readable(model, tmp_path):
    lines = str(model.export("parquet", tmp_path / "shop")).splitlines()
    assert lines[1].startswith("recall@20 1.0000 of the model's exact lists, ")
    assert lines[1].endswith(" ms per query (200 users, median)")


def test_what_is_there_stays_unless_told_otherwise(model, tmp_path):
    place = tmp_path / "shop"
    model.export("parquet", place)
    before = (place / "items.parquet").read_bytes()
    with pytest.raises(DataError, match="is there already; choose another name, or overwrite"):
        model.export("parquet", place, metric="cosine")
    assert (place / "items.parquet").read_bytes() == before
    model.export("parquet", place, metric="cosine", users=False, overwrite=True)
    assert (place / "items.parquet").read_bytes() != before
    assert sorted(os.listdir(place)) == ["export.json", "items.parquet"]
    assert json.loads((place / "export.json").read_text())["metric"] == "cosine"
    assert os.listdir(tmp_path) == ["shop"]


def test_a_folder_of_somebody_else_is_never_replaced(model, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_text("cat")
    with pytest.raises(DataError, match="not what an earlier run wrote"):
        model.export("parquet", tmp_path / "photos", overwrite=True)
    assert os.listdir(tmp_path / "photos") == ["cat.jpg"]


def test_a_failure_leaves_what_was_there(model, tmp_path, monkeypatch):
    model.export("parquet", tmp_path / "shop")
    monkeypatch.setattr(
        "taylorank.stores.parquet_files.write_users", lambda *_: (_ for _ in ()).throw(OSError(28, "full"))
    )
    with pytest.raises(DataError, match=r"cannot write .*: full"):
        model.export("parquet", tmp_path / "shop", overwrite=True)
    assert (tmp_path / "shop" / "users.parquet").exists()
    assert os.listdir(tmp_path) == ["shop"]


def test_models_without_inner_products_are_refused(data, tmp_path):
    with pytest.raises(
        ParameterError, match=r"EASE are no inner products; export a student of it: model\.distil\(64\)"
    ):
        tr.EASE().fit(data).export("parquet", tmp_path / "shop")
    with pytest.raises(ParameterError, match="no store is called 'excel'; choose from faiss, "):
        tr.RG2(4).fit(data).export("excel", tmp_path / "shop")
    with pytest.raises(ParameterError, match="parquet has no index 'hnsw'; choose from exact"):
        tr.RG2(4).fit(data).export("parquet", tmp_path / "shop", index="hnsw")
    with pytest.raises(ParameterError, match="metric='l2' is unknown"):
        tr.RG2(4).fit(data).export("parquet", tmp_path / "shop", metric="l2")
    assert not list(tmp_path.iterdir())


def test_vectors_that_are_not_finite_are_refused(data, tmp_path):
    fitted = tr.IALS(4, iterations=1).fit(data)
    broken = fitted.item_factors.copy()
    broken[3] = np.inf
    fitted.item_factors_ = broken
    with pytest.raises(DataError, match="an item vector is not finite; fit the model again"):
        fitted.export("parquet", tmp_path / "shop")


def test_every_factor_model_and_student_is_exported_exactly(data, tmp_path):
    models = [
        tr.RG2(8, ranking="lift"),
        tr.RGX(8),
        tr.IALS(8, iterations=2),
        tr.WRMF(8, iterations=2),
        tr.SampledRG2(8, iterations=2),
        tr.Distilled(tr.RG2(32), factors=8, steps=50),
        tr.Distilled(tr.RG2(32), factors=8, steps=50, bias=False),
    ]
    for number, fitted in enumerate(models):
        found = export(fitted.fit(data), "parquet", tmp_path / str(number), sample=60)
        assert found.measured.recall > 0.995, fitted
    assert found.dimensions == 8


def test_a_missing_package_is_named_with_its_extra(model, tmp_path, monkeypatch):
    for kind, entry in KINDS.items():
        if entry.packages:
            monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
            with pytest.raises(MissingExtraError, match=rf"is not installed; pip install 'taylorank\[{kind}\]'"):
                model.export(kind, tmp_path / "shop")
    assert not list(tmp_path.iterdir())


def test_new_users_and_nobody(model, tmp_path):
    visitors = model.fold_in([("a", 20), ("a", 30), ("b", 40)])
    found = visitors.export("parquet", tmp_path / "visitors")
    assert (found.users, found.measured.users, found.measured.recall) == (2, 2, 1.0)
    nobody = model.fold_in([("a", 20)])
    nobody.user_factors_ = np.zeros_like(nobody.user_factors)
    found = nobody.export("parquet", tmp_path / "nobody")
    assert (found.users, found.left_out_users, found.measured) == (0, 1, None)
    assert pl.read_parquet(tmp_path / "nobody" / "users.parquet").shape == (0, 2)


def test_a_model_from_a_file_without_histories_is_exported(model, tmp_path):
    model.save(tmp_path / "m.tr", with_seen=False)
    assert tr.load(tmp_path / "m.tr").export("parquet", tmp_path / "shop").measured.recall == 1.0


@pytest.mark.parametrize("kind", ["parquet", "faiss", "usearch", "qdrant"])
def test_fewer_items_than_a_list_is_long(kind, tmp_path):
    model = tr.RG2(2).fit(tr.Interactions.from_arrays([1, 1, 2, 2, 3], [1, 2, 2, 3, 1]))
    found = export(model, kind, tmp_path / "shop")
    assert (found.items, found.measured.recall) == (3, 1.0)
