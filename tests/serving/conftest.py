"""Small models in files, an items file, and servers of them."""

from __future__ import annotations

import csv
import importlib.util

import pytest

import taylorank as tr

EXTRA = ("fastapi", "uvicorn", "pydantic", "prometheus_client")
MISSING = [name for name in EXTRA if importlib.util.find_spec(name) is None]
USERS, ITEMS = 300, 120


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    skip = pytest.mark.skip(reason=f"needs the extra [serve] ({', '.join(MISSING)} not installed)")
    for item in items:
        if MISSING and "tests/serving" in str(item.path):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def data():
    return tr.planted(USERS, ITEMS, interactions=4000)


@pytest.fixture(scope="session")
def models(data):
    return {
        "rg2": tr.RG2(12, popularity_discount=0.1).fit(data),
        "ials": tr.IALS(8).fit(data),
        "ease": tr.EASE().fit(data),
        "knn": tr.ItemKNN().fit(data),
        "popularity": tr.Popularity().fit(data),
    }


@pytest.fixture(scope="session")
def folder(tmp_path_factory, models, data):
    place = tmp_path_factory.mktemp("served")
    for name, model in models.items():
        model.save(place / f"{name}.tr")
    with (place / "items.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["item_id", "title", "year", "genre", "price", "in_stock"])
        for item in data.items.values.tolist():
            price = "" if item % 7 == 0 else f"{item / 4:.2f}"
            stock = str(item % 2 == 0).lower()
            rows.writerow([item, f"Café number {item}", 1980 + item % 40, "abc"[item % 3], price, stock])
    return place


@pytest.fixture(scope="session")
def settings_of(folder):
    from taylorank.serving.settings import Settings

    def settings(*names, **others):
        files = {name: folder / f"{name}.tr" for name in names or ("rg2",)}
        weights = {name: float(place == 0) for place, name in enumerate(files)}
        return Settings(**{"models": files, "weights": weights, "allowed_hosts": ("localhost",), "poll": 0.0, **others})

    return settings


@pytest.fixture
def serve(settings_of):
    """Make a client of a server of some models; `settings` of the server can be given by name."""
    from talking import Client

    from taylorank.serving.application import Server

    made = []

    def client(*names, headers=(), **settings):
        made.append(Client(Server(settings_of(*names, **settings)), headers))
        return made[-1]

    yield client
    for one in made:
        one.app.batcher.pool.shutdown()
        one.close()


@pytest.fixture(scope="module")
def everything(settings_of, folder, models):
    """A client of a server of all models with an items file."""
    from talking import Client

    from taylorank.serving.application import Server

    client = Client(Server(settings_of(*models, items=folder / "items.csv")))
    yield client
    client.app.batcher.pool.shutdown()
    client.close()
