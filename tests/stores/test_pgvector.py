"""pgvector on a real PostgreSQL: what SQL finds, and what is left when something fails."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

import taylorank as tr
from taylorank.errors import DataError, ParameterError

BEST = "SELECT id FROM {0} ORDER BY vector <#> (SELECT vector FROM {0}_users WHERE id = %s) LIMIT 10"


@pytest.fixture
def ask(database):
    """Run a command with the types of pgvector; return the rows."""
    psycopg = pytest.importorskip("psycopg")
    register_vector = pytest.importorskip("pgvector.psycopg").register_vector

    def run(command, *values):
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            register_vector(connection)
            cursor = connection.execute(command, values)
            return cursor.fetchall() if cursor.description else None

    return run


@pytest.mark.parametrize("index", ["hnsw", "ivfflat", "exact"])
def test_sql_finds_the_lists_of_the_model(index, model, scored, database, ask):
    found = model.export("pgvector", database, index=index, name=f"by_{index}")
    assert (found.index, found.dimensions, found.items) == (index, 17, 110)
    assert found.measured.recall > 0.99
    assert found.bytes == ask(f"SELECT pg_total_relation_size('by_{index}')")[0][0]
    assert found.target == f"table by_{index} of database postgres"
    for user in (0, 17, 289):
        scored(model, user, [row[0] for row in ask(BEST.format(f"by_{index}"), user)])


def test_the_operator_is_minus_the_score(model, database, ask):
    model.export("pgvector", database, name="signs", sample=0)
    user = model.export_factors()[0][17]
    rows = ask("SELECT id, vector <#> %s FROM signs ORDER BY id", user)
    assert [row[0] for row in rows] == list(range(10, 120))
    scores = model.scores(np.array([17]))[0, 10:]
    np.testing.assert_allclose([-row[1] for row in rows], scores, rtol=1e-3, atol=1e-4 * abs(scores).max())


def test_the_index_answers_the_documented_query(model, database, ask):
    model.export("pgvector", database, name="planned", sample=0)
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(database) as connection:
        connection.execute("SET enable_seqscan = off")
        plan = connection.execute("EXPLAIN " + BEST.format("planned"), [17]).fetchall()
    assert any("planned_vector_idx" in line for (line,) in plan)


@pytest.mark.parametrize("which", ["text_model", "negative_model"])
def test_ids_of_any_kind_are_kept(which, scored, request, database, ask):
    fitted = request.getfixturevalue(which)
    found = fitted.export("pgvector", database, name=which, sample=50)
    assert found.measured.recall > 0.99
    assert {row[0] for row in ask(f"SELECT id FROM {which}")} == set(fitted.items.values.tolist())
    user = fitted.users.values.tolist()[3]
    scored(fitted, user, [row[0] for row in ask(BEST.format(which), user)])


def test_cosines_have_the_same_order(model, database, ask):
    found = model.export("pgvector", database, name="cosines", metric="cosine", index="exact")
    assert found.dimensions == 18
    assert found.measured.recall > 0.99


def test_metadata_are_columns(model, database, ask):
    table = pl.DataFrame(
        {
            "id": [11, 12],
            'a "title"': ["it's", None],
            "price": [1.5, 2.5],
            "stock": [3, None],
            "new": [True, False],
            "since": [datetime.date(2020, 1, 2), None],
            "tags": [["a", "b"], None],
        }
    )
    model.export("pgvector", database, name="described", metadata=table, sample=0)
    columns = 'popularity, "a ""title""", price, stock, new, since, tags'
    (row,) = ask(f"SELECT {columns} FROM described WHERE id = 11")
    assert row == (model.item_popularity[11], "it's", 1.5, 3, True, "2020-01-02", '["a", "b"]')
    assert ask(f"SELECT {columns} FROM described WHERE id = 13")[0][1:] == (None,) * 6


def test_what_is_there_stays_unless_told_otherwise(model, text_model, database, ask):
    model.export("pgvector", database, name="kept", sample=0)
    with pytest.raises(DataError, match="there is a table kept already; choose another name, or overwrite it"):
        text_model.export("pgvector", database, name="kept")
    assert ask("SELECT count(*) FROM kept") == [(110,)]
    text_model.export("pgvector", database, name="kept", overwrite=True, sample=0)
    assert ask("SELECT count(*) FROM kept") == [(len(text_model.items),)]


def test_a_table_of_somebody_else_is_never_dropped(model, database, ask):
    ask("CREATE TABLE orders (id int)")
    with pytest.raises(DataError, match="the table orders is no earlier export"):
        model.export("pgvector", database, name="orders", overwrite=True)
    assert ask("SELECT count(*) FROM orders") == [(0,)]
    assert ask("SELECT to_regclass('orders_users')") == [(None,)]


def test_a_failure_leaves_what_was_there(model, database, ask):
    model.export("pgvector", database, name="steady", sample=0)
    fitted = tr.RG2(1).fit(tr.read_interactions([("u", "a\0b"), ("u", "c"), ("v", "c")]))
    with pytest.raises(DataError, match="PostgreSQL refuses the export") as caught:
        fitted.export("pgvector", database, name="steady", overwrite=True)
    assert "\n" not in str(caught.value)
    assert ask("SELECT count(*) FROM steady") == [(110,)]


def test_names_of_schemas_and_odd_tables(model, database, ask):
    ask("CREATE SCHEMA shop")
    model.export("pgvector", database, name="shop.Odd table; --", sample=10)
    assert ask('SELECT count(*) FROM shop."Odd table; --_users"') == [(290,)]


@pytest.mark.parametrize(("index", "most"), [("hnsw", 2000), ("ivfflat", 2000), ("exact", 16000)])
def test_vectors_that_are_too_long_are_refused_with_a_remedy(index, most):
    pytest.importorskip("psycopg")
    pytest.importorskip("pgvector")
    from taylorank.stores.pgvector_tables import _check_length

    _check_length(most, index)
    with pytest.raises(
        ParameterError, match=rf"up to {most:,} numbers, these have {most + 1:,}; export a student, tr\.D"
    ):
        _check_length(most + 1, index)


def test_the_limit_is_that_of_the_database(database, ask):
    ask("CREATE TABLE lengths (a vector(2000), b vector(2001), c vector(16000))")
    ask("CREATE INDEX ON lengths USING hnsw (a vector_ip_ops)")
    psycopg = pytest.importorskip("psycopg")
    with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="2000"):
        ask("CREATE INDEX ON lengths USING hnsw (b vector_ip_ops)")


def test_no_server_is_one_line_without_the_password(model, tmp_path):
    pytest.importorskip("psycopg")
    pytest.importorskip("pgvector")
    with pytest.raises(DataError, match=r"no connection to PostgreSQL .*; check the connection string") as caught:
        model.export("pgvector", f"postgresql://me:secret@/shop?host={tmp_path}")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
