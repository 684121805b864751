"""Each format on a small archive made here, and the same archive damaged."""

import gzip
import io
import json
import zipfile
from dataclasses import replace

import polars as pl
import pytest

from taylorank.data import datasets
from taylorank.data.datasets import registry
from taylorank.data.datasets.formats import line_blocks
from taylorank.errors import DataError
from taylorank.selection import hold_back

ROWS = [(1, 10, 5, 100), (1, 20, 2, 200), (2, 10, 3, 300), (7, 30, 4, 400)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder that is searched first; checksums do not apply to what the tests make."""
    monkeypatch.setenv("TAYLORANK_DATA", str(tmp_path))
    monkeypatch.setattr("taylorank.data.datasets.places.mismatch", lambda path, expected: None)
    return tmp_path


def pairs(data):
    return set(data.to_frame().select("user", "item").rows())


def write_zip(path, member, text, encoding="utf-8"):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"folder/{member}", text.encode(encoding))
        archive.writestr("folder/README", "read me")


def joined(separator, header=""):
    return header + "".join(separator.join(map(str, row)) + "\n" for row in ROWS)


@pytest.mark.parametrize(
    ("name", "member", "text"),
    [
        ("ml-100k", "u.data", joined("\t")),
        ("ml-1m", "ratings.dat", joined("::")),
        ("ml-10m", "ratings.dat", joined("::").replace("::5::", "::4.5::")),
        ("ml-20m", "ratings.csv", joined(",", "userId,movieId,rating,timestamp\n")),
    ],
)
def test_movielens_archives(folder, name, member, text):
    write_zip(folder / f"{name}.zip", member, text)
    data = datasets.get(name)
    assert pairs(data) == {(1, 10), (1, 20), (2, 10), (7, 30)}
    assert data.timestamps.tolist() == [100, 200, 300, 400]
    assert data.is_binary
    assert "cleaning raw" in data.steps[-1].action


def test_the_papers_threshold_keeps_threes(folder, monkeypatch):
    write_zip(folder / "ml-1m.zip", "ratings.dat", joined("::"))
    entry = datasets.info("ml-1m")
    small = registry.Cleaning("small", "ratings ≥ 3, 1-core", min_rating=3, core=1)
    monkeypatch.setattr(registry, "_registry", lambda: {"ml-1m": replace(entry, cleanings=(small,))})
    assert pairs(datasets.get("ml-1m", cleaning="small")) == {(1, 10), (2, 10), (7, 30)}


@pytest.mark.parametrize("kept", [0.2, 0.6, 0.95])
def test_a_truncated_zip_is_refused(folder, kept):
    write_zip(folder / "ml-1m.zip", "ratings.dat", joined("::") * 100)
    whole = (folder / "ml-1m.zip").read_bytes()
    (folder / "ml-1m.zip").write_bytes(whole[: int(kept * len(whole))])
    with pytest.raises(DataError, match=r"ml-1m\.zip is damaged \(File is not a zip file\); delete it"):
        datasets.get("ml-1m")


def test_a_zip_with_a_flipped_byte_is_refused(folder):
    text = "".join(f"{n % 97}::{n * n % 89}::{n % 5 + 1}::{n * 7919}\n" for n in range(5000))
    write_zip(folder / "ml-1m.zip", "ratings.dat", text)
    whole = bytearray((folder / "ml-1m.zip").read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    (folder / "ml-1m.zip").write_bytes(whole)
    with pytest.raises(DataError, match="damaged"):
        datasets.get("ml-1m")


def test_a_zip_of_something_else_is_refused(folder):
    write_zip(folder / "ml-1m.zip", "other.dat", joined("::"))
    with pytest.raises(DataError, match=r"ml-1m\.zip holds no ratings\.dat"):
        datasets.get("ml-1m")


def review(user, item, stars, time):
    return {
        "reviewerID": user,
        "asin": item,
        "overall": stars,
        "unixReviewTime": time,
        "helpful": [0, 1],
        "reviewText": 'a "b"\n',
    }


def write_lines(path, lines):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


AMAZON = "reviews_Electronics_5.json.gz"


def test_amazon_reviews(folder):
    reviews = [review("A2", "0528881469", 5.0, 30), review("A10", "B00X", 2.0, 20), review("A2", "B00X", 3.0, 40)]
    write_lines(folder / AMAZON, map(json.dumps, reviews))
    data = datasets.get("amazon-electronics")
    assert pairs(data) == {("A2", "0528881469"), ("A10", "B00X"), ("A2", "B00X")}
    assert sorted(data.timestamps.tolist()) == [20, 30, 40]


def test_amazon_ids_that_spell_numbers_stay_text(folder):
    write_lines(folder / AMAZON, map(json.dumps, [review("1", "10", 5.0, 1), review("2", "20", 5.0, 1)]))
    assert pairs(datasets.get("amazon-electronics")) == {("1", "10"), ("2", "20")}


def test_amazon_cleanings_differ_by_the_threshold(folder):
    reviews = [review(f"A{u}", f"B{i}", 1.0 if u == i == 0 else 5.0, 1) for u in range(6) for i in range(6)]
    write_lines(folder / AMAZON, map(json.dumps, reviews))
    assert datasets.get("amazon-electronics", cleaning="published-counts").nnz == 36
    assert datasets.get("amazon-electronics", cleaning="paper").nnz == 35


@pytest.mark.parametrize("line", ["{'reviewerID': 'A1'}", '{"reviewerID": "A1", "asin', "garbage"])
def test_lines_that_are_not_json_are_refused(folder, line):
    write_lines(folder / AMAZON, [json.dumps(review("A1", "B1", 5.0, 1)), line])
    with pytest.raises(DataError, match=f"{AMAZON} is damaged"):
        datasets.get("amazon-electronics")


def test_a_review_without_a_product_is_refused(folder):
    write_lines(folder / AMAZON, [json.dumps({"reviewerID": "A1"})])
    with pytest.raises(DataError, match="has no item"):
        datasets.get("amazon-electronics")


@pytest.mark.parametrize(
    "content",
    [b"", gzip.compress(b""), b"not gzip at all", gzip.compress(b"x" * 10_000)[:-9]],
    ids=["no bytes", "nothing packed", "not gzip", "cut"],  # not from the content, which has the time of day
)
def test_a_damaged_gzip_file_is_refused(folder, content):
    (folder / AMAZON).write_bytes(content)
    with pytest.raises(DataError, match=rf"{AMAZON} is (damaged|empty)"):
        datasets.get("amazon-electronics")


def test_lightgcn_text_files(folder):
    (folder / "gowalla").mkdir()
    (folder / "gowalla" / "train.txt").write_text("0 5 6\n1 6 7 8\n")
    (folder / "gowalla" / "test.txt").write_text("0 7\n1 9\n")
    assert pairs(datasets.get("gowalla")) == {(0, 5), (0, 6), (0, 7), (1, 6), (1, 7), (1, 8), (1, 9)}
    train, test = datasets.published_split("gowalla")
    assert pairs(train) == {(0, 5), (0, 6), (1, 6), (1, 7), (1, 8)}
    assert pairs(test) == {(0, 7), (1, 9)}
    assert train.users == test.users
    assert train.items == test.items


def test_a_split_in_parquet(folder):
    pl.DataFrame({"user": [0, 1], "item": [5, 6]}).write_parquet(folder / "yelp2018-train.parquet")
    pl.DataFrame({"user": [1], "item": [9]}).write_parquet(folder / "yelp2018-test.parquet")
    train, test = datasets.published_split("yelp2018")
    assert (pairs(train), pairs(test)) == ({(0, 5), (1, 6)}, {(1, 9)})
    assert pairs(datasets.get("yelp2018")) == {(0, 5), (1, 6), (1, 9)}
    assert train.matrix.shape == test.matrix.shape == (2, 3)


def test_the_order_of_the_lines_is_taken_where_its_file_is(folder):
    pairs_of = {"user": [0, 0, 0, 1], "item": [5, 6, 7, 6]}
    pl.DataFrame(pairs_of).write_parquet(folder / "gowalla-train.parquet")
    pl.DataFrame({"user": [1], "item": [9]}).write_parquet(folder / "gowalla-test.parquet")
    assert datasets.published_split("gowalla")[0].timestamps is None
    order = pl.DataFrame({"user": [0, 1, 0, 0], "item": [7, 6, 5, 6], "pos": [0, 3, None, 1]})
    order.write_parquet(folder / "gowalla-train-order.parquet")
    train, test = datasets.published_split("gowalla")
    assert train.timestamps.tolist() == [-1, 1, 0, 3]  # items 5, 6, 7 of user 0; unknown places are the earliest
    assert test.timestamps is None
    held = hold_back(train, 0.3)
    assert held.valid.items_of(0).tolist() == [6]
    assert "as their order is known" in held.line
    order.with_columns(item=pl.col("item") + 1).write_parquet(folder / "gowalla-train-order.parquet")
    with pytest.raises(DataError, match=r"gowalla-train-order\.parquet has other pairs than the training part"):
        datasets.published_split("gowalla")


def test_parquet_stands_in_for_an_archive(folder):
    columns = {"user": pl.Int32, "item": pl.Int32, "rating": pl.Float32, "timestamp": pl.Int64}
    pl.DataFrame(ROWS, schema=columns, orient="row").write_parquet(folder / "ml-20m.parquet")
    assert pairs(datasets.get("ml-20m")) == {(1, 10), (1, 20), (2, 10), (7, 30)}


def test_a_damaged_parquet_file_is_refused(folder):
    (folder / "moby-thesaurus.parquet").write_bytes(b"PAR1 but nothing else PAR1")
    with pytest.raises(DataError, match=r"moby-thesaurus\.parquet"):
        datasets.get("moby-thesaurus")


def test_strength_cleanings_sum_repeats(folder):
    frame = pl.DataFrame({"user": [1, 1, 2], "item": [3, 3, 3], "quantity": [2, 5, 1], "timestamp": [1, 2, 3]})
    frame.write_parquet(folder / "online-retail.parquet")
    assert datasets.get("online-retail").strengths.tolist() == [1, 1]
    assert datasets.get("online-retail", cleaning="quantity").strengths.tolist() == [7, 1]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_blocks_end_where_lines_end(size):
    text = b"one\n\ntwo and more\nthree"
    blocks = list(line_blocks(io.BytesIO(text), size=size))
    assert b"".join(blocks) == text
    assert all(block.endswith(b"\n") for block in blocks[:-1])
