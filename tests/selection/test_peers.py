"""The peers behind our interface are the peers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import taylorank as tr
from taylorank.errors import MissingExtraError
from taylorank.selection.peers import PEERS, peer


@pytest.fixture(scope="module")
def train():
    return tr.planted(200, 60, interactions=4000, random_state=3).split()[0]


def test_implicit_fits_with_its_own_code(train):
    als = pytest.importorskip("implicit.cpu.als")
    ours = peer("implicit-als").set_params(factors=6, alpha=3.0, regularization=0.5, iterations=4).fit(train)
    theirs = als.AlternatingLeastSquares(
        factors=6, alpha=3.0, regularization=0.5, iterations=4, random_state=0, num_threads=1
    )
    theirs.fit(sparse.csr_matrix(train.matrix), show_progress=False)
    assert ours.scores(np.arange(5)) == pytest.approx(theirs.user_factors[:5] @ theirs.item_factors.T, abs=1e-4)


def test_irspack_fits_with_its_own_code(train):
    module = pytest.importorskip("irspack.recommenders.ials")
    ours = peer("irspack-ials").set_params(factors=6, unobserved_weight=0.2, iterations=4).fit(train)
    theirs = module.IALSRecommender(
        sparse.csr_matrix(train.matrix), n_components=6, alpha0=0.2, reg=0.003, nu=1.0, train_epochs=4, random_seed=0
    )
    theirs.learn()
    assert ours.scores(np.arange(5)) == pytest.approx(theirs.get_score(np.arange(5)), abs=1e-4)


@pytest.mark.parametrize("name", PEERS)
def test_sweeps_are_steps_and_new_users_folded_in(train, name):
    pytest.importorskip(name.partition("-")[0])
    steps = []
    model = peer(name).set_params(factors=6, iterations=12)
    model.fit(train, callback=lambda p: steps.append((p.step, p.model().user_factors.copy())))
    assert [step for step, _ in steps] == list(range(1, 13))
    assert np.abs(steps[0][1] - steps[-1][1]).max() > 1e-3  # snapshots are copies
    folded = model.fold_in(train)  # the same users again: nearly what the last half-sweep gave them
    known = np.corrcoef(folded.scores(np.arange(200)).ravel(), model.scores(np.arange(200)).ravel())[0, 1]
    assert known > 0.99


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "implicit", None)
    with pytest.raises(MissingExtraError, match=r"implicit is not installed; pip install 'taylorank\[peers\]'"):
        peer("implicit-als")
