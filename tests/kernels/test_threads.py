"""The number of threads: set once, used everywhere, and without effect on results."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import taylorank as tr
from taylorank.errors import ParameterError
from taylorank.kernels import backend, threads
from taylorank.registry import MODELS


def test_the_number_holds_within_the_block():
    outside = backend.thread_count()
    with threads(3):
        assert backend.thread_count() == 3
        assert backend.thread_count(2) == 2
        with threads(None):
            assert backend.thread_count() == 3
        with threads(5):
            assert backend.thread_count() == 5
        assert backend.thread_count() == 3
    assert backend.thread_count() == outside
    with pytest.raises(ParameterError, match="num_threads is 0"), threads(0):
        pass
    assert backend.thread_count() == outside


WITH_THREADS = [  # torch rounds differently on another number of threads
    name for name, kind in MODELS.items() if "num_threads" in inspect.signature(kind).parameters and name != "neural"
]


@pytest.mark.parametrize("name", WITH_THREADS)
@pytest.mark.parametrize("factors", [24, 160])  # BLAS on another number of threads would show at 160
def test_models_give_the_same_bits_for_any_number(name, factors):
    train = tr.planted(400, 350, interactions=6000, seed=2)
    results = []
    for count in (1, 3, None):
        parameters = {"factors": factors, "num_threads": count}
        if "iterations" in inspect.signature(MODELS[name]).parameters:
            parameters["iterations"] = 1
        model = MODELS[name](**parameters).fit(train)
        folded = model.fold_in(train)
        results.append((model.user_factors, model.item_factors, folded.user_factors, *model.recommend([3, 4])))
    for other in results[1:]:
        for got, expected in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", WITH_THREADS)
def test_a_model_uses_its_own_number(name, monkeypatch):
    train = tr.planted(40, 30, interactions=300)
    asked = []
    real = backend.thread_count

    def noted(count=None):
        asked.append(real(count))
        return asked[-1]

    monkeypatch.setattr(backend, "thread_count", noted)
    model = MODELS[name](factors=2, num_threads=7).fit(train)
    for work in (lambda: model.fold_in(train), lambda: model.recommend([1])):
        assert 7 in asked
        assert set(asked) <= {1, 7}  # one where the work is over before threads are there
        asked.clear()
        work()
    with pytest.raises(ParameterError, match="num_threads"):
        MODELS[name](factors=2, num_threads=-1).fit(train)
