"""The unit of strength does not matter to models that measure it, and strengths of any size are no surprise."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from fitted import CLOSED_FORM, small
from scipy import sparse

import taylorank as tr
from taylorank.data.units import in_units
from taylorank.errors import DataError, ParameterError, TaylorankError
from taylorank.objectives.rg import proposal
from taylorank.registry import MODELS

WITH_UNIT = ["wrmf", "ials", "ease", "released-rg"]  # docs/reference/formulas.md says what their unit is
WITHOUT_UNIT = [name for name in MODELS if name not in (*WITH_UNIT, "distilled")]  # that has a test of its own
SCALES = [1e-3, 7.0, 1e-20, 1e20]


@pytest.fixture(scope="module")
def clicks():
    rng = np.random.default_rng(0)
    cells = (rng.random((40, 30)) < 0.3).astype(np.float64)
    cells[np.arange(40), np.arange(40) % 30] = 1
    cells[:, 7] = 0  # an item that nobody met
    return cells


@pytest.fixture(scope="module")
def graded(clicks):
    return clicks * np.random.default_rng(1).choice([1.0, 2.0, 4.0], clicks.shape)


@pytest.mark.parametrize("name", WITHOUT_UNIT)
@pytest.mark.parametrize("scale", SCALES)
def test_equal_strengths_are_clicks(name, scale, clicks):
    expected = small(name).fit(sparse.csr_array(clicks))
    model = small(name).fit(sparse.csr_array(clicks * scale))
    assert model.recommend(range(40), 9)[0].tolist() == expected.recommend(range(40), 9)[0].tolist()
    if name.startswith(("rg", "sampled")):
        assert model.item_factors.tobytes() == expected.item_factors.tobytes()


@pytest.mark.parametrize("name", WITHOUT_UNIT)
@pytest.mark.parametrize("exponent", [-30, 10, 60])
def test_graded_strengths_in_another_unit(name, exponent, graded):
    """Powers of 2 as units, so that the numbers are the same."""
    expected = small(name).fit(sparse.csr_array(graded))
    model = small(name).fit(sparse.csr_array(graded * 2.0**exponent))
    assert model.recommend(range(40), 9)[0].tolist() == expected.recommend(range(40), 9)[0].tolist()
    np.testing.assert_allclose(model.item_popularity, expected.item_popularity, rtol=1e-12)


def test_a_student_of_graded_strengths_in_another_unit(graded):
    expected = small("distilled").fit(sparse.csr_array(graded))
    model = small("distilled").fit(sparse.csr_array(graded * 2.0**-10))
    assert model.recommend(range(40), 9)[0].tolist() == expected.recommend(range(40), 9)[0].tolist()


@pytest.mark.parametrize(
    ("name", "plain", "powers"),
    [
        ("wrmf", {"alpha": 8.0}, {"alpha": -1}),
        ("ease", {"regularization": 16.0}, {"regularization": 2}),
        (
            "ials",
            {"nu": 0.0, "unobserved_weight": 0.25, "regularization": 0.5},
            {"unobserved_weight": 1, "regularization": 1},
        ),
    ],
)
def test_another_unit_is_other_parameters(name, plain, powers, graded):
    """Of models in which a strength is a weight: with strengths c times as large, each parameter by a power of c."""
    scale = 4.0
    expected = small(name, **plain).fit(sparse.csr_array(graded))
    scaled = {key: plain[key] * scale ** powers.get(key, 0) for key in plain}
    model = small(name, **scaled).fit(sparse.csr_array(graded * scale))
    lists = model.recommend(range(40), 9)[0].tolist()
    assert lists == expected.recommend(range(40), 9)[0].tolist()
    assert lists != small(name, **plain).fit(sparse.csr_array(graded * scale)).recommend(range(40), 9)[0].tolist()


@pytest.mark.parametrize("more", [{}, {"penalty": "plain", "solver": "als"}, {"score_penalty": 0.5}])
def test_new_users_are_folded_in_in_the_unit_of_the_training_data(graded, more, tmp_path):
    plain = small("rg2", **more).fit(sparse.csr_array(graded))
    model = small("rg2", **more).fit(sparse.csr_array(graded * 2.0**-20))
    model.save(tmp_path / "m.tr")
    histories = graded[:5][:, ::-1]
    for other in (model, tr.load(tmp_path / "m.tr")):
        expected = plain.fold_in(sparse.csr_array(histories)).scores(np.arange(5))
        found = other.fold_in(sparse.csr_array(histories * 2.0**-20)).scores(np.arange(5))
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-7)
        first = other.explain(0, 3)
        assert first.score == pytest.approx(plain.explain(0, 3).score, rel=1e-4)


def test_popularity_is_measured_in_the_median_strength():
    """Worked by hand: strengths 2, 2, 6 have the median 2, so the items have 2, 3 and, at least, 1 of it."""
    matrix = sparse.csr_array(np.array([[2.0, 0, 0], [2.0, 6.0, 0]]))
    data = tr.Interactions.from_matrix(matrix)
    assert data.typical_strength == 2
    assert data.relative_popularity.tolist() == [2, 3, 0]
    np.testing.assert_allclose(proposal(data, 1.0), np.array([2, 3, 1]) / 6)
    np.testing.assert_allclose(proposal(data, 0.5), np.sqrt([2, 3, 1]) / np.sqrt([2, 3, 1]).sum())
    assert tr.Interactions.from_arrays([1, 1], [1, 2]).typical_strength == 1
    assert data.item_popularity.tolist() == [4, 6, 0]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("scale", [1e-30, 1e-25, 1e25, 1e30])
def test_strengths_at_the_ends_of_the_range_give_finite_scores(name, scale, clicks):
    if name == "ease" and scale > 1:
        with pytest.raises(ParameterError, match="raise it, or scale the strengths down"):
            small(name).fit(sparse.csr_array(clicks * scale))
        return
    model = small(name).fit(sparse.csr_array(clicks * scale))
    assert np.isfinite(model.scores(np.arange(40))).all()
    assert (model.recommend(range(40), 5)[0] >= 0).all()


@pytest.mark.parametrize("strength", [1e-31, 1e-45, 1.1e30, 3e38, 1e300])
def test_strengths_beyond_the_range_are_refused_with_a_remedy(strength, tmp_path):
    with pytest.raises(DataError, match=r"row 2 is not between 1e-30 and 1e.30; use another unit"):
        tr.Interactions.from_arrays([1, 2], [1, 1], strengths=[1, strength])
    with pytest.raises(DataError, match=r"between 1e-30 and 1e.30"):
        tr.read_interactions([(1, 2, strength)])
    path = tmp_path / "log.csv"
    path.write_text(f"user,item,strength\n1,2,0\n1,3,1\n2,2,{strength}\n")
    with pytest.raises(DataError, match=r"in row 4 is not a finite number ≥ 0 \(0, or from 1e-30 to 1e.30\)"):
        tr.read_interactions(path, strength="strength")


def test_strengths_that_no_unit_suits_are_refused(clicks):
    apart = clicks.copy()
    apart[0, clicks[0] > 0] = 1e30
    apart[1:, :][clicks[1:] > 0] = 1e-30
    with pytest.raises(DataError, match="too far apart"):
        small("rg2").fit(sparse.csr_array(apart))
    data = tr.Interactions.from_matrix(sparse.csr_array(clicks))
    assert in_units(data, 1.0) is data


@pytest.mark.parametrize("name", CLOSED_FORM)
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_explanations_of_strengths_at_the_ends_of_the_range_are_numbers(name, scale, clicks):
    if name == "ease" and scale > 1:  # refused, see above
        return
    found = small(name).fit(sparse.csr_array(clicks * scale)).explain(0, 3)
    assert np.isfinite(found.score)
    assert np.isfinite(found.base)
    assert np.isfinite(found.contributions).all()
    mixed = clicks.copy()
    mixed[0, np.flatnonzero(clicks[0])[0]] = 1e30
    with contextlib.suppress(TaylorankError):
        assert np.isfinite(small(name).fit(sparse.csr_array(mixed)).explain(0, 3).score)
