"""Which losses, backbones, samplers and optimisers go together, by what each declares; torch is not needed.

A composition has a name, `loss/backbone/sampler`, of which the last two may be left out: "softmax",
"sparsemax/lightgcn", "bpr/mf/dynamic".
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from taylorank import backbones, losses, samplers
from taylorank.errors import ParameterError, TrainingWarning

if TYPE_CHECKING:
    from taylorank.training.neural import Neural

DEFAULT_BACKBONE, DEFAULT_SAMPLER = "mf", "uniform"
SECOND_ORDER = "newton"
SPARSE = "sparse-adam"
NEWTON_PRECISIONS = ("float32", "float64")


def is_composition(name: str) -> bool:
    """Return whether `name` begins with a loss and has at most three parts."""
    parts = name.split("/")
    return len(parts) <= 3 and parts[0] in losses.names()


def parts_named(name: str) -> tuple[str, str, str | None]:
    """Return loss, backbone and sampler of a composition.

    >>> parts_named("bpr"), parts_named("bpr/lightgcn/dynamic")
    (('bpr', 'mf', None), ('bpr', 'lightgcn', 'dynamic'))
    """
    loss, *others = name.split("/")
    backbone, sampler = [*others, *(DEFAULT_BACKBONE, "")[len(others) :]]
    return loss, backbone, sampler or None


def composition_name(loss: str, backbone: str, sampler: str | None) -> str:
    """Return the shortest name of a composition; "rg2" alone is the closed form.

    >>> composition_name("bpr", "mf", "dynamic"), composition_name("softmax", "mf", None)
    ('bpr/mf/dynamic', 'softmax')
    >>> composition_name("rg2", "mf", None)
    'rg2/mf'
    """
    if sampler is not None:
        return f"{loss}/{backbone}/{sampler}"
    if backbone == DEFAULT_BACKBONE and not losses.get(loss).is_quadratic:
        return loss
    return f"{loss}/{backbone}"


def default_sampler(loss: str, sampler: str | None) -> str | None:
    """Return the sampler: the one asked for, uniform for a loss with draws, None for the others."""
    return sampler or (DEFAULT_SAMPLER if losses.get(loss).draws else None)


def default_penalty(model: Neural) -> float:
    """Return λ for a model whose regularization is "auto".

    Inner products on plain factors overfit the training data without a penalty. A graph
    smooths already, cosines are bounded, distances lie in a ball; what is trained by Newton's method has the λ of RG2.

    >>> from taylorank.training import Neural
    >>> [default_penalty(Neural(loss)) for loss in ("softmax", "bpr")]
    [0.1, 0.03]
    >>> default_penalty(Neural("softmax", temperature=0.2))
    0.0
    """
    if model.temperature is not None or model.optimizer == SECOND_ORDER:
        return 0.0
    return losses.get(model.loss).default_penalties.get(model.backbone, 0.0)


def option_of_loss(model: Neural, name: str) -> Any:
    """Return an option of the loss: the one given, or its default; None where the loss has no such option."""
    return (model.options or {}).get(name, losses.get(model.loss).options.get(name))


def options_by_part(model: Neural) -> tuple[dict[str, Any], ...]:
    """Give each option of a model to the part that has it: (of the loss, of the backbone, of the sampler)."""
    sampler = default_sampler(model.loss, model.sampler)
    registered: list[Mapping[str, Any]] = [losses.get(model.loss).options, backbones.get(model.backbone).options]
    registered.append({} if sampler is None else samplers.get(sampler).options)
    given = model.options or {}
    for name in given:
        if not any(name in known for known in registered):
            have = ", ".join(sorted(set().union(*registered))) or "none"
            parts = "/".join(part for part in (model.loss, model.backbone, sampler) if part)
            raise ParameterError(f"{parts} has no option {name!r}", f"its options: {have}")
    of_loss, of_backbone, of_sampler = ({n: v for n, v in given.items() if n in known} for known in registered)
    return of_loss, of_backbone, of_sampler


def check_composition(model: Neural) -> None:
    """Refuse parts that cannot work together, and options that none of them has, with the reason."""
    loss, backbone = losses.get(model.loss), backbones.get(model.backbone)
    if model.sampler is not None:
        _check_sampler(loss, samplers.get(model.sampler))
    if model.temperature is not None and loss.scoring == "distance":
        raise ParameterError(
            f"{loss.name} ranks by distances, which temperature={model.temperature} does not scale",
            "leave the temperature out",
        )
    if model.temperature is None and loss.needs_bounded_scores:
        raise ParameterError(
            f"{loss.name} falls without end where scores may grow",
            f"give a temperature, such as {loss.default_temperature:g}, which makes them cosines",
        )
    if model.context_exponent != 1 and backbone.takes == "sequences":
        raise ParameterError(
            f"{backbone.name} counts every place of a history alike, so context_exponent={model.context_exponent:g} "
            "would do nothing",
            "leave it out",
        )
    if model.teacher is not None:
        _check_taught(model, loss, backbone)
    else:
        _check_no_lists(model)
    if model.optimizer == SPARSE:
        _check_sparse(loss, backbone)
    options_by_part(model)
    if model.optimizer == SECOND_ORDER:
        _check_second_order(model, loss, backbone)
    elif model.precision == "float64":
        raise ParameterError("precision='float64' is for newton", "choose float32 or bfloat16")


def _check_no_lists(model: Neural) -> None:
    """Refuse options of a teacher's lists where there is no teacher."""
    for name in ("top", "sharpness"):
        if getattr(model, name) != type(model).__dataclass_fields__[name].default:
            raise ParameterError(
                f"{name}={getattr(model, name)} is of a teacher's lists, and there is no teacher",
                "give a teacher, such as RG2, or leave it out",
            )


def _check_taught(model: Neural, loss: losses.Loss, backbone: backbones.RegisteredBackbone) -> None:
    """Refuse a teacher where there is nothing to learn from lists."""
    if loss.batch_of != "users":
        raise ParameterError(
            f"a teacher's lists are learned by a loss over all items, which {loss.name} is not", "choose softmax"
        )
    if backbone.takes != "users":
        raise ParameterError(
            f"a teacher has one list of each user, and {backbone.name} learns from every place of a history",
            "choose mf, lightgcn or two-tower",
        )
    if model.optimizer == SECOND_ORDER:
        raise ParameterError("newton learns from the data, not from a teacher's lists", "choose optimizer='adam'")


def _check_sampler(loss: losses.Loss, sampler: samplers.RegisteredSampler) -> None:
    if not loss.draws:
        raise ParameterError(
            f"{loss.name} draws no negatives, so sampler={sampler.name!r} would do nothing", "leave the sampler out"
        )
    if loss.needs_log_q and not sampler.knows_log_q:
        able = " or ".join(one.name for one in samplers.SAMPLERS.values() if one.knows_log_q)
        raise ParameterError(
            f"{loss.name} needs the probability of each draw, which sampler={sampler.name!r} does not know",
            f"choose {able}, or sampled-softmax as the loss",
        )


def _check_sparse(loss: losses.Loss, backbone: backbones.RegisteredBackbone) -> None:
    """Refuse a composition of which a part has dense gradients."""
    if not (loss.draws and backbone.has_sparse_gradients):
        able = " or ".join(one.name for one in backbones.BACKBONES.values() if one.has_sparse_gradients)
        raise ParameterError(
            f"sparse-adam needs a loss with draws on {able}, not {loss.name} on {backbone.name}",
            "choose optimizer='adam'",
        )
    if loss.has_parameters:
        raise ParameterError(f"sparse-adam cannot move what {loss.name} itself learns", "choose optimizer='adam'")


def _check_second_order(model: Neural, loss: losses.Loss, backbone: backbones.RegisteredBackbone) -> None:
    """Refuse newton for what has no second-order steps."""
    if not loss.has_quadratic_background:
        raise ParameterError(
            f"newton needs a loss that is quadratic in the scores of all items, which {loss.name} is not",
            f"choose {' or '.join(newton_losses())}, or optimizer='adam'",
        )
    if backbone.takes != "users":
        able = [one.name for one in backbones.BACKBONES.values() if one.takes == "users"]
        raise ParameterError(
            f"newton needs one vector per user, and {backbone.name} has one for every place of a history",
            f"choose {', '.join(able[:-1])} or {able[-1]}, or optimizer='adam'",
        )
    if model.precision not in NEWTON_PRECISIONS:
        raise ParameterError(
            f"newton cannot use precision={model.precision!r}", f"choose {' or '.join(NEWTON_PRECISIONS)}"
        )
    if model.compile:
        raise ParameterError("newton has no step to compile", "leave out compile, or choose optimizer='adam'")
    activation = (model.options or {}).get("activation", backbone.options.get("activation"))
    if activation == "relu":
        warnings.warn(
            "newton sees no curvature of activation='relu', whose second derivative is 0; choose gelu or softplus",
            TrainingWarning,
            stacklevel=5,
        )
    refresh = option_of_loss(model, "refresh")
    if refresh not in (None, 1):
        raise ParameterError(f"newton always looks at all items; refresh={refresh!r} would do nothing", "leave it out")


def newton_losses() -> list[str]:
    """Return the names of the losses that Newton's method minimises."""
    return [name for name, loss in losses.LOSSES.items() if loss.has_quadratic_background]
