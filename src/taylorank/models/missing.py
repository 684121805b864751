"""Methods that some models have and others cannot have: what to do in their place."""

from __future__ import annotations

from taylorank.errors import MissingMethodError

# Method → what a model without it should do.
REMEDIES = {
    "partial_fit": "fit again to tr.merge([train, more]); models that can be updated: RG2, RGX, IALS, WRMF, SampledRG2",
    "path": 'RG2 and RGX with solver="spectral" have one',
    "similar_items": "factor models, EASE and ItemKNN have it",
    "similar_users": "factor models, such as RG2 and IALS, have it",
    "export_factors": "factor models, such as RG2 and IALS, have vectors",
}


def check_missing(model: object, name: str) -> None:
    """Raise if `name` is a method that this kind of model does not have; the error is an `AttributeError` too."""
    if name in REMEDIES and not hasattr(type(model), name):
        raise MissingMethodError(f"{type(model).__name__} has no {name}", REMEDIES[name])
