"""EASE on a CUDA device has the weights and lists of the CPU; where to compute is a parameter that is checked."""

from __future__ import annotations

import numpy as np
import pytest

import taylorank as tr
from taylorank.errors import ParameterError
from taylorank.torch_extra import uses_cuda

try:
    HAS_CUDA = uses_cuda("auto")
except ImportError:
    HAS_CUDA = False


@pytest.mark.skipif(not HAS_CUDA, reason="there is no CUDA device")
@pytest.mark.parametrize("strengths", [False, True])
def test_weights_and_lists_are_those_of_the_cpu(strengths, tmp_path):
    data = tr.planted(300, 150, interactions=6000, random_state=1)
    if strengths:
        values = np.random.default_rng(0).choice([0.5, 2.0, 7.0], data.nnz)
        frame = data.to_frame()
        data = tr.Interactions.from_arrays(frame["user"].to_numpy(), frame["item"].to_numpy(), strengths=values)
    here, there = (tr.EASE(50.0, device=device).fit(data) for device in ("cpu", "cuda"))
    np.testing.assert_allclose(there.item_weights_, here.item_weights_, rtol=1e-4, atol=1e-6)
    same = here.recommend(data.user_ids)[0] == there.recommend(data.user_ids)[0]
    assert same.mean() > 0.999
    there.save(tmp_path / "m.tr")
    np.testing.assert_array_equal(tr.load(tmp_path / "m.tr").item_weights_, there.item_weights_)


@pytest.mark.skipif(not HAS_CUDA, reason="there is no CUDA device")
@pytest.mark.parametrize("seed", range(5))
def test_lists_have_the_same_bits_again(seed):
    data = tr.planted(200, 500, interactions=2400, random_state=seed)
    found = [tr.EASE(device="cuda").fit(data).recommend(data.user_ids[:50], n=7)[1] for _ in range(4)]
    assert len({scores.tobytes() for scores in found}) == 1


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(ParameterError, match="device='gpu' is unknown"):
        tr.EASE(device="gpu").fit(tr.planted(20, 10, interactions=100))
    if not HAS_CUDA:
        with pytest.raises(ParameterError, match="there is no CUDA device"):
            tr.EASE(device="cuda").fit(tr.planted(20, 10, interactions=100))
