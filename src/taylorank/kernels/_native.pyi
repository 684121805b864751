from typing import Any

from numpy.typing import NDArray

def simd_levels() -> list[str]: ...
def gather_sum(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    factors: NDArray[Any],
    weights: NDArray[Any] | None,
    out: NDArray[Any],
    level: str,
    threads: int,
    chunk_items: int = 0,
) -> None: ...
