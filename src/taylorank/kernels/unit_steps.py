"""Adam on vectors of which only the direction counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taylorank.errors import ParameterError
from taylorank.kernels import backend, softmax_reference
from taylorank.kernels.aligned import in_order
from taylorank.kernels.checked import checked_single

Singles = NDArray[np.float32]


def unit_adam(
    raw: Singles,
    unit: Singles,
    gradient: Singles,
    moments: tuple[Singles, Singles],
    *,
    rate: float,
    epsilon: float = 1e-12,
    decays: tuple[float, float] = (0.9, 0.999),
    num_threads: int | None = None,
) -> None:
    """Make a step of Adam on the rows of u = w / ‖w‖, in place, given the gradient g by u; all (n, K), C-contiguous.

    t = (g − (g·u) u) / ‖w‖, m ← β₁ m + (1 − β₁) t, s ← β₂ s + (1 − β₂) t², w ← w − rate · m / (√s + ε),
    u ← w / ‖w‖. `raw` is w, `unit` u, `moments` are m and s; `rate` and `epsilon` hold the corrections for first steps.

    >>> w = np.array([[3.0, 4.0]], dtype=np.float32)
    >>> u, g, moments = w / 5, np.array([[1.0, 0.0]], dtype=np.float32), (np.zeros_like(w), np.zeros_like(w))
    >>> unit_adam(w, u, g, moments, rate=0.1, decays=(0.0, 0.0))  # along the sign of t = (0.128, -0.096)
    >>> w.round(3)
    array([[2.9, 4.1]], dtype=float32)
    """
    for name, array in (("raw", raw), ("unit", unit), ("first moments", moments[0]), ("second moments", moments[1])):
        if array.dtype != np.float32 or array.shape != raw.shape or array.ndim != 2 or not array.flags.carray:
            raise ParameterError(
                f"{name} are {array.dtype} {array.shape}, read-only or not in order",
                f"pass a C-contiguous float32 array like the others, of shape {raw.shape}",
            )
    gradient = in_order(gradient, dtype=np.float32)
    if gradient.shape != raw.shape:
        raise ParameterError(f"the gradient has shape {gradient.shape}", f"pass an array of shape {raw.shape}")
    rate, epsilon = checked_single(rate, name="rate"), checked_single(epsilon, name="epsilon")
    if backend.native is None:
        softmax_reference.unit_adam(raw, unit, gradient, moments, rate=rate, epsilon=epsilon, decays=decays)
        return
    backend.native.unit_adam(
        raw,
        unit,
        gradient,
        *moments,
        rate,
        epsilon,
        *decays,
        level=backend.simd_level(),
        threads=backend.thread_count(num_threads),
    )
