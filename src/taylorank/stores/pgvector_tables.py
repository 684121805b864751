"""pgvector: a table of the items and one of the users in a PostgreSQL database, written in one transaction.

The score is the inner product, and `<#>` is minus that: ORDER BY vector <#> query has the best items first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import DataError, ParameterError
from taylorank.stores.catalogue import Catalogue, Floats, Side
from taylorank.stores.folder import id_column, item_table
from taylorank.stores.measure import Search
from taylorank.stores.settings import Settings, Written
from taylorank.stores.sql_columns import Column, column_of

MOST_INDEXED, MOST_STORED = 2_000, 16_000  # numbers of a vector, by pgvector
MARK = "written by taylorank"  # a comment of the table: what has it may be overwritten
OPERATORS = {"ip": "<#>", "cosine": "<=>"}
CLASSES = {"ip": "vector_ip_ops", "cosine": "vector_cosine_ops"}
SEARCH_LIST, MOST_SEARCHED = 200, 1_000  # candidates of an HNSW search: ours, and the most that pgvector takes
ROWS_PER_LIST = 1_000  # of IVF, as pgvector advises for tables of up to a million rows


def write(catalogue: Catalogue, target: Any, settings: Settings) -> Written:
    """Copy both sides to the database `target`, a connection string, and index the items."""
    from psycopg.sql import SQL

    _check_length(catalogue.dimensions, settings.index)
    with _connected(target) as connection, connection.transaction():
        _make_room(connection, settings)
        columns = [column_of(series) for series in item_table(catalogue).drop("key").get_columns()]
        _copy(connection, settings.name, columns, catalogue.items)
        if settings.users:
            _copy(connection, settings.users_name, [column_of(id_column(catalogue.users.ids))], catalogue.users)
        if settings.index != "exact":
            lists = max(1, round(len(catalogue.items) / ROWS_PER_LIST))
            more = SQL(f" WITH (lists = {lists})" if settings.index == "ivfflat" else "")
            command = SQL(f"CREATE INDEX ON {{}} USING {settings.index} (vector {CLASSES[catalogue.metric]}){{}}")
            connection.execute(command.format(_table(settings.name), more))
        connection.execute(SQL("ANALYZE {}").format(_table(settings.name)))
        size = connection.execute("SELECT pg_total_relation_size(%s::regclass)", [_quoted(connection, settings.name)])
        return Written(f"table {settings.name} of database {connection.info.dbname}", int(size.fetchone()[0]))


@contextmanager
def searching(target: Any, catalogue: Catalogue, settings: Settings) -> Iterator[Search]:
    """Yield a search of the table."""
    from psycopg.sql import SQL

    command = SQL(f"SELECT id FROM {{}} ORDER BY vector {OPERATORS[catalogue.metric]} %s LIMIT %s")
    command = command.format(_table(settings.name))
    with _connected(target) as connection:
        listed = 0

        def search(user: Floats, k: int) -> NDArray[Any]:
            nonlocal listed
            if listed < min(k, MOST_SEARCHED):
                listed = min(max(k, SEARCH_LIST), MOST_SEARCHED)
                connection.execute(f"SET hnsw.ef_search = {listed}")
            found = connection.execute(command, [user, k], prepare=True).fetchall()
            return np.array([row[0] for row in found], dtype=catalogue.items.ids.values.dtype)

        if settings.index == "ivfflat":
            lists = max(1, round(len(catalogue.items) / ROWS_PER_LIST))
            connection.execute(f"SET ivfflat.probes = {max(1, round(lists**0.5))}")
        yield search


def _check_length(dimensions: int, index: str) -> None:
    if index != "exact" and dimensions > MOST_INDEXED:
        raise ParameterError(
            f"pgvector indexes vectors of up to {MOST_INDEXED:,} numbers, these have {dimensions:,}",
            'export a student, tr.Distilled(model, factors=64), or search without an index: index="exact"',
        )
    if dimensions > MOST_STORED:
        raise ParameterError(
            f"pgvector stores vectors of up to {MOST_STORED:,} numbers, these have {dimensions:,}",
            "export a student, tr.Distilled(model, factors=64)",
        )


@contextmanager
def _connected(target: Any) -> Iterator[Any]:
    """Yield a connection to a database that has pgvector; what goes wrong is said in one line."""
    import psycopg
    from pgvector.psycopg import register_vector

    try:
        connection = psycopg.connect(str(target), autocommit=True)
    except psycopg.Error as error:
        raise DataError(f"no connection to PostgreSQL ({_line(error)})", "check the connection string") from None
    try:
        with connection:
            connection.execute("SET client_min_messages = warning")
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            register_vector(connection)
            yield connection
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
        raise DataError(
            f"the database has no pgvector ({_line(error)})", "install Debian's postgresql-NN-pgvector, or build it"
        ) from None
    except psycopg.Error as error:
        raise DataError(f"PostgreSQL refuses the export ({_line(error)})", "nothing was changed") from None


def _line(error: Exception) -> str:
    """The first line of what the database says, which never holds the password."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def _table(name: str) -> Any:
    from psycopg.sql import Identifier

    return Identifier(*name.split("."))


def _quoted(connection: Any, name: str) -> str:
    text: str = _table(name).as_string(connection)
    return text


def _make_room(connection: Any, settings: Settings) -> None:
    """Refuse a table that is there, or drop it if it is an earlier export that shall be overwritten."""
    from psycopg.sql import SQL

    for name in (settings.name, settings.users_name):
        row = connection.execute("SELECT to_regclass(%s)::oid", [_quoted(connection, name)]).fetchone()
        if row[0] is None:
            continue
        if not settings.overwrite:
            raise DataError(f"there is a table {name} already", "choose another name, or overwrite it")
        comment = connection.execute("SELECT obj_description(%s, 'pg_class')", row).fetchone()[0]
        if comment != MARK:
            raise DataError(f"the table {name} is no earlier export", "choose another name, or drop it yourself")
        connection.execute(SQL("DROP TABLE {}").format(_table(name)))


def _copy(connection: Any, name: str, columns: Sequence[Column], side: Side) -> None:
    """Make a table of the columns, the ids first, and the vectors; fill it by COPY in binary."""
    from psycopg.sql import SQL, Identifier

    kinds = [*((column.name, column.kind) for column in columns), ("vector", f"vector({side.vectors.shape[1]})")]
    fields = SQL(", ").join(SQL("{} " + kind).format(Identifier(title)) for title, kind in kinds)
    connection.execute(SQL("CREATE TABLE {} ({}, PRIMARY KEY (id))").format(_table(name), fields))
    connection.execute(SQL("COMMENT ON TABLE {} IS {}").format(_table(name), MARK))
    rows: Iterable[Any] = zip(*(column.values for column in columns), side.vectors, strict=True)
    with connection.cursor().copy(SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(_table(name))) as copy:
        copy.set_types([*(column.kind for column in columns), "vector"])
        for row in rows:
            copy.write_row(row)
