"""Training RG² and RG× by Newton's method, with the interface of `FirstOrder`: an epoch is an iteration.

    L = mean over the positives of w ℓ + ½ λ Σ_x (c_x/C) ‖P_x‖² + ½ λ Σ_y q_y ‖Q_y‖² + ½ ω ‖θ‖²

λ is `regularization`, that of `objectives.rg` (a fitted RG2 has it as `penalty_`), and ω is `weight_decay`. ℓ is
without the constant of the squares, as for the other optimisers.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from taylorank import backbones
from taylorank.data import Interactions
from taylorank.errors import ParameterError
from taylorank.objectives import RG2Objective, rg_objective
from taylorank.training.composition import option_of_loss
from taylorank.training.encoders import Encoders
from taylorank.training.first_order import Parts
from taylorank.training.newton import NewtonCG, NewtonRecipe
from taylorank.training.pair_objective import rg_pairs
from taylorank.training.tables import Tables

if TYPE_CHECKING:
    from taylorank.training.neural import Neural

NAME = "newton"
INTERACTION = {"rg2": 0.0, "rgx": 1.0}  # κ of the losses that are quadratic in the scores
PRECISIONS = {"float32": torch.float32, "float64": torch.float64}
TOLD = ("gradient", "cg_steps", "ratio", "rate", "damping")


def check_order(model: Neural) -> None:
    """Refuse newton for what has no second-order steps, with the reason; and what newton alone has, for the others."""
    if model.optimizer != NAME:
        if model.precision == "float64":
            raise ParameterError("precision='float64' is for newton", "choose float32 or bfloat16")
        return
    if model.loss not in INTERACTION:
        raise ParameterError(
            f"newton needs a loss that is quadratic in the scores, which {model.loss} is not",
            "choose rg2 or rgx, or optimizer='adam'",
        )
    if backbones.get(model.backbone).takes != "users":
        raise ParameterError(
            f"newton needs one vector per user, and {model.backbone} has one for every place of a history",
            "choose mf, lightgcn or two-tower, or optimizer='adam'",
        )
    if model.precision not in PRECISIONS:
        raise ParameterError(f"newton cannot use precision={model.precision!r}", f"choose {' or '.join(PRECISIONS)}")
    if model.compile:
        raise ParameterError("newton has no step to compile", "leave out compile, or choose optimizer='adam'")
    refresh = option_of_loss(model.loss, model.options or {}, "refresh")
    if refresh != 1:
        raise ParameterError(f"newton always looks at all items; refresh={refresh!r} would do nothing", "leave it out")


class SecondOrder:
    """One run of Newton-CG over the parameters of a backbone."""

    def __init__(
        self,
        parts: Parts,
        data: Interactions,
        recipe: NewtonRecipe,
        *,
        loss: str,
        regularization: float,
        proposal_exponent: float,
        context_exponent: float,
        precision: str = "float32",
        row_batch: int | None = None,
    ) -> None:
        self.parts = parts
        dtype = PRECISIONS[precision]
        parts.backbone.to(dtype)
        device = next(parts.backbone.parameters()).device.type
        rg = rg_objective(
            RG2Objective,
            data,
            proposal_exponent=proposal_exponent,
            context_exponent=context_exponent,
            dtype=np.float64,
        )
        objective = rg_pairs(rg, penalty=regularization, interaction=INTERACTION[loss], dtype=dtype, device=device)
        tables = parts.backbone.tables
        encoders: Any = Encoders.of_backbone(parts.backbone, row_batch=row_batch) if tables is None else Tables(*tables)
        self.run = NewtonCG(encoders, objective, recipe)
        self.details: dict[str, float] = {}

    @property
    def epochs_done(self) -> int:
        """Iterations so far."""
        return self.run.iterations

    @property
    def finished(self) -> str:
        """Why there is no more to do; empty while there is."""
        return self.run.finished

    def epoch(self) -> float:
        """Make one iteration; return the loss after it."""
        step = self.run.step()
        self.details = {name: float(value) for name, value in asdict(step).items() if name in TOLD}
        self.run.encoders.write(self.run.theta)
        return step.loss

    def state(self) -> dict[str, Tensor]:
        """Copy all that the next iteration depends on."""
        run = self.run
        numbers = [run.damping, run.largest_gradient, run.first_loss, float(run.iterations), float(bool(run.finished))]
        return {"theta": run.theta.clone(), "numbers": torch.tensor(numbers, dtype=torch.float64)}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go back to what `state` returned."""
        run, numbers = self.run, [float(value) for value in state["numbers"]]
        run.move(state["theta"].to(run.theta.device))
        run.damping, run.largest_gradient, run.first_loss = numbers[:3]
        run.iterations = int(numbers[3])
        run.finished = "it was over when it was kept" if numbers[4] else ""
        run.encoders.write(run.theta)

    def set_parameters(self, values: list[Tensor]) -> None:
        """Overwrite all that is learned."""
        with torch.no_grad():
            for parameter, value in zip(self.parts.parameters(), values, strict=True):
                parameter.copy_(value)
