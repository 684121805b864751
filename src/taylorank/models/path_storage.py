"""The SVD of a spectral fit in a model file, so that `path()` works after loading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from taylorank.errors import ParameterError
from taylorank.kernels.arrays import to_numpy
from taylorank.models.recommender import Recommender
from taylorank.solvers import SpectralPath
from taylorank.solvers.svd import Svd

# Arrays of the file and their axes; the proposal is among the learned values of the model.
PATH_SHAPES = {
    "path.left": ("users", "path"),
    "path.values": ("path",),
    "path.right": ("items", "path"),
    "path.residuals": ("path",),
    "path.context": ("users",),
}


def pack_path(model: Recommender, *, with_seen: bool) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays and the facts that a file keeps of the path of a fit."""
    path: SpectralPath | None = model.__dict__.get("path_")
    if path is None:
        raise ParameterError(
            f"this {type(model).__name__} has no path to keep", 'fit RG2 or RGX with solver="spectral", and save that'
        )
    if not with_seen or not model._trained_on.is_of(model.seen):
        raise ParameterError("a path is of the users that were fitted", "save the fitted model, with its seen items")
    svd = path.svd
    arrays = to_numpy(svd.left), svd.values, to_numpy(svd.right), svd.residuals, path.context
    facts = {"passes": int(svd.passes), "converged": bool(svd.converged), "plain_weight": path.plain_weight}
    return dict(zip(PATH_SHAPES, arrays, strict=True)), facts


def unpack_path(
    part: Callable[[str, tuple[str, ...]], NDArray[Any]], facts: Mapping[str, Any], proposal: NDArray[Any]
) -> SpectralPath:
    """Return the path of a file; `part` gives an array by name after comparing its shape with the axes."""
    left, values, right, residuals, context = (part(name, axes) for name, axes in PATH_SHAPES.items())
    svd = Svd(left, values, right, residuals, int(facts["passes"]), bool(facts["converged"]))
    return SpectralPath(svd, proposal, context, facts["plain_weight"])
