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
    band_rows: int = 0,
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
def pair_products(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    values: NDArray[Any],
    columns: int,
    items: NDArray[Any],
    out: NDArray[Any],
    threads: int,
) -> None: ...

class ItemPanels:
    count: int
    def __init__(self, factors: NDArray[Any], chosen: NDArray[Any] | None, level: str, threads: int) -> None: ...

def top_k(
    users: NDArray[Any],
    items: ItemPanels,
    scales: NDArray[Any] | None,
    offsets: NDArray[Any] | None,
    allowed: NDArray[Any] | None,
    seen_indptr: NDArray[Any] | None,
    seen_items: NDArray[Any] | None,
    ids: NDArray[Any],
    scores: NDArray[Any],
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
def row_solve(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any] | None,
    weight: float,
    targets: NDArray[Any] | None,
    target: float,
    factors: NDArray[Any],
    gram: NDArray[Any],
    diagonal: bool,
    background: NDArray[Any],
    regularization: NDArray[Any],
    offsets: NDArray[Any] | None,
    direction: NDArray[Any] | None,
    tilt_rows: NDArray[Any] | None,
    tilt_mean: NDArray[Any] | None,
    tilt_scales: NDArray[Any] | None,
    start: NDArray[Any] | None,
    out: NDArray[Any],
    method: str,
    steps: int,
    block: int,
    level: str,
    threads: int,
) -> int: ...
def small_product(rows: NDArray[Any], basis: NDArray[Any], out: NDArray[Any], level: str, threads: int) -> None: ...
def gram(rows: NDArray[Any], out: NDArray[Any], level: str, threads: int) -> None: ...
def inverse(matrix: NDArray[Any], out: NDArray[Any], level: str, threads: int) -> bool: ...
