"""Damage of bytes: flipped bits, cut ends, spliced and repeated pieces, and what confuses readers of text."""

from __future__ import annotations

import random

PIECES = (
    *(b'"', b'""', b'",', b"\r", b"\n", b"\r\n", b"\0", b",", b";", b"\t", b"::", b"|", b" ", b"-", b"+", b"#", b"\\"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xe9", "é".encode(), "\u2028".encode(), b"\x1a", b"\x85"),
    *(b"007", b"-0", b"9" * 30, b"9" * 400, b"nan", b"inf", b"1e400", b"NULL", b"x" * 70_000, b"\n" * 3000),
    *(b"user,item\n", b"PAR1", b"PK\x03\x04", b"\x1f\x8b"),
)


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Return the bytes with one to three changes; sometimes as they are."""
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        content = rng.choice((_flipped, _cut, _without, _repeated, _with_piece, _with_piece, _with_piece))(content, rng)
    return content


def _place(content: bytes, rng: random.Random) -> int:
    return rng.randrange(len(content) + 1)


def _flipped(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return content
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: _place(content, rng)]


def _without(content: bytes, rng: random.Random) -> bytes:
    start = _place(content, rng)
    return content[:start] + content[start + rng.randrange(1, 40) :]


def _repeated(content: bytes, rng: random.Random) -> bytes:
    start = _place(content, rng)
    piece = content[start : start + rng.randrange(1, 60)]
    place = _place(content, rng)
    return content[:place] + piece * rng.randrange(1, 4) + content[place:]


def _with_piece(content: bytes, rng: random.Random) -> bytes:
    place = _place(content, rng)
    return content[:place] + rng.choice(PIECES) + content[place:]
