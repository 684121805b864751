"""What row-solve refuses, and that it says why."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from taylorank.data.csr import CSR
from taylorank.errors import ParameterError
from taylorank.kernels import RowSystem, Tilt, row_solve


def small_problem() -> tuple[RowSystem, np.ndarray]:
    """Return 11 rows over 50 columns, 7 factors."""
    rng = np.random.default_rng(0)
    rows = CSR(np.arange(12) * 4, rng.integers(0, 50, 44, dtype=np.int32), None, 50)
    factors = rng.standard_normal((50, 7))
    system = RowSystem(rows, factors.T @ factors, 0.5, 1.0, offsets=np.ones(11), direction=np.ones(7))
    return system, factors


BAD = {
    "method": ({"method": "lu"}, "method is 'lu'"),
    "steps": ({"method": "cg", "steps": 0}, "steps is 0"),
    "block": ({"method": "blocks", "block": 2.5}, "block is 2.5"),
    "threads": ({"num_threads": 0}, "num_threads is 0"),
    "start": ({"start": np.zeros((2, 7))}, "start have shape"),
    "factors of integers": ({"factors": np.ones((50, 7), dtype=int)}, "factors are int64"),
    "factors too few": ({"factors": np.ones((49, 7))}, "50 rows are needed"),
    "factors not a number": ({"factors": np.full((50, 7), np.nan)}, "factors hold"),
    "gram of another shape": ({"gram": np.eye(6)}, "gram have shape"),
    "gram not symmetric": ({"gram": np.triu(np.ones((7, 7)))}, "not symmetric"),
    "gram infinite": ({"gram": np.diag([np.inf] * 7)}, "gram hold"),
    "short background": ({"background": np.ones(3)}, "background have shape"),
    "infinite background": ({"background": np.inf}, "background hold"),
    "ridge not a number": ({"regularization": np.nan}, "regularization hold"),
    "short weights": ({"weights": np.ones(3)}, "weights have shape"),
    "weights not a number": ({"weights": np.nan}, "weights hold"),
    "infinite targets": ({"targets": -np.inf}, "targets hold"),
    "targets of text": ({"targets": "one"}, "targets are <U3"),
    "offsets alone": ({"direction": None}, "go together"),
    "direction": ({"direction": np.ones(6)}, "direction have shape"),
    "tilt": ({"tilt": Tilt(np.ones((11, 6)), np.ones(7), 1.0)}, "tilt rows have shape"),
    "tilt not a number": ({"tilt": Tilt(np.ones((11, 7)), np.ones(7), np.nan)}, "tilt scales hold"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_refused(name):
    changes, cause = BAD[name]
    system, factors = small_problem()
    fields = {field.name for field in dataclasses.fields(RowSystem)}
    options = {key: value for key, value in changes.items() if key not in fields}
    system = dataclasses.replace(system, **{key: value for key, value in changes.items() if key in fields})
    with pytest.raises(ParameterError, match=cause) as caught:
        row_solve(system, options.pop("factors", factors), **options)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("indptr", "indices", "cause"),
    [
        ([0, 1, 3], [0, 1, 50], "index 50 at position 2"),
        ([0, 1, 3], [0, -1, 2], "index -1 at position 1"),
        ([0, 4, 3], [0, 1, 2], "falls after row 1"),
        ([1, 2, 3], [0, 1, 2], "starts at 1"),
        ([0, 1, 2], [0, 1, 2], "ends at 2"),
        ([], [], "indptr is empty"),
    ],
)
@pytest.mark.parametrize("fallback", [False, True], ids=["default", "twin"])
def test_broken_rows_are_refused(indptr, indices, cause, fallback, monkeypatch):
    if fallback:
        monkeypatch.setattr("taylorank.kernels.backend.native", None)
    rows = CSR(np.array(indptr, np.int64), np.array(indices, np.int32), None, 50)
    with pytest.raises(ParameterError, match=cause):
        row_solve(RowSystem(rows, np.eye(4), 1.0, 1.0), np.ones((50, 4)))
