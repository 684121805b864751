"""Which kernels run, and what the environment says about it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from taylorank.kernels import aligned_empty, backend, kernel_info

needs_native = pytest.mark.skipif(backend.native is None, reason="the native kernels are not built")


def in_new_process(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)


SHOW = "from taylorank.kernels import kernel_info; print(kernel_info())"
HIDE = "import sys; sys.modules['taylorank.kernels._native'] = None; "


def test_kernel_info_reports_what_runs():
    info = kernel_info()
    assert info.kind == ("native" if backend.native else "python")
    assert info.threads >= 1
    assert info.kind in str(info)


@needs_native
def test_environment_sets_level_and_threads():
    done = in_new_process(SHOW, TAYLORANK_SIMD="baseline", TAYLORANK_NUM_THREADS="3")
    assert done.stdout.strip() == "native kernels, baseline, 3 threads"


@needs_native
@pytest.mark.parametrize("setting", [{"TAYLORANK_SIMD": "avx1024"}, {"TAYLORANK_NUM_THREADS": "many"}])
def test_environment_with_a_wrong_value_is_an_error(setting):
    done = in_new_process(SHOW, **setting)
    assert "ParameterError: " + "=".join(*setting.items()) in done.stderr.replace(" is 'many'", "=many")


def test_missing_native_module_is_silent_unless_required():
    done = in_new_process(HIDE + SHOW, TAYLORANK_REQUIRE_NATIVE="0")
    assert done.stdout.startswith("python kernels, without the native module")
    assert done.stderr == ""
    done = in_new_process(HIDE + SHOW, TAYLORANK_REQUIRE_NATIVE="1")
    assert "TAYLORANK_REQUIRE_NATIVE is set" in done.stderr


def test_aligned_arrays_start_on_a_cache_line():
    arrays = [aligned_empty((n, 3), dtype) for n in range(8) for dtype in ("float32", "float64")]
    assert all(array.ctypes.data % 64 == 0 for array in arrays if array.size)
    assert all(array.flags.c_contiguous and array.flags.writeable for array in arrays)
