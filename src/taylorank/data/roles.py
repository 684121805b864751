"""Which column is the user, the item, the rating, the strength, the time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taylorank.data.read_options import Wanted
from taylorank.errors import DataError, ParameterError

# Names people use, without case, blanks, "_", "-", "." and RecBole's ":type" ending.
USUAL_NAMES: Mapping[str, frozenset[str]] = {
    "user": frozenset(
        "user userid users uid useridx username customer customerid reviewerid visitorid member memberid "
        "profileid accountid reviewer client clientid buyer buyerid player playerid steamid student studentid "
        "source src from pagefrom query queryid".split()
    ),
    "item": frozenset(
        "item itemid items iid itemidx movie movieid film filmid product productid asin parentasin track trackid "
        "song songid artist artistid book bookid isbn business businessid game gameid appid article articleid video "
        "videoid news newsid stockcode sku poi poiid location locationid venue venueid anime animeid recipe recipeid "
        "restaurant restaurantid hotel hotelid course courseid job jobid beer beerid post postid listing listingid "
        "target dst to pageto document documentid docid".split()
    ),
    "rating": frozenset(
        "rating ratings stars star starrating overall overallrating reviewoverall score scores ratingscore rate "
        "bookrating movierating userrating reviewrating reviewscore userscore".split()
    ),
    "timestamp": frozenset(
        "timestamp timestamps time ts date datetime unixtime unixtimestamp unixreviewtime reviewtime reviewdate "
        "ratingtime ratingdate eventtime eventdate purchasedate orderdate invoicedate checkintime createdat "
        "createddate createdtime ratedat".split()
    ),
    "place": frozenset("pos position seq sequence order".split()),  # in the user's history: a time if nothing else is
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
    unused_rating: str | None  # a column of ratings that filters nothing: its values are counted for the record
    ignored: tuple[str, ...]  # all other columns

    @property
    def used(self) -> list[str]:
        """The columns that become interactions, each once."""
        chosen = (self.user, self.item, self.rating, self.strength, self.timestamp)
        return list(dict.fromkeys(c for c in chosen if c is not None))

    @property
    def columns(self) -> list[str]:
        """The columns to read, each once."""
        return [*self.used, *([self.unused_rating] if self.unused_rating is not None else [])]

    @property
    def note(self) -> str:
        """What was guessed and what is ignored, in words; empty if nothing is."""
        pairs = [f"{role}={getattr(self, role)}" for role in self.guessed]
        notes = [f"columns guessed: {', '.join(pairs)}"] if pairs else []
        if self.ignored:
            notes.append(f"columns ignored: {_listing(self.ignored, quoted=False)}")
        return "; ".join(notes)


def assign_roles(names: Sequence[str], wanted: Mapping[str, Wanted], *, needs_rating: bool) -> Roles:
    """Give each role a column: the one named in `wanted` (by name or number), else one with a usual name.

    A rating is used only if it is needed, a strength only if it is named; "" leaves a role without column. A column of
    ratings that is not used is noted.
    """
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
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
    rating = found.get("rating") if needs_rating else None
    used = [found["user"], found["item"], rating, found.get("strength"), found.get("timestamp")]
    left = [name for name in names if name not in used]
    unused = None if rating is not None or wanted.get("rating") == "" else _unused_rating(left, found.get("rating"))
    return Roles(
        found["user"],
        found["item"],
        rating,
        found.get("strength"),
        found.get("timestamp"),
        tuple(guessed),
        unused,
        tuple(name for name in left if name != unused),
    )


def _unused_rating(left: Sequence[str], named: str | None) -> str | None:
    """Return the column of ratings among those that are not read: the one that was named, or has a usual name."""
    if named is not None:
        return named if named in left else None
    return next((name for name in left if _plain(name) in USUAL_NAMES["rating"]), None)


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
    if role == "timestamp" and not candidates:
        candidates = [n for n in names if _plain(n) in USUAL_NAMES["place"] and n not in taken]
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
    return "".join(c for c in name.split(":")[0].lower() if c not in "_- ./")


def _listing(names: Sequence[str], *, quoted: bool = True) -> str:
    shown = ", ".join(repr(n) if quoted else n for n in names[:12])
    return f"{shown}, … ({len(names)} in all)" if len(names) > 12 else shown
