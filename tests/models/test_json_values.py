"""Words that stand for parameters in files tell apart what differs, and nothing else."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from taylorank.models.json_values import plain_value
from taylorank.report.record import plain

LARGE = np.random.default_rng(0).random((400, 30)) * (np.random.default_rng(1).random((400, 30)) < 0.2)


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array, sparse.coo_array, sparse.csc_array, sparse.lil_array])
def test_matrices_are_told_apart_wherever_they_differ(kind):
    middle, elsewhere = LARGE.copy(), LARGE[:, ::-1]
    middle[200, 15] += 1e-9
    words = [plain_value(kind(matrix)) for matrix in (LARGE, LARGE.copy(), middle, elsewhere, LARGE.T)]
    assert words[0] == words[1]
    assert len(set(words)) == 4
    assert words[0].startswith("400 × 30 ")


def test_the_format_of_a_sparse_matrix_does_not_count():
    assert len({plain_value(kind(LARGE)) for kind in (sparse.csr_array, sparse.coo_array, sparse.csr_matrix)}) == 1


def test_records_hold_what_json_knows():
    value = {"a": np.float32(0.5), "b": np.nan, "c": np.inf, "d": [np.int64(3), None, True], "e": LARGE, "f": {1, 2}}
    found = plain(value)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found == {"a": 0.5, "b": None, "c": None, "d": [3, None, True], "e": plain_value(LARGE), "f": "{1, 2}"}
