"""Where polars cannot be used: after a fork, and with so little memory that it would end the process.

A library in Rust ends its process when it gets no memory, where Python raises MemoryError. Without `ulimit -v` Linux
rarely refuses memory, so there is nothing to look at.
"""

from __future__ import annotations

import os

from taylorank.data.forked import check_fork
from taylorank.errors import DataError
from taylorank.system import left_of_address_space

LEAST = 64 << 20  # bytes that reading and writing a small table take, most of them reserved
OF_A_THREAD = 4 << 20


def check_polars() -> None:
    """Refuse to use polars where it would wait forever, or end the process."""
    check_fork()
    left, least = left_of_address_space(), LEAST + OF_A_THREAD * (os.cpu_count() or 1)
    if left is not None and left < least:
        raise DataError(
            f"this process may take {left >> 20:,} MiB more, and tables take at least {least >> 20:,}",
            "raise its limit of memory (ulimit -v)",
        )
