"""Kernels of tensors on a GPU: seconds, bytes per second beside those of a plain copy, and how far from float64.

Data are drawn on the device, with popularities that fall as powers. Stages are apart: if one fails, its error is
recorded and the next one runs. `distance` is ‖found − exact‖ / ‖exact‖ of some rows. Without a GPU, `--quick` runs the
plain torch twins on small data.

    python -m research.bench cuda-kernels --json cuda-kernels.json
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from research.bench.speed.device_data import copy_rate, median_s, skewed
from taylorank.errors import in_one_line
from taylorank.machine import describe_machine

Row = dict[str, Any]
STAGES = ("copy", "gather-sum", "gram", "top-k", "row-solve", "large gather-sum")
MOVIES = (69_815, 9_888, 8_000_000)  # users, items, interactions
RATINGS = (138_493, 26_744, 20_000_000)
CHECK_INS = (29_858, 40_981, 810_128)
LARGE = (2_000_000, 200_000, 200_000_000)


def run(
    *,
    quick: bool = False,
    stages: str = ",".join(STAGES),
    device: str = "auto",
    variants: bool = False,
    repeats: int = 15,
    log_line: Callable[[str], object] = lambda line: None,
) -> Row:
    """Time every kernel.

    Parameters
    ----------
    quick
        Make everything small.
    stages
        Which, with commas between.
    variants
        Also time gather_sum and the matrices of row_solve with other launch parameters.
    """
    import torch

    from taylorank.training.run import chosen_device

    place = chosen_device(device)
    machine, rows = describe_machine(), []
    for stage in stages.split(","):
        began = time.perf_counter()
        try:
            for row in _stage(stage, place, quick=quick, repeats=3 if quick else repeats, variants=variants):
                rows.append({"stage": stage, **row})
                log_line(json.dumps(rows[-1]))
        except Exception as error:
            rows.append({"stage": stage, "error": in_one_line(error)[:500]})
            log_line(json.dumps(rows[-1]))
        if place == "cuda":
            torch.cuda.empty_cache()
        log_line(json.dumps({"stage": stage, "wall_s": round(time.perf_counter() - began, 1)}))
    return {"benchmark": "cuda-kernels", "device": place, "machine": machine, "rows": rows}


def _stage(stage: str, device: str, *, quick: bool, repeats: int, variants: bool) -> Iterator[Row]:
    small = 200 if quick else 1
    if stage == "copy":
        yield copy_rate(device, (1 << 30) // small**2, repeats)
    elif stage == "gather-sum":
        yield from _sums(_shrunk(MOVIES, small), device, repeats, variants=variants)
    elif stage == "large gather-sum":
        yield from _sums(_shrunk(LARGE, small**2), device, min(repeats, 5), variants=False)
    elif stage == "gram":
        yield from _grams(RATINGS[0] // small, device, repeats)
    elif stage == "top-k":
        yield from _lists(_shrunk(MOVIES, small), 128, device, repeats, masked=False)
        yield from _lists(_shrunk(CHECK_INS, small), 1024 if not quick else 32, device, repeats, masked=True)
    elif stage == "row-solve":
        yield from _solves(_shrunk(RATINGS, small), device, repeats, quick=quick, variants=variants)
    else:
        raise ValueError(f"no stage {stage!r}")


def _shrunk(shape: tuple[int, int, int], factor: int) -> tuple[int, int, int]:
    users, items, entries = shape
    return max(20, users // factor), max(100, items // factor), max(300, entries // factor)


def _distance(found: Any, expected: Any) -> float:
    return float((found.double() - expected.double()).norm() / expected.double().norm())


def _sums(shape: tuple[int, int, int], device: str, repeats: int, *, variants: bool) -> Iterator[Row]:
    """Sums by user and by item; the bytes are those of the gathered rows, indices and results."""
    import torch

    from taylorank.kernels.cuda import gather, gather_sum

    by_user = skewed(shape, device)
    copied = copy_rate(device, min(1 << 28, 100 * shape[2]), 5)["gb_per_s"]
    for direction, rows in (("by user", by_user), ("by item", by_user.transpose())):
        for width in (64, 128):
            factors = torch.randn(rows.n_columns, width, device=device)
            for kind, size in ((torch.float32, 4), (torch.bfloat16, 2)):
                Q = factors.to(kind)
                exact = _exact_sums(rows, Q)
                out = torch.full((rows.n_rows, width), torch.nan, device=device)
                options: list[tuple[int, int] | None] = [None]
                if variants and kind == torch.float32:
                    options += [(e, w) for e in (4, 8, 16, 32) for w in (1, 2, 4)]
                for option in options:
                    with _Launched(gather, option):
                        seconds = median_s(partial(gather_sum, rows, Q, out=out), device, repeats)
                    moved = rows.nnz * (width * size + 4) + 4 * out.numel()
                    gb_per_s = moved / seconds / 1e9
                    yield {
                        "entries": rows.nnz,
                        "direction": direction,
                        "factors": width,
                        "dtype": str(kind).removeprefix("torch."),
                        "longest_row": int(rows.row_lengths.max()),
                        **({} if option is None else {"block_e": option[0], "num_warps": option[1]}),
                        "median_s": seconds,
                        "gb_per_s": round(gb_per_s, 1),
                        "of_copy": round(gb_per_s / copied, 3),
                        "distance": _distance(out[: len(exact)], exact),
                        "same_bits": torch.equal(out, gather_sum(rows, Q)),
                    }


class _Launched:
    """Within the block, gather_sum is launched with other parameters (None: its own)."""

    def __init__(self, module: Any, option: tuple[int, int] | None) -> None:
        self.module, self.option, self.before = module, option, module.launch_options

    def __enter__(self) -> None:
        if self.option is not None:
            given = {"BLOCK_E": self.option[0], "num_warps": self.option[1]}
            self.module.launch_options = lambda tile: given

    def __exit__(self, *raised: object) -> None:
        self.module.launch_options = self.before


def _exact_sums(rows: Any, factors: Any, count: int = 300) -> Any:
    """Return the sums of the first rows in float64."""
    import torch

    from taylorank.kernels.cuda import DeviceRows, torch_reference

    indptr = rows.indptr[: count + 1].clone()
    few = DeviceRows(indptr, rows.indices[: int(indptr[-1])], None, rows.n_columns)
    return torch_reference.gather_sum(few, factors.to(torch.float64), weights=None)


def _grams(count: int, device: str, repeats: int) -> Iterator[Row]:
    import torch

    from taylorank.kernels.cuda import gram

    for width in (64, 128, 256, 1024):
        X = torch.randn(count, width, device=device)
        seconds = median_s(partial(gram, X), device, repeats)
        yield {
            "rows": count,
            "factors": width,
            "median_s": seconds,
            "distance": _distance(gram(X), X.double().mT @ X.double()),
        }


def _lists(shape: tuple[int, int, int], width: int, device: str, repeats: int, *, masked: bool) -> Iterator[Row]:
    """The 20 best of all users; the check is against float32 scores by plain torch, for some users."""
    import torch

    from taylorank.kernels.cuda import top_k, torch_reference

    users, items, _ = shape
    P, Q = (torch.randn(n, width, device=device) / width**0.5 for n in (users, items))
    seen = skewed(shape, device) if masked else None
    seconds = median_s(lambda: top_k(P, Q, k=20, seen=seen), device, min(repeats, 5))
    ids, scores = top_k(P, Q, k=20, seen=seen)
    few = min(256, users)
    exact = P[:few].double() @ Q.double().mT
    if seen is not None:
        part = seen.indices[: int(seen.indptr[few])].long()
        exact[seen.row_of_entry()[: len(part)], part] = -torch.inf
    expected, values = torch_reference.top_k_scores(exact.float(), 20)
    yield {
        "users": users,
        "items": items,
        "factors": width,
        "masked": masked,
        "median_s": seconds,
        "distance": _distance(scores[:few], values),
        "equal_lists": float((ids[:few] == expected).all(dim=1).float().mean()),
    }


def _solves(shape: tuple[int, int, int], device: str, repeats: int, *, quick: bool, variants: bool) -> Iterator[Row]:
    """Sweeps of iALS, users then items: exact, and three conjugate-gradient steps."""
    import torch

    from taylorank.kernels.cuda import gram, row_solve, torch_reference
    from taylorank.kernels.cuda.row_solver import checked_system
    from taylorank.kernels.row_system import RowSystem

    by_user = skewed(shape, device)
    for width in (8, 20) if quick else (64, 128, 256):
        for method in ("cholesky", "cg"):
            total = 0.0
            for direction, rows in (("by user", by_user), ("by item", by_user.transpose())):
                Q = torch.randn(rows.n_columns, width, device=device) / width**0.5
                system = RowSystem(rows, gram(Q).float(), background=0.1, regularization=5.0)  # type: ignore[arg-type]
                start = torch.zeros(rows.n_rows, width, device=device)

                def solve(system: Any = system, Q: Any = Q, start: Any = start, method: str = method) -> Any:
                    return row_solve(system, Q, method=method, start=start)

                seconds = median_s(solve, device, min(repeats, 3))
                total += seconds
                few = torch.arange(0, rows.n_rows, max(1, rows.n_rows // 64), device=device)
                exact = torch_reference.exact_rows(checked_system(system, Q), Q, few)
                case = {"entries": rows.nnz, "direction": direction, "factors": width, "method": method}
                yield {**case, "median_s": seconds, "distance": _distance(solve()[few], exact)}
                if variants and method == "cholesky" and device == "cuda":
                    yield from _matrix_variants(system, Q, device, case)
            yield {"direction": "sweep", "factors": width, "method": method, "median_s": total}


def _matrix_variants(system: Any, Q: Any, device: str, case: Row) -> Iterator[Row]:
    """Time the two parts of an exact solve: matrices by precision and entries of a step, then their factors."""
    from taylorank.kernels.cuda import outer_sums
    from taylorank.kernels.cuda.conjugate import right_sides
    from taylorank.kernels.cuda.row_solver import checked_system

    checked, last = checked_system(system, Q), min(8192, system.rows.n_rows)
    before = outer_sums.WIDEST_TILE, outer_sums.WIDE_TILE, outer_sums.SMALL_TILE
    narrow = Q.shape[1] <= 64
    try:
        for tile, precision, entries in itertools.product(
            (64,) if narrow else (64, 128), ("tf32x3", "bf16x3", *(("bf16x6", "ieee") if narrow else ())), (32, 64)
        ):
            options = {**outer_sums.WIDE_TILE, "PRECISION": precision, "BLOCK_E": entries}
            outer_sums.WIDEST_TILE, outer_sums.WIDE_TILE, outer_sums.SMALL_TILE = tile, options, options
            seconds = median_s(lambda: outer_sums.row_matrices(checked, Q, 0, last), device, 3)
            shape = {"tile": tile, "precision": precision, "step": entries}
            yield {**case, "part": "matrices", "rows": last, **shape, "median_s": seconds}
    finally:
        outer_sums.WIDEST_TILE, outer_sums.WIDE_TILE, outer_sums.SMALL_TILE = before
    matrices, right = outer_sums.row_matrices(checked, Q, 0, last), right_sides(checked, Q)[:last]
    sizes = ((16, 16, 16, 1), (16, 32, 16, 1), (16, 64, 16, 2), (16, 64, 32, 4), (32, 64, 32, 4))
    for size, precision in itertools.product(sizes, ("tf32x3", "ieee")):
        shape = {"tiles_and_warps": size, "precision": precision}
        seconds = _factored(matrices, right, device, shape)
        yield {**case, "part": "factors", "rows": last, **shape, "median_s": seconds}


def _factored(matrices: Any, right: Any, device: str, shape: Row) -> float:
    """Return the seconds of Cholesky factors in tiles of a given size; they include a copy of the matrices."""
    from taylorank.kernels.cuda import batched_cholesky

    before = batched_cholesky.launch_options, batched_cholesky.PRECISION
    try:
        batched_cholesky.launch_options = lambda K: shape["tiles_and_warps"]
        batched_cholesky.PRECISION = shape["precision"]
        return median_s(lambda: batched_cholesky.factor_solve(matrices.clone(), right.clone()), device, 3)
    finally:
        batched_cholesky.launch_options, batched_cholesky.PRECISION = before


def describe(record: Row) -> list[str]:
    """Describe the results in words; variants of launch parameters are for the record alone."""
    return [_words(row) for row in record["rows"] if "part" not in row and ("error" in row or "median_s" in row)]


def _words(row: Row) -> str:
    if "error" in row:
        return f"{row['stage']}: failed: {row['error']}"
    named = (
        f"{row['entries']:,} entries" if "entries" in row else "",
        row.get("direction", ""),
        f"{row['users']:,} users, {row['items']:,} items" if "users" in row else "",
        f"{row['rows']:,} rows" if "rows" in row else "",
        f"K = {row['factors']}" if "factors" in row else "",
        row.get("method") or row.get("dtype") or "",
        "without seen items" if row.get("masked") else "",
    )
    words = f"{', '.join((row['stage'], *filter(None, named)))}: {1000 * row['median_s']:.2f} ms"
    if "gb_per_s" in row:
        words += f", {row['gb_per_s']:,.0f} GB/s"
    return words + (f", {row['of_copy']:.2f} times a copy's" if "of_copy" in row else "")
