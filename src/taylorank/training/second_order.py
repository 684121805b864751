"""Training losses with a quadratic background by Newton's method: an epoch is an iteration, as in `FirstOrder`.

    L = mean over the positives of w ℓ + ½ λ Σ_x (c_x/C) ‖P_x‖² + ½ λ Σ_y q_y ‖Q_y‖² + ½ ω ‖θ‖²

λ is `regularization`, that of `objectives.rg` (a fitted RG2 has it as `penalty_`), and ω is `weight_decay`. ℓ is
without the constant of the squares, as for the other optimisers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from torch import Tensor

from taylorank import losses
from taylorank.data import Interactions
from taylorank.losses.quadratic_background import POSITIVE_LOSSES
from taylorank.objectives import RG2Objective, rg_objective
from taylorank.training.build import Parts
from taylorank.training.encoders import Encoders, Tables
from taylorank.training.newton import NewtonCG, NewtonRecipe
from taylorank.training.pair_objective import rg_pairs, with_positive_loss

PRECISIONS = {"float32": torch.float32, "float64": torch.float64}
RECORDED = ("gradient", "cg_steps", "ratio", "rate", "damping")


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
        options: Mapping[str, Any],
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
            proposal_exponent=options["proposal_exponent"],
            context_exponent=context_exponent,
            dtype=np.float64,
        )
        interaction = losses.get(loss).interaction
        objective = rg_pairs(rg, penalty=regularization, interaction=interaction or 0.0, dtype=dtype, device=device)
        if interaction is None:  # `check_composition` refuses what has no quadratic background
            f = POSITIVE_LOSSES[options["positive_loss"]]
            weight, target = options["background_weight"], options["background_target"]
            objective = with_positive_loss(objective, f, weight=weight, target=target)
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
        self.details = {name: float(value) for name, value in asdict(step).items() if name in RECORDED}
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
        run.finished = "it had ended before it was saved" if numbers[4] else ""
        run.encoders.write(run.theta)

    def set_parameters(self, values: list[Tensor]) -> None:
        """Overwrite all that is learned."""
        with torch.no_grad():
            for parameter, value in zip(self.parts.parameters(), values, strict=True):
                parameter.copy_(value)
