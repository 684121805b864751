"""Newton's method with conjugate gradients for two encoders, over all pairs.

    θ ← θ + ρ d,   (H + μ D) d ≈ −g,   L(θ) = f(P(θ), Q(θ)) + ½ ω ‖θ‖²

f is a `PairObjective`; its value, gradient and curvature come through Gram matrices. H is the full Hessian, or its
Gauss-Newton part, which is positive semidefinite but does not give superlinear convergence here: at the optimum of a
rank-K model the residuals are large. CG stops at the forcing tolerance η = min(½, √(|g|/max |g|)), or at negative
curvature, which it follows. ρ comes from backtracking. μ (Levenberg-Marquardt) rises where the quadratic model
predicts a larger decrease than the step gives, and falls where the two agree.

Nocedal, Wright, "Numerical Optimization", chapter 7; Yuan et al., "Efficient optimization for extreme similarity
learning", KDD 2021, for the products over all pairs.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import torch
from torch import Tensor

from taylorank.checks import check_number, check_whole
from taylorank.errors import ParameterError, TrainingError
from taylorank.training.conjugate import Direction, truncated_cg
from taylorank.training.encoders import Encoders, Tables
from taylorank.training.pair_objective import PairObjective, PairPoint
from taylorank.training.preconditioner import RowBlocks, RowNorms

ARMIJO = 1e-4
HALVINGS = 30
FARTHEST = 2.0**20
LEAST_DAMPING = 1e-10
CURVATURES = ("hessian", "gauss-newton")


@dataclass(frozen=True)
class NewtonRecipe:
    """How to minimise."""

    weight_decay: float = 0.0  # ω
    curvature: str = "hessian"  # or "gauss-newton"
    cg_steps: int = 100  # at most, per iteration
    damping: float = 1e-2  # μ at first
    tolerance: float = 1e-9  # stop when the predicted decrease is below this share of the decrease so far

    def __post_init__(self) -> None:
        check_whole(self.cg_steps, "cg_steps")
        for name in ("weight_decay", "damping", "tolerance"):
            check_number(getattr(self, name), name, least=0)
        if self.curvature not in CURVATURES:
            raise ParameterError(f"curvature={self.curvature!r} is unknown", f"choose {' or '.join(CURVATURES)}")


@dataclass(frozen=True)
class NewtonStep:
    """What one iteration did."""

    iteration: int
    loss: float  # after it
    gradient: float  # |g| before it
    cg_steps: int
    ratio: float  # of the actual decrease to the one that the quadratic model predicts
    rate: float  # ρ
    damping: float  # μ that was used
    convex: bool  # False: CG found negative curvature
    seconds: float


class NewtonCG:
    """One run: `step()` makes an iteration and returns its record; `finished` says why there is no more to do.

    >>> from taylorank.data import planted
    >>> from taylorank.objectives import RG2Objective, rg_objective
    >>> from taylorank.training.pair_objective import rg_pairs
    >>> rg = rg_objective(RG2Objective, planted(50, 30, interactions=400), proposal_exponent=0.5, context_exponent=1.0)
    >>> draw = torch.Generator().manual_seed(0)
    >>> P, Q = (torch.nn.Parameter(0.1 * torch.randn(rows, 4, generator=draw)) for rows in (50, 30))
    >>> run = NewtonCG(Tables(P, Q), rg_pairs(rg, penalty=0.1))
    >>> losses = [run.step().loss for _ in range(3)]
    >>> losses == sorted(losses, reverse=True)
    True
    """

    def __init__(
        self, encoders: Encoders | Tables, objective: PairObjective, recipe: NewtonRecipe | None = None
    ) -> None:
        self.encoders, self.objective, self.recipe = encoders, objective, recipe or NewtonRecipe()
        self.theta: Tensor = encoders.start()
        self.damping = self.recipe.damping
        self.iterations = 0
        self.finished = ""
        _check_alike(*encoders.vectors(self.theta), objective.targets.dtype)
        self.point, self.loss = self._at(self.theta)
        self.first_loss = self.loss
        self.largest_gradient = 0.0
        if not math.isfinite(self.loss):
            raise TrainingError(f"the loss is {self.loss} at the start", "begin at smaller or other parameters")

    def step(self) -> NewtonStep:
        """Make one iteration; where nothing decreases the loss any more θ stays, and `finished` says why."""
        began = time.perf_counter()
        g = self.gradient()
        size = float(torch.linalg.vector_norm(g))
        if not size and not self.iterations:
            raise TrainingError("the gradient is 0 at the start, a saddle", "begin at random parameters (std above 0)")
        self.largest_gradient = max(self.largest_gradient, size)
        used, shape = self.damping, self._shape(g)
        found = self._direction(g, shape, size)
        predicted = self._predicted_decrease(g, found, 1.0, shape)
        rate, point, loss = self._search(g, found, size)
        ratio = (self.loss - loss) / max(self._predicted_decrease(g, found, rate, shape), 1e-300) if rate else 0.0
        self._adapt_damping(ratio, rate)
        if rate:
            self.theta, self.point, self.loss = self.theta + rate * found.step, point, loss
            self._stop_if_converged(predicted, used)
        self.iterations += 1
        seconds = time.perf_counter() - began
        return NewtonStep(self.iterations, self.loss, size, found.steps, ratio, rate, used, found.is_convex, seconds)

    def move(self, theta: Tensor) -> None:
        """Go to another θ."""
        self.theta = theta
        self.point, self.loss = self._at(theta)

    def gradient(self) -> Tensor:
        """∂L/∂θ."""
        return self.encoders.pull(self.theta, self.point.gradient) + self.recipe.weight_decay * self.theta

    def product(self, direction: Tensor) -> Tensor:
        """H d, without damping."""
        if self.recipe.curvature == "gauss-newton":
            product = self._gauss_newton(direction)
        else:
            products = self.point.hessian(*self.encoders.push(self.theta, direction))
            product = self.encoders.pull_with_curvature(
                self.theta, products, direction=direction, gradients=self.point.gradient
            )
        return product + self.recipe.weight_decay * direction

    def _shape(self, g: Tensor) -> RowBlocks | RowNorms:
        decay = self.recipe.weight_decay
        if isinstance(self.encoders, Tables):
            return RowBlocks(self.encoders, self.point, decay=decay)
        return RowNorms(self._gauss_newton, g, random_state=self.iterations, floor=decay)

    def _gauss_newton(self, direction: Tensor) -> Tensor:
        along = self.encoders.push(self.theta, direction)
        return self.encoders.pull(self.theta, self.point.gauss_newton(*along))

    def _direction(self, g: Tensor, shape: RowBlocks | RowNorms, size: float) -> Direction:
        return truncated_cg(
            lambda p: self.product(p) + shape.damped(p, self.damping),
            g,
            precondition=lambda r: shape.solve(r, self.damping),
            tolerance=min(0.5, math.sqrt(size / self.largest_gradient)) if size else 0.5,
            most=self.recipe.cg_steps,
        )

    def _predicted_decrease(self, g: Tensor, found: Direction, rate: float, shape: RowBlocks | RowNorms) -> float:
        """The decrease that the undamped quadratic model predicts for a step of this rate."""
        d = found.step
        curvature = found.curvature(g) - float(d @ shape.damped(d, self.damping))
        return -rate * float(g @ d) - 0.5 * rate**2 * curvature

    def _search(self, g: Tensor, found: Direction, size: float) -> tuple[float, PairPoint, float]:
        """Return the rate, the point and the loss there.

        The rate is halved until the loss falls enough, and doubled where the model has no minimum.
        """
        slope, rate = float(g @ found.step), 1.0
        for _ in range(HALVINGS):
            point, loss = self._at(self.theta + rate * found.step)
            if loss <= self.loss + ARMIJO * rate * slope:  # not if it is no number
                break
            rate *= 0.5
        else:
            self._give_up(size)
            return 0.0, self.point, self.loss
        while not found.is_convex and 1 <= rate < FARTHEST:
            beyond, further = self._at(self.theta + 2 * rate * found.step)
            if not further < loss:
                break
            rate, point, loss = 2 * rate, beyond, further
        return rate, point, loss

    def _give_up(self, size: float) -> None:
        """No step along d decreases the loss: rounding, a loss that is not smooth, or damping that is too small."""
        precision = math.sqrt(torch.finfo(self.theta.dtype).eps)
        if size <= precision * self.largest_gradient:
            self.finished = f"the loss is at the rounding error of {self.theta.dtype}"
        elif self.damping > 1e6:
            raise TrainingError(
                f"no step decreases the loss, which is {self.loss:.6g} with a gradient of {size:.3g}",
                "check that the encoders are smooth and finite, or use precision='float64'",
            )

    def _adapt_damping(self, ratio: float, rate: float) -> None:
        if rate == 0:
            self.damping = max(100 * self.damping, 1e-4)
        elif ratio < 0.25:
            self.damping = max(4 * self.damping, 1e-6)
        elif ratio > 0.75 and rate >= 1:
            self.damping = max(self.damping / 4, LEAST_DAMPING)

    def _stop_if_converged(self, predicted: float, damping: float) -> None:
        """Finish where the predicted decrease is small, unless damping alone makes it so."""
        gained = max(self.first_loss, 0.0) - self.loss  # since the start, or since zero vectors, whose loss is 0
        if predicted <= self.recipe.tolerance * gained and damping <= 1:
            self.finished = "the quadratic model predicts no further decrease"

    def _at(self, theta: Tensor) -> tuple[PairPoint, float]:
        """The vectors at θ with what follows from them, and the loss."""
        point = self.objective.at(*self.encoders.vectors(theta))
        return point, point.value + 0.5 * self.recipe.weight_decay * float(theta.double().square().sum())


def _check_alike(users: Tensor, items: Tensor, dtype: torch.dtype) -> None:
    """Refuse vectors that cannot be multiplied, or whose numbers are not those of the objective."""
    if users.shape[1] != items.shape[1]:
        raise ParameterError(f"users have {users.shape[1]} factors and items {items.shape[1]}", "make them equal")
    if not users.dtype == items.dtype == dtype:
        raise ParameterError(
            f"the vectors are {users.dtype} and {items.dtype}, the objective {dtype}", "give all the same dtype"
        )
