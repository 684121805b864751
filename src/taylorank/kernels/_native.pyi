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
def nonzero_scores(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    users: NDArray[Any],
    items: NDArray[Any],
    out: NDArray[Any],
    level: str,
    threads: int,
    chunk_items: int = 0,
) -> None: ...
def top_k(
    users: NDArray[Any],
    items: NDArray[Any],
    seen_indptr: NDArray[Any] | None,
    seen_items: NDArray[Any] | None,
    allowed: NDArray[Any] | None,
    ids: NDArray[Any],
    scores: NDArray[Any],
    level: str,
    threads: int,
    tile_users: int = 0,
) -> None: ...
def top_k_scores(
    given: NDArray[Any],
    ids: NDArray[Any],
    scores: NDArray[Any],
    level: str,
    threads: int,
) -> None: ...
