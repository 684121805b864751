"""faiss and usearch: what their own readers find in the files."""

from __future__ import annotations

import json
import os

import numpy as np
import polars as pl
import pytest

import taylorank as tr
from taylorank.errors import ParameterError

pytestmark = pytest.mark.filterwarnings("ignore:builtin type .* has no __module__ attribute:DeprecationWarning")  # SWIG


def ask_faiss(place, user, k):
    faiss = pytest.importorskip("faiss")
    return faiss.read_index(str(place / "items.faiss")).search(user[None], k)[1][0]


def ask_usearch(place, user, k):
    usearch = pytest.importorskip("usearch.index")
    return usearch.Index.restore(str(place / "items.usearch")).search(user, k).keys.astype(np.int64)


KINDS = {"faiss": ask_faiss, "usearch": ask_usearch}


def exported(model, kind, place, **options):
    pytest.importorskip(kind)
    found = model.export(kind, place, **options)
    assert set(os.listdir(place)) == {"export.json", f"items.{kind}", "items.parquet", "users.parquet"}
    assert found.bytes == sum((place / name).stat().st_size for name in (f"items.{kind}", "items.parquet"))
    return found


def user_vector(place, user):
    return pl.read_parquet(place / "users.parquet").filter(pl.col("id") == user)["vector"].to_numpy()[0]


@pytest.mark.parametrize("kind", KINDS)
def test_integer_ids_are_the_keys(kind, model, scored, tmp_path):
    found = exported(model, kind, tmp_path / "shop")
    assert found.measured.recall > 0.99
    for user in (0, 17, 289):
        scored(model, user, KINDS[kind](tmp_path / "shop", user_vector(tmp_path / "shop", user), 10))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("which", ["text_model", "negative_model"])
def test_other_ids_are_found_by_their_row(kind, which, scored, request, tmp_path):
    fitted = request.getfixturevalue(which)
    found = exported(fitted, kind, tmp_path / "shop")
    assert found.measured.recall > 0.99
    user = fitted.users.values.tolist()[40]
    keys = KINDS[kind](tmp_path / "shop", user_vector(tmp_path / "shop", user), 10)
    items = pl.read_parquet(tmp_path / "shop" / "items.parquet")
    assert items["key"].to_list() == list(range(len(items)))
    scored(fitted, user, items["id"].gather(keys).to_list())


@pytest.mark.parametrize(("kind", "index"), [("faiss", "flat"), ("faiss", "hnsw"), ("usearch", "hnsw")])
@pytest.mark.parametrize("metric", ["ip", "cosine"])
def test_every_index_finds_what_it_says(kind, index, metric, model, tmp_path):
    found = exported(model, kind, tmp_path / "shop", index=index, metric=metric)
    assert (found.index, found.metric, found.dimensions) == (index, metric, 17 + (metric == "cosine"))
    assert found.measured.recall > (0.99 if metric == "ip" or index == "flat" else 0.7)


def test_any_factory_string_of_faiss_will_do(model, tmp_path):
    found = exported(model, "faiss", tmp_path / "shop", index="SQ8")
    assert 0.8 < found.measured.recall <= 1
    for index in ("Nonsense", "PQ5"):
        with pytest.raises(ParameterError, match=f"faiss cannot build the index '{index}'") as caught:
            model.export("faiss", tmp_path / "other", index=index)
        assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path) == ["shop"]


def test_the_number_of_threads_of_faiss_is_left_alone(model, tmp_path):
    faiss = pytest.importorskip("faiss")
    before = faiss.omp_get_max_threads()
    model.export("faiss", tmp_path / "shop", sample=3)
    assert faiss.omp_get_max_threads() == before


def test_small_scores_survive_the_distances_of_usearch(model, tmp_path):
    usearch = pytest.importorskip("usearch.index")
    shrunk = tr.IALS(16, iterations=2).fit(model.seen)
    shrunk.item_factors_ = shrunk.item_factors * np.float32(1e-9)
    found = exported(shrunk, "usearch", tmp_path / "shop")
    assert found.measured.recall > 0.99
    longest = json.loads((tmp_path / "shop" / "export.json").read_text())["longest"]
    best = usearch.Index.restore(str(tmp_path / "shop" / "items.usearch")).search(user_vector(tmp_path / "shop", 17), 5)
    scores = shrunk.recommend([17], 5, seen=[])[1][0]
    np.testing.assert_allclose(longest * (1 - best.distances), scores, rtol=1e-4)
