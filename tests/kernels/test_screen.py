"""Candidates from codes: never without one of the best, few of them, products of codes exact on every level."""

from __future__ import annotations

import numpy as np
import pytest

from taylorank.kernels import ItemVectors, backend, best, screened, top_k
from taylorank.kernels.screen import Screen

LEVELS = backend.native.simd_levels() if backend.native else []
needs_native = pytest.mark.skipif(backend.native is None, reason="the native kernels are not built")


def vectors(n, width, *, spread=1.0, seed=0):
    """Items whose coordinates differ in size, as those of an SVD do, and users near some of them."""
    rng = np.random.default_rng(seed + n + width)
    sizes = 1 / (1 + np.arange(width)) ** spread
    items = (rng.standard_normal((n, width)) * sizes).astype(np.float32)
    users = items[rng.integers(n, size=5)] + rng.standard_normal((5, width)).astype(np.float32) * sizes
    return users.astype(np.float32), items


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize(("n", "width", "k"), [(300, 1, 10), (2000, 65, 20), (3000, 300, 100), (500, 64, 499)])
def test_the_best_are_among_the_candidates(n, width, k, native, monkeypatch):
    if not native:
        monkeypatch.setattr(backend, "native", None)
    users, items = vectors(n, width)
    rng = np.random.default_rng(1)
    scales, offsets = rng.standard_normal(n).astype(np.float32), rng.standard_normal(n).astype(np.float32)
    allowed = rng.random(n) < 0.7
    screen = Screen(items)
    for a, b, some in ((None, None, None), (scales, offsets, None), (None, offsets, allowed), (scales, None, allowed)):
        ids, _ = top_k(users, items, k=k, scales=a, offsets=b, allowed=some)
        for x, user in enumerate(users):
            found = screen.candidates(user, k, scales=a, offsets=b, allowed=some)
            assert found[ids[x][ids[x] >= 0]].all()
            assert some is None or not found[~some].any()


def test_the_bound_holds_and_is_close():
    users, items = vectors(4000, 512, spread=0.3)
    screen = Screen(items)
    for user in users:
        about, bound = screen._bounded(user, None)
        exact = items.astype(np.float64) @ user.astype(np.float64)
        assert (np.abs(about - exact) <= bound).all()
        lengths = np.linalg.norm(user) * np.linalg.norm(items, axis=1)
        assert np.median(bound / lengths) < 0.015
        assert screen.candidates(user, 50).sum() < 400


@needs_native
@pytest.mark.parametrize("level", LEVELS)
def test_products_of_codes_are_exact(level):
    rng = np.random.default_rng(0)
    for n, width in ((1, 64), (37, 128), (9000, 1024)):
        codes = rng.integers(-127, 128, size=(n, width), dtype=np.int8)
        row = rng.integers(-16000, 16001, size=width, dtype=np.int16)
        codes[0], row[:] = 127, np.where(n == 37, 16000, row)  # the largest sum that is allowed
        for threads in (1, 3):
            out = np.empty(n, dtype=np.int32)
            backend.native.code_products(codes, row, out, level=level, threads=threads)
            np.testing.assert_array_equal(out, codes.astype(np.int64) @ row.astype(np.int64))


@needs_native
def test_screened_lists_are_the_same_bits(monkeypatch):
    monkeypatch.setattr(best, "LEAST_SIZE", 1)
    users, items = vectors(5000, 200)
    kept = ItemVectors(items)
    few = screened(users[:3], kept, k=30)
    assert 30 <= few.sum() < 1500
    for got, expected in zip(top_k(users[:3], kept, k=30, allowed=few), top_k(users[:3], kept, k=30), strict=True):
        assert got.tobytes() == expected.tobytes()


@needs_native
def test_where_there_is_nothing_to_gain_all_items_stay(monkeypatch):
    users, items = vectors(5000, 200)
    allowed = np.ones(5000, dtype=bool)
    assert screened(users[:1], ItemVectors(items), k=30, allowed=allowed) is allowed  # too small a catalogue
    monkeypatch.setattr(best, "LEAST_SIZE", 1)
    assert screened(users, ItemVectors(items), k=30) is None  # too many users
    assert screened(users[:1], ItemVectors(items), k=4000) is None  # lists too long
    assert screened(np.full((1, 200), np.nan), ItemVectors(items), k=30) is None  # for top_k to refuse
    items[7, 3] = np.inf
    assert screened(users[:1], ItemVectors(items), k=30) is None
    zeros = screened(np.zeros((1, 200)), ItemVectors(items[10:]), k=3)
    assert zeros is None or zeros.all()


@needs_native
def test_wrong_arrays_are_refused():
    codes, out = np.zeros((3, 64), dtype=np.int8), np.empty(3, dtype=np.int32)
    for row, into in ((np.zeros(63, dtype=np.int16), out), (np.zeros(64, dtype=np.int16), out[:2])):
        with pytest.raises(ValueError, match="do not fit"):
            backend.native.code_products(codes, row, into.copy(), level=LEVELS[0], threads=1)
