"""What a library written in Rust prints when it panics: pages for its authors, beside the error that users get."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

STANDARD_ERROR = 2
_one_at_a_time = threading.Lock()


@contextmanager
def without_panics() -> Iterator[None]:
    """Hold back what is written to standard error, by any thread, and write it after the block unless it is of a panic.

    Rust writes there by itself, whatever `sys.stderr` is. In several threads at once only the first is quiet.
    """
    if not _one_at_a_time.acquire(blocking=False):
        yield
        return
    try:
        kept = _duplicate()
        if kept is None:
            yield
            return
        with tempfile.TemporaryFile() as held:
            os.dup2(held.fileno(), STANDARD_ERROR)
            try:
                yield
            finally:
                os.dup2(kept, STANDARD_ERROR)
                os.close(kept)
                held.seek(0)
                text = held.read()
                if b"panicked at" not in text:
                    os.write(STANDARD_ERROR, text)
    finally:
        _one_at_a_time.release()


def _duplicate() -> int | None:
    """Return another handle of standard error; None if it is closed, or a file that is read has taken its number."""
    try:
        os.write(STANDARD_ERROR, b"")
        return os.dup(STANDARD_ERROR)
    except OSError:
        return None
