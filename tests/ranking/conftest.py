"""Models that are what they are given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from taylorank.data import Interactions


@dataclass(frozen=True)
class Table:
    """A model that is its matrix of scores."""

    seen: Interactions
    values: np.ndarray

    @property
    def users(self):
        return self.seen.users

    @property
    def items(self):
        return self.seen.items

    def scores(self, users):
        return self.values[users]


@dataclass(frozen=True)
class Products(Table):
    """The same scores as products of factors: `values` times the identity, which loses no bit."""

    def export_factors(self):
        return self.values, np.eye(len(self.items), dtype=np.float32)


@dataclass(frozen=True)
class Stating(Table):
    """A model whose scores are probabilities."""

    def probabilities(self, users):
        return self.values[users]


@pytest.fixture(scope="session")
def table():
    return Table


@pytest.fixture(scope="session")
def products():
    return Products


@pytest.fixture(scope="session")
def stating():
    return Stating
