"""Data to tune on."""

from __future__ import annotations

import pytest

import taylorank as tr


@pytest.fixture(scope="module")
def small_parts():
    return tr.planted(300, 120, interactions=6000, random_state=3).split()
