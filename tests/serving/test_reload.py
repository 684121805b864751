"""Files are replaced while the server runs."""

from __future__ import annotations

import gc
import shutil
import sys
import tempfile
import weakref

import pytest
from talking import value_of

import taylorank as tr
from taylorank.errors import TaylorankError
from taylorank.models import load


@pytest.fixture
def running(serve, folder, tmp_path):
    """A server whose files can be replaced."""
    for name in ("rg2.tr", "items.csv"):
        shutil.copy(folder / name, tmp_path / name)
    (tmp_path / "hide.txt").write_text("")
    return serve(
        models={"m": tmp_path / "rg2.tr"}, weights={"m": 1.0}, items=tmp_path / "items.csv", hide=tmp_path / "hide.txt"
    )


def answer(client):
    return client.recommend({"user": 5, "n": 8}).json


def test_a_model_that_is_replaced_answers(running, tmp_path, data, models):
    half = data.split((0.5, 0.5))[0]
    newer = tr.IALS(4).fit(half)
    before = answer(running)
    running.app.shelf.look()
    assert answer(running)["items"] == before["items"]
    newer.save(tmp_path / "rg2.tr")
    assert answer(running)["version"] == models["rg2"].data_fingerprint  # nothing changes by itself
    running.app.shelf.look()
    after = answer(running)
    assert after["version"] == newer.data_fingerprint != before["version"]
    assert [item["id"] for item in after["items"]] == newer.recommend([5], 8)[0][0].tolist()
    assert after["items"][0]["title"].startswith("Café")
    assert running.get("/v1/models").json["models"][0]["kind"] == "IALS"
    assert value_of(running, 'taylorank_reloads_total{file="m",result="taken"}') == 1


def test_nothing_holds_a_model_that_was_replaced(running, tmp_path, models):
    old = weakref.ref(running.app.shelf.models["m"].model)
    for target in ("/v1/map", "/v1/models", "/v1/items/3/similar", "/v1/users/5"):
        assert running.get(target).status == 200
    assert running.recommend({"user": 5, "explain": True, "filters": {"year": {">": 1990}}}).status == 200
    models["ease"].save(tmp_path / "rg2.tr")
    running.app.shelf.look()
    answer(running)
    gc.collect()
    assert old() is None


def damaged(path):
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)


BAD = {
    "damaged": (damaged, "checksum"),
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:5000]), "damaged"),
    "empty": (lambda path: path.write_bytes(b""), "damaged"),
    "foreign": (lambda path: path.write_bytes(b"PK\x03\x04" + b"x" * 1000), "damaged or not a model"),
    "gone": (lambda path: path.unlink(), "cannot be read"),
    "a folder": (lambda path: (path.unlink(), path.mkdir()), "cannot be read"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_model_is_refused_and_reported_and_the_old_one_answers(running, tmp_path, caplog, kind):
    spoil, words = BAD[kind]
    before = answer(running)["items"]
    spoil(tmp_path / "rg2.tr")
    running.app.shelf.look()
    assert answer(running)["items"] == before
    ready = running.get("/health/ready")
    assert ready.status == 200
    assert words in ready.json["refused"]["model m"]
    assert str(tmp_path) not in ready.body.decode()
    assert words in caplog.text
    assert value_of(running, 'taylorank_reloads_total{file="m",result="refused"}') == 1
    running.app.shelf.look()  # it is not tried again before it changes
    assert value_of(running, 'taylorank_reloads_total{file="m",result="refused"}') == 1


@pytest.mark.skipif(sys.platform != "linux", reason="files without names are those of Linux")
def test_a_kill_while_a_model_is_read_leaves_no_copy(running, tmp_path, monkeypatch, models):
    from taylorank.serving import shelf

    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(copies))
    seen = []

    def looking(path):
        seen.append((path.read_bytes(), list(copies.iterdir())))
        return load(path)

    monkeypatch.setattr(shelf, "load", looking)
    models["ease"].save(tmp_path / "rg2.tr")
    running.app.shelf.look()
    assert seen == [((tmp_path / "rg2.tr").read_bytes(), [])]
    assert running.get("/v1/models").json["models"][0]["kind"] == "EASE"


def test_a_good_file_after_a_bad_one_is_taken(running, tmp_path, models):
    (tmp_path / "rg2.tr").write_bytes(b"x")
    running.app.shelf.look()
    models["ease"].save(tmp_path / "rg2.tr")
    running.app.shelf.look()
    assert running.get("/health/ready").json["refused"] == {}
    assert running.get("/v1/models").json["models"][0]["kind"] == "EASE"


def test_a_model_that_cannot_answer_is_refused(running, tmp_path, monkeypatch, models):
    """It is asked before it is shown."""
    from taylorank.serving.served import Served

    def broken(self):
        raise ArithmeticError("not a number")

    models["ease"].save(tmp_path / "rg2.tr")
    monkeypatch.setattr(Served, "warm", broken)
    running.app.shelf.look()
    assert running.get("/health/ready").json["refused"] == {"model m": "ArithmeticError"}
    assert running.get("/v1/models").json["models"][0]["kind"] == "RG2"


def test_hidden_items_take_effect(running, tmp_path):
    first = answer(running)["items"][0]["id"]
    (tmp_path / "hide.txt").write_text(f"{first}\n")
    running.app.shelf.look()
    assert first not in [item["id"] for item in answer(running)["items"]]
    (tmp_path / "hide.txt").write_text("")
    running.app.shelf.look()
    assert answer(running)["items"][0]["id"] == first


def test_columns_take_effect_and_a_bad_items_file_does_not(running, tmp_path):
    path = tmp_path / "items.csv"
    asked = {"user": 5, "n": 500, "filters": {"in_stock": True}}
    before = running.recommend(asked).json["items"]
    path.write_text(path.read_text(encoding="utf-8").replace(",true", ",false", 30), encoding="utf-8")
    running.app.shelf.look()
    after = running.recommend(asked).json["items"]
    assert 0 < len(after) < len(before)
    path.write_text("item_id,title\n1,a\n1,b\n")
    running.app.shelf.look()
    assert running.recommend(asked).json["items"] == after
    assert "more than one row" in running.get("/health/ready").json["refused"]["items"]


def test_requests_under_way_keep_the_model_they_began_with(running, tmp_path, models):
    """The queue holds queries of the old model when the new one comes; each is answered by its own."""
    import asyncio

    from talking import request

    models["ease"].save(tmp_path / "rg2.tr")

    async def while_it_changes():
        asked = [
            asyncio.ensure_future(request(running.app, "POST", "/v1/recommend", {"user": user, "explain": True}))
            for user in range(40)
        ]
        await asyncio.sleep(0)
        await asyncio.get_running_loop().run_in_executor(None, running.app.shelf.look)
        asked += [asyncio.ensure_future(request(running.app, "POST", "/v1/recommend", {"user": 5}))]
        return await asyncio.gather(*asked)

    replies = running.runner.run(while_it_changes())
    assert {reply.status for reply in replies} == {200}
    expected = models["ease"].recommend([5], 10)[0][0].tolist()
    assert [item["id"] for item in replies[-1].json["items"]] == expected


@pytest.mark.parametrize("text", ["item_id,title\n900000,a\n", "title\nx\n"])
def test_a_bad_items_file_at_the_start_is_an_error(serve, tmp_path, text):
    (tmp_path / "items.csv").write_text(text)
    with pytest.raises(TaylorankError):
        serve("rg2", items=tmp_path / "items.csv")


def test_rows_of_unknown_items_are_counted_in_the_log(serve, tmp_path, caplog):
    (tmp_path / "items.csv").write_text("item_id,title\n1,one\n900000,a\n900001,b\n")
    client = serve("rg2", items=tmp_path / "items.csv")
    assert "2 row(s) of the items file are of no item of model rg2" in caplog.text
    assert client.get("/v1/items?q=one").json["items"][0]["id"] == 1
