"""What a caller of `read_interactions` asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal

from taylorank.checks import is_finite
from taylorank.data.interactions import Duplicates
from taylorank.errors import ParameterError, shown

Format = Literal["csv", "tsv", "dat", "inter", "adjacency", "parquet"]
Wanted = str | int | None
CHOICES: dict[str, tuple[str | None, ...]] = {
    "duplicates": ("last", "sum", "max"),
    "missing": ("error", "drop"),
    "ids": ("auto", "text"),
    "format": (None, "csv", "tsv", "dat", "inter", "adjacency", "parquet"),
}


@dataclass(frozen=True)
class Options:
    """The keywords of `read_interactions`, checked."""

    user: Wanted = None
    item: Wanted = None
    rating: Wanted = None
    strength: Wanted = None
    timestamp: Wanted = None
    min_rating: float | None = None
    duplicates: Duplicates = "last"
    missing: Literal["error", "drop"] = "error"
    ids: Literal["auto", "text"] = "auto"
    separator: str | None = None
    format: Format | None = None
    encoding: str | None = None
    quote: str = '"'
    columns: Sequence[str] | None = None

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            value = getattr(self, name)
            if not (value is None or isinstance(value, str)) or value not in allowed:
                choices = ", ".join(repr(a) for a in allowed if a)
                raise ParameterError(f"{name}={shown(value)} is unknown", f"choose from {choices}")
        for name in ("separator", "encoding"):
            if not isinstance(value := getattr(self, name), str | None) or value == "":
                raise ParameterError(f"{name}={shown(value)} is no text", "leave it out, or give text")
        for role, column in self.wanted.items():
            if isinstance(column, bool) or not isinstance(column, str | int | None):
                raise ParameterError(f"{role}={shown(column)} is no column", "give its name or its number")
        self._check_columns()
        if not isinstance(self.quote, str) or self.quote not in ('"', ""):
            raise ParameterError(f"quote={self.quote!r} is unknown", 'give \'"\', or "" for none')
        if self.min_rating is not None and not is_finite(self.min_rating):
            raise ParameterError(f"min_rating={shown(self.min_rating)} is not a number", "give a finite number")

    def _check_columns(self) -> None:
        named = self.columns
        if named is None:
            return
        if not isinstance(named, list | tuple) or not named or not all(isinstance(name, str) for name in named):
            raise ParameterError(f"columns={shown(named)} is no list of names", "write such as ('user', 'item')")

    @property
    def wanted(self) -> dict[str, Wanted]:
        """The columns asked for, by role."""
        return {role: getattr(self, role) for role in ("user", "item", "rating", "strength", "timestamp")}

    @property
    def needs_rating(self) -> bool:
        """Whether a rating column is needed."""
        return self.min_rating is not None

    def allow_only(self, *names: str, what: str) -> None:
        """Refuse options that do not apply to this kind of source, rather than ignore them."""
        plain = Options()
        given = [f.name for f in fields(self) if f.compare and getattr(self, f.name) != getattr(plain, f.name)]
        wrong = [name for name in given if name not in names]
        if wrong:
            raise ParameterError(f"{', '.join(wrong)} does not apply to {what}", "leave it out, or give a table")
