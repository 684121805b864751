"""Mutated files: what is read is what Python's csv reads, or the file is refused in one line."""

from __future__ import annotations

import csv
import gzip
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import taylorank as tr
from research.attack import Difference
from research.attack.mutations import mutated
from taylorank.data import Interactions, bytesource, read_interactions

SEPARATORS = {"csv": ",", "tsv": "\t", "dat": "::", "inter": "\t"}
_zstd: Any = vars(bytesource)["zstd"]  # the module that reading uses: its place depends on the version of Python
KINDS = ("csv", "csv", "csv", "tsv", "dat", "inter", "adjacency", "parquet", "npz", "model")
WRAPPERS: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".zst": _zstd.compress}
ENDS = ("\n", "\n", "\r\n", "\r")


def attack(seed: int, folder: Path) -> str:
    """Read one mutated file, in blocks of a random size."""
    rng = random.Random(seed)
    kind = rng.choice(KINDS)
    if kind in ("parquet", "npz", "model"):
        return _binary(kind, folder / f"case.{kind}", rng)
    text = mutated(_text(kind, rng), rng)
    wrapper = rng.choice(tuple(WRAPPERS))
    content = WRAPPERS[wrapper](text)
    packed = mutated(content, rng) if wrapper and rng.random() < 0.5 else content
    path = folder / f"case.{kind}{wrapper}"
    path.write_bytes(packed)
    # A line is looked at again with every block of it: tiny blocks of a long line are slow, and nobody's.
    least = len(text) // 500 if packed == content else 1000  # damage may make it longer
    bytesource.BLOCK_BYTES = max(rng.choice((7, 64, 1000, 1 << 23)), least)
    options: dict[str, Any] = {"format": kind, **({} if kind == "adjacency" else {"ids": "text", "timestamp": ""})}
    data = read_interactions(path, **options)
    if packed == content and kind in ("csv", "tsv"):
        _compare(data, text, SEPARATORS[kind])
    return "result"


def _text(kind: str, rng: random.Random) -> bytes:
    end, count = rng.choice(ENDS), rng.randrange(1, 30)
    if kind == "adjacency":
        lines = [" ".join(str(rng.randrange(40)) for _ in range(rng.randrange(1, 9))) for _ in range(count)]
        return end.join(lines).encode()
    names = ["user", "item", "note"] if kind != "inter" else ["user:token", "item:token", "note:token"]
    rows = [[_field(rng), _field(rng), _field(rng)] for _ in range(count)]
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


def _compare(data: Interactions, text: bytes, separator: str) -> None:
    """Compare with the pairs that Python's csv finds, where it finds columns called user and item."""
    try:
        plain = text.decode().removeprefix("\ufeff")
        rows = [r for r in csv.reader(io.StringIO(plain, newline=""), delimiter=separator, strict=True) if r]
    except (UnicodeDecodeError, csv.Error):
        return
    rows = [row for row in rows if any(field.strip() for field in row)]
    names = [name.strip() for name in rows[0]] if rows else []
    if names.count("user") != 1 or names.count("item") != 1:
        return
    user, item = names.index("user"), names.index("item")
    expected = {(row[user], row[item]) for row in rows[1:] if len(row) > max(user, item)}
    frame = data.to_frame()
    found = set(zip(frame["user"].to_list(), frame["item"].to_list(), strict=True))
    if found != expected:
        raise Difference(f"{sorted(found ^ expected)[:3]} of {text[:120]!r}")


def _binary(kind: str, path: Path, rng: random.Random) -> str:
    """Read a damaged file of one of our own formats, or Parquet; a checksum admits the original alone."""
    generator = np.random.default_rng(rng.randrange(5))
    users, items = generator.integers(0, 30, 80), generator.integers(0, 20, 80)
    data = Interactions.from_arrays(users, items, timestamps=np.arange(80))
    if kind == "parquet":
        data.to_frame().write_parquet(path)
    elif kind == "npz":
        data.save_npz(path)
    else:
        tr.Popularity().fit(data).save(path)
    path.write_bytes(mutated(path.read_bytes(), rng))
    if kind == "parquet":
        read_interactions(path)
        return "result"
    found = Interactions.load_npz(path) if kind == "npz" else tr.load(path).seen
    if found != data:
        raise Difference(f"a damaged {kind} file was read as other data")
    return "result"
