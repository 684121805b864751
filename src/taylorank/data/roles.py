"""Which column is the user, the item, the rating, the strength, the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taylorank.data.read_options import Wanted
from taylorank.errors import DataError, ParameterError

# Names people use, without case, blanks, "_", "-", "." and RecBole's ":type" ending.
USUAL_NAMES: Mapping[str, frozenset[str]] = {
    "user": frozenset(
        "user userid users uid useridx username customer customerid reviewerid visitorid member memberid "
        "profileid accountid source src from pagefrom query queryid".split()
    ),
    "item": frozenset(
        "item itemid items iid itemidx movie movieid film filmid product productid asin parentasin track trackid "
        "song songid artist artistid book bookid isbn business businessid game gameid appid article articleid video "
        "videoid news newsid stockcode sku poi poiid location locationid venue venueid anime animeid recipeid "
        "target dst to pageto document documentid docid".split()
    ),
    "rating": frozenset("rating ratings stars overall score ratingscore".split()),
    "timestamp": frozenset(
        "timestamp timestamps time ts date datetime unixtime unixreviewtime eventtime createdat ratedat".split()
    ),
}
POSITIONS = ("user", "item", "rating", "timestamp")  # of a file without header, as in MovieLens


@dataclass(frozen=True)
class Roles:
    """Names of the columns to read, and what was guessed; None where a role has no column."""

    user: str
    item: str
    rating: str | None
    strength: str | None
    timestamp: str | None
    guessed: tuple[str, ...]

    @property
    def columns(self) -> list[str]:
        """The columns to read, each once."""
        chosen = (self.user, self.item, self.rating, self.strength, self.timestamp)
        return list(dict.fromkeys(c for c in chosen if c is not None))

    @property
    def note(self) -> str:
        """What was guessed, in words; empty if nothing was."""
        pairs = [f"{role}={getattr(self, role)}" for role in self.guessed]
        return f"columns guessed: {', '.join(pairs)}" if pairs else ""


def assign_roles(names: Sequence[str], wanted: Mapping[str, Wanted], *, needs_rating: bool) -> Roles:
    """Give each role a column: the one named in `wanted` (by name or number), else one with a usual name.

    A rating is looked for only if it is needed, a strength never; "" leaves a role without column.
    """
    repeated = sorted({n for n in names if list(names).count(n) > 1})
    if repeated:
        raise DataError(f"column {repeated[0]!r} appears twice in the header", "rename or drop one of them")
    for role in ("user", "item", *(["rating"] if needs_rating else [])):
        if wanted.get(role) == "":
            raise ParameterError(f'{role}="" names no column', f"name the column of the {role}s, or leave it out")
    found = {
        role: _named(names, role, column) for role, column in wanted.items() if column is not None and column != ""
    }
    guessed = []
    for role in ("user", "item", "rating", "timestamp"):
        if role in found or wanted.get(role) == "" or (role == "rating" and not needs_rating):
            continue
        taken = {found.get("user"), found.get("item")}
        column = _guess(names, role, required=role != "timestamp", taken=taken)
        if column is not None:
            found[role] = column
            guessed.append(role)
    if found["user"] == found["item"]:
        raise ParameterError(f"user and item are both column {found['user']!r}", "name two different columns")
    return Roles(
        found["user"],
        found["item"],
        found.get("rating") if needs_rating else None,
        found.get("strength"),
        found.get("timestamp"),
        tuple(guessed),
    )


def _named(names: Sequence[str], role: str, column: str | int) -> str:
    if isinstance(column, int):
        if not 0 <= column < len(names):
            raise DataError(f"no column number {column} for {role}", f"there are {len(names)}, counted from 0")
        return names[column]
    if column not in names:
        raise DataError(f"no column {column!r} for {role}", f"the columns are {_listing(names)}")
    return column


def _guess(names: Sequence[str], role: str, *, required: bool, taken: set[str | None]) -> str | None:
    candidates = [n for n in names if _plain(n) in USUAL_NAMES[role] and n not in taken]
    if len(candidates) == 1 or (candidates and not required):
        return candidates[0]
    if candidates:
        raise DataError(
            f"{role} could be any of the columns {_listing(candidates)}",
            f"say which: {role}={candidates[0]!r}",
        )
    if not required:
        return None
    raise DataError(
        f"no column looks like the {role}: the columns are {_listing(names)}",
        f"say which: {role}=…, or columns=('user', 'item') for a file without header",
    )


def is_usual_name(name: str) -> bool:
    """Whether `name` is one that people give to a column of some role."""
    return any(_plain(name) in usual for usual in USUAL_NAMES.values())


def _plain(name: str) -> str:
    return "".join(c for c in name.split(":")[0].lower() if c not in "_- .")


def _listing(names: Sequence[str]) -> str:
    shown = ", ".join(repr(n) for n in names[:12])
    return f"{shown}, … ({len(names)} in all)" if len(names) > 12 else shown
