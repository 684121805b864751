"""Progress of a fit in one line."""

from __future__ import annotations

from taylorank.models import FitProgress

FORMATS = {"loss": "loss {:.6g}", "residual": "residual {:.1e}", "metric": "validation {:.4f}", "seconds": "{:.1f} s"}


def progress_line(progress: FitProgress) -> str:
    """Return step, loss, residual, metric and seconds, those that are known.

    >>> progress_line(FitProgress(7, 1.25, residual=0.02))
    'step 7, residual 2.0e-02, 1.2 s'
    """
    values = {name: getattr(progress, name) for name in FORMATS}
    known = [FORMATS[name].format(value) for name, value in values.items() if value is not None]
    return ", ".join([f"step {progress.step}", *known])
