"""PyTorch is an extra: what needs it says so in one line where it is missing."""

from __future__ import annotations

from importlib.util import find_spec

from taylorank.errors import MissingExtraError


def require_torch() -> None:
    """Raise `MissingExtraError` where PyTorch is not installed."""
    if find_spec("torch") is None:
        raise MissingExtraError("torch is not installed", "pip install 'taylorank[torch]'")
