"""What a fit tells while it runs, in one line."""

from __future__ import annotations

from typing import Any

FORMATS = {"loss": "loss {:.6g}", "residual": "residual {:.1e}", "metric": "validation {:.4f}", "seconds": "{:.1f} s"}


def progress_line(progress: Any) -> str:
    """Return step, loss, residual, metric and seconds, those that there are.

    >>> from taylorank.solvers import Progress
    >>> progress_line(Progress(7, 0.02))
    'step 7, residual 2.0e-02'
    """
    step = next((getattr(progress, name) for name in ("step", "sweep", "passes") if hasattr(progress, name)), "?")
    told = {name: getattr(progress, name, None) for name in FORMATS}
    return ", ".join([f"step {step}", *(FORMATS[name].format(v) for name, v in told.items() if v is not None)])
