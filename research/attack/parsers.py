"""Mutated files: what is read is what Python's csv reads, or the file is refused in one line."""

from __future__ import annotations

import csv
import gzip
import io
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from research.attack import Difference, own_files
from research.attack.mutations import mutated
from taylorank.data import Interactions, bytesource, read_interactions

COLUMNS = ("user", "item", "s", "t")
SEPARATORS = {"csv": ",", "tsv": "\t", "dat": "::", "inter": "\t"}
_zstd: Any = vars(bytesource)["zstd"]  # the module that reading uses: its place depends on the version of Python
KINDS = ("csv", "csv", "csv", "tsv", "dat", "inter", "adjacency", "parquet", *["own"] * 5)
WRAPPERS: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".zst": _zstd.compress}
ENDS = ("\n", "\n", "\r\n", "\r")


def attack(seed: int, folder: Path) -> str:
    """Read one mutated file, in blocks of a random size."""
    rng = random.Random(seed)
    kind = rng.choice(KINDS)
    if kind == "parquet":
        return _parquet(folder / "case.parquet", rng)
    bytesource.BLOCK_BYTES = 1 << 23  # another case may have left a tiny one
    if kind == "own":
        own = rng.choice(tuple(own_files.KINDS))
        return own_files.KINDS[own](folder / f"own.{own}", rng)
    text = mutated(_text(kind, rng), rng)
    wrapper = rng.choice(tuple(WRAPPERS))
    content = WRAPPERS[wrapper](text)
    packed = mutated(content, rng) if wrapper and rng.random() < 0.5 else content
    path = folder / f"case.{kind}{wrapper}"
    path.write_bytes(packed)
    # A line is looked at again with every block of it: tiny blocks of a long line are slow, and nobody's.
    least = len(text) // 500 if packed == content else 1000  # damage may make it longer
    bytesource.BLOCK_BYTES = max(rng.choice((7, 64, 1000, 1 << 23)), least)
    options: dict[str, Any] = {"format": kind}
    if kind != "adjacency":
        named = {"columns": COLUMNS} if kind == "dat" else {}
        options |= {"ids": "text", "strength": "s", "timestamp": "t", **named}
    data = read_interactions(path, **options)
    if packed == content:
        _compare(data, text, kind)
    return "result"


def _text(kind: str, rng: random.Random) -> bytes:
    end, count = rng.choice(ENDS), rng.randrange(1, 30)
    if kind == "adjacency":
        lines = [" ".join(str(rng.randrange(40)) for _ in range(rng.randrange(1, 9))) for _ in range(count)]
        return end.join(lines).encode()
    names = list(COLUMNS) if kind != "inter" else ["user:token", "item:token", "s:float", "t:float"]
    rows = [
        [_field(rng), _field(rng), rng.choice(("1", "2.5", "3", "1e2")), str(rng.randrange(50))] for _ in range(count)
    ]
    if kind in ("csv", "tsv"):
        out = io.StringIO(newline="")
        how: dict[str, Any] = {"quoting": rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))}
        csv.writer(out, delimiter=SEPARATORS[kind], lineterminator=end, **how).writerows([names, *rows])
        return out.getvalue().encode()
    plain = [[field.replace('"', "").replace("\n", "").replace("\r", "") for field in row] for row in rows]
    lines = [SEPARATORS[kind].join(row) for row in (plain if kind == "dat" else [names, *plain])]
    return end.join(lines).encode()


def _field(rng: random.Random) -> str:
    return rng.choice((str(rng.randrange(30)), f"u{rng.randrange(9)}", "é", 'a"b', "x y", "a,b", "two\nlines", "007"))


def _compare(data: Interactions, text: bytes, kind: str) -> None:
    """Compare with the pairs, strengths and times that a plain reader finds, where it can read the file."""
    try:
        plain = text.decode().removeprefix("\ufeff")
        expected = _adjacency(plain) if kind == "adjacency" else _latest(_rows(plain, kind))
    except (UnicodeDecodeError, csv.Error, ValueError, IndexError):
        return
    frame = data.to_frame()
    pairs = zip(frame["user"].to_list(), frame["item"].to_list(), strict=True)
    values = zip(data.strengths.tolist(), [] if data.timestamps is None else data.timestamps.tolist(), strict=False)
    found: dict[Any, Any] = dict.fromkeys(pairs) if kind == "adjacency" else dict(zip(pairs, values, strict=False))
    if found != expected:
        differ = [pair for pair in {**expected, **found} if found.get(pair, "none") != expected.get(pair, "none")]
        said = [(pair, found.get(pair, "none"), expected.get(pair, "none")) for pair in differ[:2]]
        raise Difference(f"{kind}: {said} of {text[:120]!r}")


def _rows(text: str, kind: str) -> list[list[str]]:
    """Return the fields of a file by a plain reader, user, item, strength and time; raise where it is none."""
    if kind in ("csv", "tsv"):
        rows = [r for r in csv.reader(io.StringIO(text, newline=""), delimiter=SEPARATORS[kind], strict=True) if r]
    elif '"' in text:  # what a quote means there is the reader's own business
        raise ValueError
    else:
        rows = [line.split(SEPARATORS[kind]) for line in re.split("\r\n|\r|\n", text)]
    rows = [row for row in rows if any(field.strip() for field in row)]
    if kind == "dat":
        names, body = list(COLUMNS), rows
    else:
        names, body = (
            [name.strip().partition(":")[0] if kind == "inter" else name.strip() for name in rows[0]],
            rows[1:],
        )
    if any(names.count(name) != 1 for name in COLUMNS):
        raise ValueError
    places = [names.index(name) for name in COLUMNS]
    return [[row[place] for place in places] for row in body if len(row) > max(places)]


def _latest(rows: list[list[str]]) -> dict[tuple[str, str], tuple[float, float]]:
    """Return strength and time of each pair; of a repeated one those of the latest row, and none of strength 0."""
    found: dict[tuple[str, str], tuple[float, float]] = {}
    for user, item, strength, moment in rows:
        value, time = float(np.float32(strength)), float(moment)
        if not time.is_integer():
            raise ValueError
        if (user, item) not in found or time >= found[user, item][1]:
            found[user, item] = (value, time)
    return {pair: values for pair, values in found.items() if values[0] > 0}


def _adjacency(text: str) -> dict[tuple[int, int], None]:
    lines = [[int(word) for word in line.split()] for line in re.split("\r\n|\r|\n", text) if line.strip()]
    return {(line[0], item): None for line in lines for item in line[1:]}


def _parquet(path: Path, rng: random.Random) -> str:
    """Read a damaged Parquet file, which has no checksum."""
    generator = np.random.default_rng(rng.randrange(5))
    users, items = generator.integers(0, 30, 80), generator.integers(0, 20, 80)
    Interactions.from_arrays(users, items, timestamps=np.arange(80)).to_frame().write_parquet(path)
    path.write_bytes(mutated(path.read_bytes(), rng))
    read_interactions(path)
    return "result"
