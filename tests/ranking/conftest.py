"""Models that are what they are given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from taylorank.data import Interactions
from taylorank.kernels import ItemVectors
from taylorank.ranking import Ranker, Vectors


@dataclass(frozen=True)
class Table:
    """A model that is its matrix of scores."""

    seen: Interactions
    values: np.ndarray

    @property
    def ranker(self):
        return Ranker(self.seen.users, self.seen.items, self.seen, name=type(self).__name__, **self.parts())

    def parts(self):
        return {"scores": self.scores}

    def scores(self, users):
        return self.values[users]


@dataclass(frozen=True)
class Products(Table):
    """The same scores as products of factors: `values` times the identity, which loses no bit."""

    def parts(self):
        return {"vectors": Vectors(self.values, ItemVectors(np.eye(self.seen.n_items, dtype=np.float32)))}


@dataclass(frozen=True)
class Stating(Table):
    """A model whose scores are probabilities."""

    def parts(self):
        return {"scores": self.scores, "probabilities": self.scores}


@pytest.fixture(scope="session")
def table():
    return Table


@pytest.fixture(scope="session")
def products():
    return Products


@pytest.fixture(scope="session")
def stating():
    return Stating
