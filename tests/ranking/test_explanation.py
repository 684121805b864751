"""Contributions sum to the score of an exact fold-in, for every model."""

from __future__ import annotations

import numpy as np
import pytest
from fitted import CLOSED_FORM, small

import taylorank as tr
from taylorank.data import CSR
from taylorank.errors import DataError, ParameterError, UnknownIdError
from taylorank.kernels import RowSystem, Tilt, row_solve
from taylorank.models.fold_in import row_contributions


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    users, items = np.nonzero(rng.random((40, 25)) < 0.25)
    names = np.array([f"i{k:02}" for k in range(25)])
    return tr.Interactions.from_arrays(users, names[items].tolist(), strengths=rng.choice([0.5, 1.0, 3.0], len(users)))


def folded_score(model, data, user, item):
    """The score that ranks, after fold-in, in the single precision of the models."""
    folded = model.fold_in(data)
    row, column = folded.users.positions([user])[0], folded.items.positions([item])[0]
    return folded.scores(np.array([row]))[0, column]


@pytest.mark.parametrize("name", CLOSED_FORM)
def test_contributions_sum_to_the_score_of_a_fold_in(name, data):
    model = small(name).fit(data)
    for user, item in ((0, "i03"), (7, "i11"), (39, "i24")):
        why = model.explain(user, item, n=None)
        assert why.score == pytest.approx(why.base + why.contributions.sum(), abs=1e-12)
        assert why.score == pytest.approx(folded_score(model, data, user, item), rel=1e-3, abs=1e-5)
        assert np.all(np.diff(why.contributions) <= 0)
        if name != "popularity":
            assert sorted(why.items) == sorted(data.items_of(user))
        first = model.explain(user, item, n=2)
        assert first.score == why.score
        assert first.items.tolist() == why.items[:2].tolist()


@pytest.mark.parametrize("name", [n for n in CLOSED_FORM if n != "popularity"])
def test_a_contribution_is_what_taking_the_item_away_would_show(name, data):
    """For the linear models: the score is linear in the history, so each item's part can be found by solving."""
    model = small(name).fit(data)
    why = model.explain(5, "i02", n=None)
    if name in ("ease", "itemknn"):
        kept = [(5, i, float(data.matrix[5, data.items.positions([i])[0]])) for i in why.items[1:].tolist()]
        without = model.fold_in(kept).explain(5, "i02", n=None)
        assert why.score - without.score == pytest.approx(why.contributions[0], rel=1e-5)
    else:
        assert why.base == (pytest.approx(model.proposal_[2]) if name in ("rg2", "rgx") else 0.0)
        folded = model.fold_in(data)
        o = folded.user_factors[5].astype(float) @ model.item_factors[2]
        assert why.score == pytest.approx(model.proposal_[2] * (1 + o) if name in ("rg2", "rgx") else o, abs=1e-5)


def test_rg2_contributions_by_the_formula(data):
    for ranking in ("lift", "probability"):
        model = tr.RG2(factors=4, ranking=ranking, tolerance=0).fit(data)
        Q, q = model.item_factors.astype(float), model.proposal_
        B = np.linalg.inv(Q.T @ np.diag(q) @ Q + model.penalty_ * np.eye(4))
        r = data.matrix.toarray()[9].astype(float)
        scale = q[6] if ranking == "probability" else 1.0
        expected = {f"i{j:02}": scale * r[j] / r.sum() * (Q[j] - q @ Q) @ B @ Q[6] for j in np.flatnonzero(r)}
        why = model.explain(9, "i06", n=None)
        np.testing.assert_allclose(why.contributions, [expected[i] for i in why.items], rtol=1e-6, atol=1e-12)
        assert why.base == pytest.approx(q[6] if ranking == "probability" else 0.0, rel=1e-6)
        # converged: the fold-in is the stored factor, so this is the score that ranks
        assert why.score == pytest.approx(model.scores(np.array([9]))[0, 6], rel=1e-3)


def test_weighted_contributions_by_the_formula(data):
    model = tr.WRMF(factors=3, alpha=2.0, regularization=0.5).fit(data)
    Q = model.item_factors.astype(float)
    r = data.matrix.toarray()[4].astype(float)
    history = np.flatnonzero(r)
    A = Q.T @ Q + Q.T @ np.diag(2.0 * r) @ Q + 0.5 * np.eye(3)
    expected = {f"i{j:02}": (1 + 2.0 * r[j]) * Q[8] @ np.linalg.solve(A, Q[j]) for j in history}
    why = model.explain(4, "i08", n=None)
    np.testing.assert_allclose(why.contributions, [expected[i] for i in why.items], rtol=1e-6)


def test_contributions_to_a_row_system_sum_to_its_solution():
    """With every term that a system may have, against the solver."""
    rng = np.random.default_rng(0)
    Q, rows = rng.standard_normal((6, 3)), CSR(np.array([0, 4]), np.array([0, 2, 3, 5], dtype=np.int32), None, 6)
    system = RowSystem(
        rows,
        Q.T @ Q,
        background=0.7,
        regularization=np.array([9.0]),
        weights=rng.random(4),
        targets=rng.random(4),
        offsets=np.array([-1.5]),
        direction=rng.standard_normal(3),
        tilt=Tilt(rng.standard_normal((1, 3)), rng.standard_normal(3), np.array([0.3])),
    )
    expected = row_solve(system, Q, method="cholesky")[0]
    for shares in (None, np.array([0.1, 0.2, 0.3, 0.4])):
        sums = [row_contributions(system, Q, vector=axis, shares=shares).sum() for axis in np.eye(3)]
        np.testing.assert_allclose(sums, expected, rtol=1e-9)


def test_a_system_without_inverse_has_finite_contributions():
    """Two entries, three factors, no penalty: the smallest of its solutions is explained."""
    rng = np.random.default_rng(0)
    Q, rows = rng.standard_normal((6, 3)), CSR(np.array([0, 2]), np.array([0, 2], dtype=np.int32), None, 6)
    Q[:, 2] = 0.0  # a factor that no item has
    system = RowSystem(rows, Q.T @ Q, background=0.0, regularization=0.0)
    smallest = np.linalg.pinv(Q[[0, 2]]) @ np.ones(2)
    for axis, expected in zip(np.eye(3), smallest, strict=True):
        assert row_contributions(system, Q, vector=axis).sum() == pytest.approx(expected)


@pytest.mark.parametrize("name", CLOSED_FORM)
def test_what_cannot_be_explained_says_why(name, data, tmp_path):
    model = small(name).fit(data)
    with pytest.raises(UnknownIdError, match="fold_in"):
        model.explain("nobody", "i03")
    with pytest.raises(UnknownIdError, match="unknown item"):
        model.explain(0, "i99")
    with pytest.raises(ParameterError, match="n=0"):
        model.explain(0, "i03", n=0)
    model.save(tmp_path / "m.tr", with_seen=False)
    with pytest.raises(DataError, match="saved without the histories of its users"):
        tr.load(tmp_path / "m.tr").explain(0, "i03")
