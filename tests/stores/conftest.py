"""Models whose vectors have every oddity: items nobody chose, users without history, scales, offsets, text ids."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from tests.stores.postgres import server


def spelled(data, *, users, items):
    """The same interactions with other ids."""
    pairs = zip(data.by_user.row_of_entry().tolist(), data.by_user.indices.tolist(), strict=True)
    return [(users(x), items(y)) for x, y in pairs]


@pytest.fixture(scope="session")
def data():
    return tr.planted(300, 120, interactions=5000, random_state=1)


@pytest.fixture(scope="session")
def model(data):
    """Items 0 to 9 have no interactions, users 290 to 299 no history."""
    matrix = data.matrix.tolil()
    matrix[:, :10] = 0
    matrix[290:] = 0
    return tr.RG2(16).fit(matrix.tocsr())


@pytest.fixture(scope="session")
def text_model(data):
    pairs = spelled(data, users=lambda x: f"user {x}", items=lambda y: f'it\'em "{y}"\t\\ é')
    return tr.RG2(16).fit(tr.read_interactions(pairs))


@pytest.fixture(scope="session")
def negative_model(data):
    pairs = spelled(data, users=lambda x: x - 100, items=lambda y: y - 50)
    return tr.RG2(16).fit(tr.read_interactions(pairs))


@pytest.fixture(scope="session")
def scored():
    """Check the ids of a store for one user against the scores of the model, whatever the model leaves out."""

    def check(model, user, ids):
        ranker = model.ranker
        scores = ranker.scores_of(ranker.users.require([user]))[0]
        scores = np.where(ranker.rankable, scores, -np.inf) if ranker.rankable is not None else scores
        found = scores[ranker.items.require(list(ids))]
        np.testing.assert_allclose(found, np.sort(scores)[::-1][: len(found)], rtol=1e-4, atol=1e-9)

    return check


@pytest.fixture(scope="session")
def database():
    """The connection string of a PostgreSQL with pgvector."""
    psycopg = pytest.importorskip("psycopg")
    pytest.importorskip("pgvector")
    with server() as address:
        with psycopg.connect(address, autocommit=True) as connection:
            if connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone() is None:
                pytest.skip("this PostgreSQL has no pgvector")
        yield address
