"""Ids of any plain type of Spark as the two kinds that taylorank has, integers and text, and back.

| type of the column | kind | encoded by | decoded by |
|---|---|---|---|
| byte, short, int, long | integers | cast to long | cast to the type |
| string, char, varchar | text | itself | itself |
| date | integers | days since 1970 | the same |
| timestamp | integers | microseconds since 1970 | the same |
| boolean, float, double, decimal, timestamp_ntz | text | cast to string | cast to the type |
| binary | text | hexadecimal digits | the same |

Equal ids get equal codes and different ids different ones, but −0.0 and 0.0 stay two ids.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import Ids
from taylorank.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

WHOLE = ("tinyint", "smallint", "int", "bigint")
BY_TEXT = ("boolean", "float", "double", "decimal", "timestamp_ntz")
NULLABLE_TEXT = ("string", "char", "varchar")


@dataclass(frozen=True)
class IdType:
    """How the ids of one column are encoded; `name` is Spark's word for the type, such as "bigint"."""

    name: str

    @classmethod
    def of(cls, data: DataFrame, column: str) -> IdType:
        """Return that of a column; refuse what is no id."""
        if column not in data.columns:
            raise DataError(f"there is no column {column!r}", f"choose from {', '.join(data.columns)}")
        found = cls(data.schema[column].dataType.simpleString())
        if not (found.is_whole or found.is_text):
            raise DataError(
                f"column {column!r} of type {found.name} holds no ids", "use integers, text, dates or bytes"
            )
        return found

    @property
    def _base(self) -> str:
        return self.name.split("(")[0]

    @property
    def is_whole(self) -> bool:
        """Whether codes are integers."""
        return self._base in (*WHOLE, "date", "timestamp")

    @property
    def is_text(self) -> bool:
        """Whether codes are text."""
        return self._base in (*NULLABLE_TEXT, *BY_TEXT, "binary")

    @property
    def is_number(self) -> bool:
        """Whether ids are whole numbers; columns of different widths of these go together."""
        return self._base in WHOLE

    @property
    def code_type(self) -> str:
        """Spark's type of the codes."""
        return "bigint" if self.is_whole else "string"

    def encoded(self, column: Column) -> Column:
        """Return the codes of a column of ids."""
        from pyspark.sql import functions as F

        special: dict[str, Callable[[Column], Column]] = {
            "date": lambda c: F.unix_date(c).cast("bigint"),
            "timestamp": F.unix_micros,
            "binary": F.hex,
        }
        if self._base in special:
            return special[self._base](column)
        return column.cast(self.code_type)

    def decoded(self, column: Column) -> Column:
        """Return the ids of a column of codes."""
        from pyspark.sql import functions as F

        special: dict[str, Callable[[Column], Column]] = {
            "date": lambda c: F.date_from_unix_date(c.cast("int")),
            "timestamp": F.timestamp_micros,
            "binary": F.unhex,
        }
        if self._base in special:
            return special[self._base](column)
        return column.cast(self.name)


def quoted(name: str) -> str:
    """Return the name of a column, whatever its characters, as expressions and schemas of Spark have it.

    >>> quoted("a.b`c")
    '`a.b``c`'
    """
    return f"`{name.replace('`', '``')}`"


def codes_array(column: Any) -> NDArray[Any]:
    """Return a column of Arrow as ids of taylorank: int64, or text as Python strings."""
    import pyarrow as pa

    if pa.types.is_integer(column.type):
        numbers: NDArray[Any] = column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
        return numbers
    text = np.empty(len(column), dtype=object)
    text[:] = column.to_pylist()
    return text


def ids_of(codes: Any) -> Ids:
    """Return sorted, unique codes of Arrow as `Ids`."""
    return Ids(codes_array(codes))


def arrow_codes(ids: Ids) -> Any:
    """Return `Ids` as a column of Arrow."""
    import pyarrow as pa

    return pa.array(ids.values, type=pa.string() if ids.is_text else pa.int64())
