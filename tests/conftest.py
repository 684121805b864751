"""Shared fixtures and where the real data is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("fast", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fast")


def real_data_folder() -> Path | None:
    """The folder of real data sets, or None where it is absent."""
    named = [Path(p) for p in os.environ.get("TAYLORANK_DATA", "").split(os.pathsep) if p]
    return next((p for p in named if p.is_dir()), None)


@pytest.fixture(scope="session")
def real_data() -> Path:
    folder = real_data_folder()
    if folder is None:
        pytest.skip("the real data sets are not here: set TAYLORANK_DATA to their folder")
    return folder
