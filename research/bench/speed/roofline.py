"""What the machine allows: memory bandwidth by plain copies, and gather-sum as the loop that everyone would write."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.bench.speed.timing import time_in_turns
from taylorank.data.csr import CSR
from taylorank.kernels import aligned_empty

LOOP = """
#include <stdint.h>
void gather_sum(int64_t first, int64_t last, const int64_t *indptr, const int32_t *indices, const float *factors,
                int64_t width, float *out) {
    for (int64_t x = first; x < last; ++x) {
        float *row = out + x * width;
        for (int64_t k = 0; k < width; ++k) row[k] = 0.0f;
        for (int64_t j = indptr[x]; j < indptr[x + 1]; ++j)
            for (int64_t k = 0; k < width; ++k) row[k] += factors[indices[j] * width + k];
    }
}
"""


def copy_gb_per_s(*, threads: int, megabytes: int = 512, repeats: int = 5) -> float:
    """Bytes read and written per second by copies far larger than any cache, one part for each thread."""
    source = np.ones(megabytes * 2**20 // 4, dtype=np.float32)
    target = np.zeros_like(source)
    parts = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
    with ThreadPoolExecutor(threads) as pool:
        times = time_in_turns({"copy": lambda: list(pool.map(lambda p: np.copyto(*p), parts))}, repeats=repeats)
    return round(2 * source.nbytes / times["copy"].best / 1e9, 1)


def plain_loop(rows: CSR, factors: NDArray[Any], *, threads: int) -> dict[str, Callable[[], object]]:
    """Return the loop in C, by the system's compiler at -O3 for this CPU; nothing where there is none."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return {}
    with tempfile.TemporaryDirectory(prefix="taylorank-bench-") as folder:
        source, library = Path(folder) / "loop.c", Path(folder) / "loop.so"
        source.write_text(LOOP)
        subprocess.run(
            [compiler, "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(library)],
            check=True, capture_output=True,
        )  # fmt: skip
        call = ctypes.CDLL(str(library)).gather_sum
    indptr, indices = np.ascontiguousarray(rows.indptr, dtype=np.int64), np.ascontiguousarray(rows.indices)
    out = aligned_empty((rows.n_rows, factors.shape[1]), np.float32)
    cuts = np.searchsorted(indptr, np.linspace(0, rows.nnz, threads + 1)[1:-1]).tolist()
    ranges = list(zip([0, *cuts], [*cuts, rows.n_rows], strict=True))
    pool = ThreadPoolExecutor(threads)

    def part(bounds: tuple[int, int]) -> None:
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (indptr, indices, factors)]
        call(*map(ctypes.c_int64, bounds), *pointers, ctypes.c_int64(out.shape[1]), ctypes.c_void_p(out.ctypes.data))

    def run() -> NDArray[Any]:
        list(pool.map(part, ranges))
        return out

    return {"plain C loop": run}
