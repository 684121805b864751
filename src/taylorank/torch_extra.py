"""The neural half of the library needs PyTorch, which a plain install does not bring."""

from __future__ import annotations

import importlib.util

from taylorank.errors import MissingExtraError


def require_torch() -> None:
    """Say what to install where torch is missing."""
    if importlib.util.find_spec("torch") is None:
        raise MissingExtraError("torch is not installed", "pip install 'taylorank[torch]'")
