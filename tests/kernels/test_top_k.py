"""Top-k: the native kernel against its plain twin and a full sort, the rule for ties, masks, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels import ItemVectors, backend, reference, top_k, top_k_scores

LEVELS = backend.native.simd_levels() if backend.native else []
needs_native = pytest.mark.skipif(backend.native is None, reason="the native kernels are not built")


def coarse(n: int, width: int, *, seed: int = 0) -> np.ndarray:
    """Small whole numbers: products are exact in any order, and ties are common."""
    return np.random.default_rng(seed).integers(-2, 3, size=(n, width)).astype(np.float32)


def fine(n: int, width: int, *, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, width), dtype=np.float32)


def random_seen(users: int, items: int, share: float, *, seed: int = 0) -> CSR:
    mask = np.random.default_rng(seed).random((users, items)) < share
    mask[::5] = False
    indptr = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(np.int64)
    return CSR(indptr, np.nonzero(mask)[1].astype(np.int32), None, items)


def full_sort(scores: np.ndarray, k: int, seen: CSR | None = None, allowed: Any = None) -> tuple[list, list]:
    """Sort all items of each row with Python's own sort."""
    ids, best = [], []
    for x, row in enumerate(scores):
        hidden = set() if seen is None else set(seen.indices[seen.indptr[x] : seen.indptr[x + 1]].tolist())
        items = [y for y in range(len(row)) if y not in hidden and (allowed is None or allowed[y]) and row[y] > -np.inf]
        items = sorted(items, key=lambda y: (-row[y], y))[:k]
        ids.append(items + [-1] * (k - len(items)))
        best.append([float(row[y]) for y in items] + [np.nan] * (k - len(items)))
    return ids, best


def run_native(
    users: np.ndarray,
    items: np.ndarray,
    k: int,
    *,
    seen: CSR | None = None,
    allowed: Any = None,
    masked: bool = False,
    scales: Any = None,
    offsets: Any = None,
    level: str = "",
    threads: int = 1,
    tile_users: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    assert backend.native is not None
    ids = np.full((len(users), k), -7, dtype=np.int64)
    scores = np.full((len(users), k), -7, dtype=np.float32)
    rows = (None, None) if seen is None else (seen.indptr, seen.indices)
    chosen = None if allowed is None or masked else np.flatnonzero(allowed).astype(np.int32)
    mask = np.asarray(allowed).astype(np.uint8) if masked else None
    panels = backend.native.ItemPanels(items, chosen, level or LEVELS[-1], threads)
    backend.native.top_k(users, panels, scales, offsets, mask, *rows, ids, scores, threads, tile_users)
    return ids, scores


def assert_lists(result: tuple[np.ndarray, np.ndarray], ids: Any, scores: Any) -> None:
    assert result[0].dtype == np.int64
    assert result[1].dtype == np.float32
    np.testing.assert_array_equal(result[0], np.reshape(ids, result[0].shape))
    np.testing.assert_array_equal(result[1], np.reshape(scores, result[1].shape))


def test_by_hand():
    P = np.array([[1.0, 0.0], [0.0, -1.0]])
    Q = np.array([[3.0, 1.0], [2.0, 5.0], [3.0, 0.0]])
    assert_lists(top_k(P, Q, k=2), [[0, 2], [2, 0]], [[3, 3], [0, -1]])
    seen = CSR(np.array([0, 1, 3]), np.array([0, 0, 2], np.int32), None, 3)
    assert_lists(top_k(P, Q, k=2, seen=seen), [[2, 1], [1, -1]], [[3, 2], [-5, np.nan]])
    assert_lists(top_k(P, Q, k=2, allowed=[False, True, True]), [[2, 1], [2, 1]], [[3, 2], [0, -5]])


@settings(deadline=None, max_examples=150)
@given(
    users=st.integers(0, 40),
    items=st.integers(0, 150),
    width=st.integers(0, 9),
    k=st.integers(1, 170),
    share=st.sampled_from([None, 0.0, 0.3, 1.0]),
    allowed_share=st.sampled_from([None, 0.0, 0.4, 1.0]),
    threads=st.integers(1, 4),
    seed=st.integers(0, 3),
)
def test_ties_and_masks_agree_with_a_full_sort(users, items, width, k, share, allowed_share, threads, seed):
    P, Q = coarse(users, width, seed=seed), coarse(items, width, seed=seed + 9)
    seen = None if share is None else random_seen(users, items, share, seed=seed)
    allowed = None if allowed_share is None else np.random.default_rng(seed).random(items) < allowed_share
    expected = full_sort(P @ Q.T, k, seen, allowed)
    assert_lists(top_k(P, Q, k=k, seen=seen, allowed=allowed, num_threads=threads), *expected)
    assert_lists(reference.top_k(P, Q, k=k, seen=seen, allowed=allowed), *expected)


@needs_native
@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize("width", [1, 2, 7, 16, 33, 100])
def test_every_simd_level_agrees_with_the_twin(level, width):
    if level not in LEVELS:
        pytest.skip(f"this CPU or this build has no {level}")
    P, Q, seen = coarse(37, width), coarse(1003, width, seed=1), random_seen(37, 1003, 0.2)
    allowed = np.arange(1003) % 7 != 3
    for k in (1, 5, 129, 1003):
        for mask in (None, allowed):
            expected = reference.top_k(P, Q, k=k, seen=seen, allowed=mask)
            assert_lists(run_native(P, Q, k, seen=seen, allowed=mask, level=level), *expected)


@needs_native
@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_threads_tiles_and_neighbours_never_change_a_bit(level):
    if level not in LEVELS:
        pytest.skip(f"this CPU or this build has no {level}")
    P, Q, seen = fine(203, 50), fine(1501, 50, seed=1), random_seen(203, 1501, 0.1)
    ids, scores = run_native(P, Q, 30, seen=seen, level=level)
    for threads in (1, 2, 3, 4):
        for tile_users in (0, 1, 5, 14, 100, 1000):
            again = run_native(P, Q, 30, seen=seen, level=level, threads=threads, tile_users=tile_users)
            assert again[0].tobytes() == ids.tobytes()
            assert again[1].tobytes() == scores.tobytes()
    one = run_native(P[7:8], Q[ids[7]], 30, level=level)[1]  # other users and items beside it
    assert sorted(one[0].tolist()) == sorted(scores[7].tolist())
    exact = np.einsum("xik,xk->xi", Q[ids].astype(np.float64), P.astype(np.float64))
    np.testing.assert_allclose(scores, exact, rtol=0, atol=1e-4)
    assert np.array_equal(ids, reference.top_k(P, Q, k=30, seen=seen)[0])


@needs_native
@pytest.mark.skipif("avx512" not in LEVELS, reason="this CPU or this build has no avx512")
def test_levels_with_fused_multiply_add_have_the_same_bits():
    P, Q = fine(40, 77), fine(300, 77, seed=1)
    assert_lists(run_native(P, Q, 300, level="avx2"), *run_native(P, Q, 300, level="avx512"))


@pytest.mark.parametrize("items", [1, 31, 32, 33, 127, 128, 129, 191, 192, 193, 400])
@pytest.mark.parametrize("order", ["rising", "falling", "equal"])
def test_lists_that_fill_up_in_any_order(items, order):
    steps = {"rising": np.arange(items), "falling": -np.arange(items), "equal": np.zeros(items)}[order]
    Q = steps[:, None].astype(np.float32)
    P = np.array([[1.0], [-1.0], [0.0]], dtype=np.float32)
    for k in (1, 20, 127, 128, 129, items):
        assert_lists(top_k(P, Q, k=k), *full_sort(P @ Q.T, k))


def test_everything_seen_scores_highest():
    Q = np.arange(2000, dtype=np.float32)[:, None]
    seen = CSR(np.array([0, 1000, 1000]), np.arange(1000, 2000, dtype=np.int32), None, 2000)
    ids, _ = top_k(np.ones((2, 1), dtype=np.float32), Q, k=3, seen=seen)
    np.testing.assert_array_equal(ids, [[999, 998, 997], [1999, 1998, 1997]])


@pytest.mark.parametrize("fallback", [False, True], ids=["default", "twin"])
def test_infinite_scores(fallback, monkeypatch):
    if fallback:
        monkeypatch.setattr("taylorank.kernels.backend.native", None)
    P = np.array([[1.0], [-1.0]], dtype=np.float32)
    Q = np.array([[2.0], [np.inf], [-np.inf], [np.inf], [-3.0]], dtype=np.float32)
    expected = [[1, 3, 0, 4, -1, -1], [2, 4, 0, -1, -1, -1]]
    ids, scores = top_k(P, Q, k=6)
    np.testing.assert_array_equal(ids, expected)
    np.testing.assert_array_equal(scores[:, 0], np.inf)
    np.testing.assert_array_equal(np.isnan(scores), np.array(expected) < 0)


@pytest.mark.parametrize("fallback", [False, True], ids=["default", "twin"])
@pytest.mark.parametrize("items", [3, 40, 700])
def test_a_score_that_is_not_a_number_is_an_error(items, fallback, monkeypatch):
    if fallback:
        monkeypatch.setattr("taylorank.kernels.backend.native", None)
    P, Q = np.ones((30, 2), dtype=np.float32), np.ones((items, 2), dtype=np.float32)
    Q[items - 2 :] = np.nan
    for threads in (1, 3):
        with pytest.raises(ParameterError, match=f"row 0 and item {items - 2} is not a number") as caught:
            top_k(P, Q, k=1, num_threads=threads)
        assert caught.value.remedy
    P[:, 0], Q[items - 2 :] = [1] * 17 + [np.inf] * 13, [0, 1]  # ∞ · 0
    with pytest.raises(ParameterError, match=f"row 17 and item {items - 2} "):
        top_k(P, Q, k=2, num_threads=2)
    allowed = np.arange(items) < items - 2
    assert top_k(P, Q, k=1, allowed=allowed)[1][-1, 0] == np.inf
    seen = CSR(np.arange(31) * 2, np.tile(np.array([items - 2, items - 1], np.int32), 30), None, items)
    np.testing.assert_array_equal(top_k(P, Q, k=1, seen=seen)[0], 0)


def test_minus_zero_ties_with_zero():
    P, Q = np.ones((1, 1), dtype=np.float32), np.array([[-0.0], [0.0], [-0.0]], dtype=np.float32)
    for ids, scores in (top_k(P, Q, k=3), top_k_scores(Q.T, 3), reference.top_k(P, Q, k=3)):
        np.testing.assert_array_equal(ids, [[0, 1, 2]])
        assert not np.signbit(scores).any()


def test_double_precision_and_odd_layouts_are_converted():
    P, Q = fine(9, 6), fine(50, 6, seed=1)
    expected = top_k(P, Q, k=5)
    wide = np.zeros((50, 12), dtype=np.float32)
    wide[:, ::2] = Q
    for users, items in ((P.astype(float), Q.astype(float)), (np.asfortranarray(P), Q), (P, wide[:, ::2])):
        assert_lists(top_k(users, items, k=5), *expected)


def test_without_the_native_module_the_result_agrees(monkeypatch):
    P, Q, seen = coarse(11, 4), coarse(60, 4, seed=1), random_seen(11, 60, 0.3)
    expected = top_k(P, Q, k=7, seen=seen), top_k_scores(P @ Q.T, 7)
    monkeypatch.setattr("taylorank.kernels.backend.native", None)
    assert_lists(top_k(P, Q, k=7, seen=seen), *expected[0])
    assert_lists(top_k_scores(P @ Q.T, 7), *expected[1])


def test_the_twin_works_in_blocks(monkeypatch):
    P, Q, seen = coarse(23, 4), coarse(60, 4, seed=1), random_seen(23, 60, 0.3)
    expected = reference.top_k(P, Q, k=7, seen=seen)
    monkeypatch.setattr(reference, "BLOCK_CELLS", 130)
    assert_lists(reference.top_k(P, Q, k=7, seen=seen), *expected)
    P[9] = np.nan
    with pytest.raises(ParameterError, match="row 9 and item"):
        reference.top_k(P, Q, k=7)


BAD_CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "integers": ({"user_factors": np.ones((3, 6), dtype=np.int64)}, "user_factors are int64"),
    "half precision": ({"item_factors": np.ones((20, 6), dtype=np.float16)}, "item_factors are float16"),
    "a vector": ({"user_factors": np.ones(6)}, r"user_factors have shape \(6,\)"),
    "other widths": ({"item_factors": np.ones((20, 5))}, "users have 6 factors but items have 5"),
    "no items wanted": ({"k": 0}, "k is 0"),
    "half an item": ({"k": 0.5}, r"k is 0\.5"),
    "seen of other users": ({"seen": random_seen(4, 20, 0.5)}, "seen is 4 × 20"),
    "seen of other items": ({"seen": random_seen(3, 21, 0.5)}, "seen is 3 × 21"),
    "allowed as numbers": ({"allowed": np.arange(20)}, "allowed is int64"),
    "allowed too short": ({"allowed": np.ones(19, dtype=bool)}, "20 items"),
    "no threads": ({"num_threads": 0}, "num_threads is 0"),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_arguments_are_refused(name):
    arguments, cause = BAD_CALLS[name]
    arguments = {"user_factors": fine(3, 6), "item_factors": fine(20, 6), "k": 2} | arguments
    with pytest.raises(ParameterError, match=cause) as caught:
        top_k(arguments.pop("user_factors"), arguments.pop("item_factors"), **arguments)
    assert caught.value.remedy


BAD_SEEN = {
    "falls": ({"indices": [0, 3, 2, 5]}, "row 1 of seen"),
    "too large": ({"indices": [0, 1, 2, 20]}, "row 2 of seen"),
    "negative": ({"indices": [-1, 1, 2, 5]}, "row 0 of seen"),
    "indptr falls": ({"indptr": [0, 4, 1, 4]}, "falls after row 1"),
    "indptr ends late": ({"indptr": [0, 1, 3, 9]}, "ends at 9"),
    "indptr starts late": ({"indptr": [1, 1, 3, 4]}, "starts at 1"),
}


@pytest.mark.parametrize("fallback", [False, True], ids=["default", "twin"])
@pytest.mark.parametrize("name", BAD_SEEN)
def test_broken_seen_rows_are_refused(name, fallback, monkeypatch):
    if fallback:
        monkeypatch.setattr("taylorank.kernels.backend.native", None)
    arrays, cause = BAD_SEEN[name]
    arrays = {"indptr": [0, 1, 3, 4], "indices": [0, 1, 2, 5]} | arrays
    seen = CSR(np.array(arrays["indptr"], np.int64), np.array(arrays["indices"], np.int32), None, 20)
    with pytest.raises(ParameterError, match=cause):
        top_k(fine(3, 6), fine(20, 6), k=2, seen=seen)


@needs_native
def test_chosen_items_are_checked_before_they_are_read():
    for chosen in ([0, 20], [-1, 3], [4, 4], [5, 2]):
        with pytest.raises(ValueError, match="chosen"):
            backend.native.ItemPanels(fine(20, 6), np.array(chosen, np.int32), LEVELS[0], 1)


@needs_native
def test_lines_of_another_length_are_refused():
    panels = backend.native.ItemPanels(fine(20, 6), None, LEVELS[0], 1)
    ids, scores = np.empty((3, 2), np.int64), np.empty((3, 2), np.float32)
    short, mask = np.ones(19, np.float32), np.ones(21, np.uint8)
    for lines, what in (((short, None, None), "scales"), ((None, short, None), "offsets"), ((None, None, mask), "all")):
        with pytest.raises(ValueError, match=what):
            backend.native.top_k(fine(3, 6), panels, *lines, None, None, ids, scores, 1)
    with pytest.raises(ParameterError, match="scales have shape"):
        top_k(fine(3, 6), fine(20, 6), k=2, scales=short)


@needs_native
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("users", [1, 2, 4, 5, 33])
def test_scales_offsets_and_a_mask_agree_with_a_full_sort(level, users):
    P, Q, seen = coarse(users, 7), coarse(301, 7, seed=1), random_seen(users, 301, 0.2)
    rng = np.random.default_rng(2)
    scales, offsets = rng.integers(1, 4, 301).astype(np.float32), rng.integers(-3, 3, 301).astype(np.float32)
    allowed = rng.random(301) < 0.6
    expected = full_sort(P @ Q.T * scales + offsets, 20, seen, allowed)
    lines = {"scales": scales, "offsets": offsets, "seen": seen, "allowed": allowed}
    found = run_native(P, Q, 20, **lines, masked=True, level=level)
    assert_lists(found, *expected)
    assert_lists(top_k(P, ItemVectors(Q), k=20, **lines), *expected)
    assert_lists(reference.top_k(P, Q, k=20, **lines), *expected)
    few = allowed & (np.arange(301) < 30)  # laid out by themselves
    assert_lists(
        top_k(P, ItemVectors(Q), k=20, **{**lines, "allowed": few}),
        *full_sort(P @ Q.T * scales + offsets, 20, seen, few),
    )


@needs_native
def test_one_user_alone_has_the_bits_that_it_has_among_others():
    P, items = fine(40, 33), ItemVectors(fine(500, 33, seed=1))
    together = top_k(P, items, k=25)
    for first, count in ((3, 1), (7, 2), (11, 4), (20, 13)):
        part = top_k(P[first : first + count], items, k=25)
        np.testing.assert_array_equal(part[0], together[0][first : first + count])
        np.testing.assert_array_equal(part[1], together[1][first : first + count])


def test_an_item_that_may_not_be_ranked_may_have_a_score_that_is_not_a_number():
    P, Q = fine(2, 3), fine(50, 3, seed=1)
    Q[7] = np.nan
    allowed = np.arange(50) != 7
    for items in (Q, ItemVectors(Q)):
        assert 7 not in top_k(P, items, k=50, allowed=allowed)[0]
        with pytest.raises(ParameterError, match="not a number"):
            top_k(P, items, k=5)


@settings(deadline=None, max_examples=100)
@given(rows=st.integers(0, 6), columns=st.integers(0, 300), k=st.integers(1, 320), seed=st.integers(0, 5))
def test_selection_from_given_scores_agrees_with_a_full_sort(rows, columns, k, seed):
    values = np.array([-np.inf, -1.5, -0.0, 0.0, 1.0, 2.5, np.inf], dtype=np.float32)
    scores = np.random.default_rng(seed).choice(values, size=(rows, columns))
    expected = full_sort(scores, k)
    assert_lists(top_k_scores(scores, k), *expected)
    assert_lists(reference.top_k_scores(scores, k), *expected)


@needs_native
@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_selection_is_the_same_at_every_level_and_on_any_number_of_threads(level):
    if level not in LEVELS:
        pytest.skip(f"this CPU or this build has no {level}")
    scores = fine(70, 4001)
    expected = reference.top_k_scores(scores, 50)
    for threads in (1, 2, 3, 4):
        ids, best = np.empty((70, 50), np.int64), np.empty((70, 50), np.float32)
        backend.native.top_k_scores(scores, ids, best, level, threads)
        assert_lists((ids, best), *expected)


def test_selection_refuses_what_is_not_a_number():
    scores = np.zeros((5, 100), dtype=np.float32)
    scores[3, [60, 99]] = np.nan
    for select in (top_k_scores, reference.top_k_scores):
        with pytest.raises(ParameterError, match="row 3 and item 60 is not a number"):
            select(scores, 4)


@pytest.mark.skipif(backend.native is None, reason="of the native kernels")
def test_products_too_small_to_be_normal_count_as_nothing():
    rng = np.random.default_rng(0)
    users, items = (rng.normal(size=(n, 5)).astype(np.float32) * np.float32(1e-21) for n in (4, 9))
    ids, scores = top_k(users, items, k=3)
    assert ids.tolist() == [[0, 1, 2]] * 4  # all equal, so by number
    assert not scores.any()
    assert np.float32(1e-40) * np.float32(0.5) > 0  # the caller's arithmetic is as it was
