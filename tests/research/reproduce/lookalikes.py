"""Small files in the exact formats that the papers' data sets come in."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import numpy as np

USERS, ITEMS, EACH = 90, 70, 30


def pairs(seed: int = 0, users: int = USERS, items: int = ITEMS, each: int = EACH) -> list[tuple[int, int]]:
    """Pairs with a little structure: users of a kind share most of their items."""
    rng = np.random.default_rng(seed)
    found = []
    for user in range(users):
        weights = np.where(np.arange(items) % 3 == user % 3, 4.0, 1.0)
        met = rng.choice(items, each, replace=False, p=weights / weights.sum())
        found += [(user, int(item)) for item in met]
    return found


def rating(user: int, item: int) -> float:
    """One in six is below 3."""
    return 2.5 if (user + item) % 6 == 0 else 3.0 + (user * item) % 5 / 2


def ml_10m(folder: Path) -> Path:
    """An archive with ratings.dat: UserID::MovieID::Rating::Timestamp, half stars."""
    lines = [f"{u + 1}::{i + 1}::{rating(u, i):g}::{838985046 + u}\n" for u, i in pairs()]
    with zipfile.ZipFile(folder / "ml-10m.zip", "w") as archive:
        archive.writestr("ml-10M100K/ratings.dat", "".join(lines))
        archive.writestr("ml-10M100K/README.html", "words")
    return folder / "ml-10m.zip"


def electronics(folder: Path) -> Path:
    """Gzipped JSON, a review per line."""
    reviews = [
        {
            "reviewerID": f"A{u:04}X",
            "asin": f"{i:010}",
            "reviewerName": 'J. "Jo" Doe',
            "helpful": [0, 2],
            "reviewText": "Works, mostly.\nNo {braces} harmed.",
            "overall": float(round(rating(u, i))),
            "summary": "fine",
            "unixReviewTime": 1370131200 + 86400 * u,
            "reviewTime": "06 2, 2013",
        }
        for u, i in pairs()
    ]
    return gzipped(folder / "reviews_Electronics_5.json.gz", [json.dumps(review) for review in reviews])


def steam(folder: Path) -> Path:
    """Gzipped lines of dictionaries as Python 2 printed them."""
    lines = [
        f"{{u'username': u'player \\xe9 {u}', u'hours': {1 + i / 2}, u'products': 41, u'product_id': u'{i}', "
        f"u'page_order': 0, u'date': u'2017-12-17', u'text': u\"it's fine, really\", u'early_access': False, "
        "u'page': 1}"
        for u, i in pairs()
    ]
    return gzipped(folder / "steam_reviews.json.gz", lines)


def simplewiki(folder: Path) -> Path:
    """Three database dumps: links by number of target, the title of each target, the page of each title."""
    title = [f"Page\\'s_no._{i}" for i in range(max(USERS, ITEMS))]
    page = [f"({i + 1},0,'{name}')" for i, name in enumerate(title)]
    target = [f"({1000 + i},0,'{name}')" for i, name in enumerate(title)] + ["(5000,0,'Nowhere')"]
    links = [f"({u + 1},0,{1000 + i})" for u, i in pairs(each=45)] + ["(1,0,5000)"]
    for table, columns, rows in (
        ("page", ("page_id", "page_namespace", "page_title"), page),
        ("linktarget", ("lt_id", "lt_namespace", "lt_title"), target),
        ("pagelinks", ("pl_from", "pl_from_namespace", "pl_target_id"), links),
    ):
        defined = ",\n".join(f"  `{column}` varbinary(255) NOT NULL" for column in columns)
        text = f"CREATE TABLE `{table}` (\n{defined}\n) ENGINE=InnoDB;\nINSERT INTO `{table}` VALUES {','.join(rows)};"
        gzipped(folder / f"simplewiki-20250101-{table}.sql.gz", [text])
    return folder


def gzipped(path: Path, lines: list[str]) -> Path:
    path.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode()))
    return path


FILES = {"ml-10m": ml_10m, "electronics": electronics, "steam": steam, "simplewiki": simplewiki}
