"""Is this file the one that was published? Checksums stated by the publisher, or recorded at the first download."""

from __future__ import annotations

import hashlib
from pathlib import Path

from taylorank.errors import DataError
from taylorank.output import atomic_path

BLOCK = 1 << 20


def file_digest(path: Path, algorithm: str) -> str:
    """Return the hexadecimal digest of a file; `algorithm` is "md5" or "sha256"."""
    digest = hashlib.new(algorithm, usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def record_path(target: Path) -> Path:
    """Return the side file that holds the SHA-256 of `target`, in the format of the `sha256sum` command."""
    return target.with_name(f"{target.name}.sha256")


def recorded_checksum(target: Path) -> str | None:
    """Return "sha256:…" as recorded beside `target`, or None."""
    record = record_path(target)
    if not record.is_file():
        return None
    words = record.read_text("ascii", "replace").split()
    if not words or len(words[0]) != 64:
        raise DataError(f"{record} holds no SHA-256", "delete it")
    return f"sha256:{words[0].lower()}"


def record_checksum(target: Path, content: Path) -> None:
    """Record the SHA-256 of `content`, which is about to become or already is `target`."""
    with atomic_path(record_path(target)) as temporary:
        temporary.write_text(f"{file_digest(content, 'sha256')}  {target.name}\n", "ascii")


def mismatch(path: Path, expected: str) -> str | None:
    """Compare a file with "md5:…" or "sha256:…"; return None if they agree, else what was found."""
    algorithm, _, digest = expected.partition(":")
    found = file_digest(path, algorithm)
    return None if found == digest.lower() else f"{algorithm}:{found}"
