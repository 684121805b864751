"""Products cut by their shape: right, and the same bits on any number of threads and CPUs."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from taylorank.kernels import backend, blas, threads
from taylorank.kernels.blas import inner_product, multiply_in_place, single_threaded, subtract_product

SHAPES = [(1, 1, 1), (0, 3, 2), (7, 5, 3), (40_000, 90, 16), (9_000, 300, 300)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_are_those_of_numpy_for_any_number_of_threads(shape, dtype):
    n, j, b = shape
    rng = np.random.default_rng(0)
    A, Z, C = (rng.standard_normal(size).astype(dtype) for size in ((n, j), (n, b), (j, b)))
    found = []
    for count in (1, 3, 16):
        rest, rotated = Z.copy(), A.copy()
        with threads(count), single_threaded():
            inside = inner_product(A, Z)
            subtract_product(rest, A, C)
            multiply_in_place(rotated, C[:, : min(j, b)], strip=128)
        found.append((inside, rest, rotated))
    close = {"rtol": 1e-3, "atol": 1e-2 if dtype == np.float32 else 1e-8}
    np.testing.assert_allclose(found[0][0], A.T @ Z, **close)
    np.testing.assert_allclose(found[0][1], Z - A @ C, **close)
    np.testing.assert_allclose(found[0][2][:, : min(j, b)], A @ C[:, : min(j, b)], **close)
    for other in found[1:]:
        assert all(one.tobytes() == two.tobytes() for one, two in zip(other, found[0], strict=True))


def test_the_number_of_threads_is_given_back(monkeypatch):
    counts = [6, 4]
    pairs = [(lambda k=k: counts[k], lambda count, k=k: counts.__setitem__(k, count)) for k in range(2)]
    monkeypatch.setattr(blas, "_libraries", lambda: pairs)
    with single_threaded():
        assert counts == [1, 1]
        with single_threaded():
            assert counts == [1, 1]
        assert counts == [1, 1]
    assert counts == [6, 4]
    with pytest.raises(KeyError), single_threaded():
        raise KeyError
    assert counts == [6, 4]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the library as Linux shows it")
def test_the_libraries_of_numpy_and_scipy_are_found():
    if "openblas" not in np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]:
        pytest.skip("another BLAS")
    assert blas._libraries()
    with single_threaded():
        assert all(get() == 1 for get, _ in blas._libraries())


MODELS = """
import hashlib, sys
import taylorank as tr
data = tr.planted(900, 700, interactions=30_000, seed=2)
once = {"iterations": 1}
for model in (tr.RG2(64), tr.RG2(160), tr.IALS(160, **once), tr.WRMF(300, **once), tr.SampledRGX(300, **once)):
    model.fit(data)
    print(hashlib.sha256(model.user_factors.tobytes() + model.item_factors.tobytes()).hexdigest())
"""


@pytest.mark.skipif(backend.native is None or not hasattr(os, "sched_setaffinity"), reason="native kernels on Linux")
def test_the_cpus_that_a_process_may_use_do_not_show_in_factors():
    """BLAS counts them when it is loaded; at 160 factors and more its sums differed by that."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("one CPU only")
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    found = []
    for allowed in (cpus[:1], cpus):
        code = f"import os\nos.sched_setaffinity(0, {allowed})\n{MODELS}"
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        found.append(done.stdout.split())
    assert len(found[0]) == 5
    assert found[0] == found[1]
