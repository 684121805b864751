"""A student: small unit vectors that learn the distribution of a model of high rank."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np

from taylorank.checks import check_number, check_whole, typed
from taylorank.data import Interactions, read_interactions
from taylorank.errors import ParameterError, TaylorankError
from taylorank.kernels import ItemVectors
from taylorank.kernels.thread_limit import on_own_threads
from taylorank.models.factor import FACTOR_SHAPES, FactorModel, Floats
from taylorank.models.factor_fit import check_factors
from taylorank.models.fitting import FitMonitor, FitProgress, Step, as_before_on_failure
from taylorank.models.histories import training_data
from taylorank.models.parameters import check_parameters
from taylorank.models.recommender import Recommender
from taylorank.models.rg import RG2
from taylorank.models.student_descent import Descent
from taylorank.models.student_fold_in import StudentFoldIn
from taylorank.models.student_plan import Plan, settled_steps, user_weights
from taylorank.models.student_start import student_start
from taylorank.models.teacher import (
    fitted_teacher,
    from_settled,
    nested_params,
    set_nested,
    settled_teacher,
    without_users,
)
from taylorank.models.teacher_lists import history_lists, teacher_lists
from taylorank.progress import Show, narrated_fit
from taylorank.ranking import Ranker, Vectors
from taylorank.ranking.explanation import contributions_of
from taylorank.ranking.ranker import ranker_of
from taylorank.torch_extra import uses_cuda

LEAST_TEMPERATURE = 0.03  # below, e^(−2/T) is nothing in single precision


@dataclass(eq=False, repr=False)
class Distilled(FactorModel, Recommender):
    """Minimise Σ_x n_x^ρ Σ_y π_xy (log Σ_j e^s_xj − s_xy), s_xy = u_x·v_y / T + b_y, ‖u_x‖ = ‖v_y‖ = 1.

    π_xy ∝ max(p_xy, 0)^β on the `top` best items of x by the teacher's scores p, those that x has seen included. A fit
    of low rank by least squares spends its K numbers on magnitudes; ranking needs the order alone, and a model of high
    rank, which is cheap to fit, knows that order. All items are in the softmax: draws are no substitute.

    Parameters
    ----------
    teacher
        An unfitted or fitted model whose scores are shares or nearly so: RG2, EASE, anything with a `ranker`. One that
        was fitted to the data of `fit` is used as it is, any other is fitted to them as a copy (with no more factors
        than the data allows) and kept as `teacher_`. Its parameters are `teacher__regularization` and so on.
    factors
        K, the length of the vectors.
    top, sharpness
        How many items of a user the teacher lists, and β: above 1 the best of them count for more.
    temperature
        T. At least 0.03.
    bias
        Whether items have a bias b_y.
    context_exponent
        ρ: users weigh n_x^ρ, n_x being how many items they have.
    epochs, batch_size, learning_rate
        Of Adam; its rate falls to 0 along a cosine.
    steps
        The least number of steps, which takes smaller batches and more epochs where there are few users; by default
        2000, or as many as 2·10¹² operations allow.
    random_state
        Seed of the order of the users and of directions that the teacher does not have.
    device
        Where the student is fitted and ranks. "cpu": native kernels, without torch. "cuda": torch. "auto": cuda where
        torch sees one. The teacher has a parameter of its own.
    num_threads
        Threads of fitting and of recommending (None: all that the process may use); the result is the same.

    After fitting, `history_` has the loss of each epoch, the mean over users.

    >>> from taylorank.data import planted
    >>> train, valid, test = planted(200, 80, interactions=3000).split()
    >>> model = Distilled(RG2(32), factors=8, steps=100).fit(train)
    >>> model.recommend([0], n=3)[0].shape, model.get_params()["teacher__factors"]
    ((1, 3), 32)
    """

    teacher: Any = field(default_factory=lambda: RG2(1024))
    factors: int = 64
    _: KW_ONLY
    top: int = 1000
    sharpness: float = 1.0
    temperature: float = 0.1
    bias: bool = True
    context_exponent: float = 0.5
    epochs: int = 20
    steps: int | None = None
    batch_size: int = 2048
    learning_rate: float = 0.01
    random_state: int = 0
    device: Literal["auto", "cpu", "cuda"] = "auto"
    num_threads: int | None = None

    steps_compare: ClassVar[bool] = False  # the rate falls: unfinished fits say little
    learned_shapes: ClassVar[Mapping[str, tuple[str, ...]]] = {**FACTOR_SHAPES, "item_biases_": ("items",)}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; those of the teacher as teacher__name, if `deep`."""
        return nested_params(super().get_params(), self.teacher) if deep else super().get_params()

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name and return self; parameters of the teacher make it a new, unfitted one."""
        return super().set_params(**set_nested(self, params))

    def settled_params(self) -> dict[str, Any]:
        """Return the parameters, with the name and the parameters of the teacher in its place."""
        return {**self.get_params(deep=False), "teacher": settled_teacher(self.teacher)}

    @classmethod
    def from_settled(cls, params: Mapping[str, Any]) -> Self:
        """Return the unfitted model that has these `settled_params`."""
        return cls(**{**params, "teacher": from_settled(params["teacher"])})

    @on_own_threads
    def prepared(self, train: Any) -> Self:
        """Return this model, unfitted, with a teacher that is fitted to `train`: for many fits to the same data."""
        teacher = fitted_teacher(self.teacher, training_data(train))
        return type(self)(**{**self.get_params(deep=False), "teacher": teacher})

    @on_own_threads
    @narrated_fit
    @typed
    def fit(
        self,
        train: Any,
        valid: Interactions | None = None,
        callback: Callable[[FitProgress], object] | None = None,
        *,
        metric: str = "ndcg@10",
        progress: Show = None,
    ) -> Self:
        """Fit teacher and student to `train`: `Interactions`, or a SciPy matrix (users × items).

        `callback` is called with `FitProgress` after every epoch of the student and stops the fit by returning True.
        With `valid` the `metric` of the last epoch is in `history_`. `progress`: as in `RG2.fit`.
        """
        data = training_data(train)
        held_out = None if valid is None else read_interactions(valid)
        self._check()
        check_factors(self.factors, data)
        monitor = FitMonitor(valid=None, metric=metric, patience=1, callback=callback, checkpoint=None)
        with as_before_on_failure(self):
            teacher = fitted_teacher(self.teacher, data)
            self.train_, self.teacher_ = data, teacher
            self._teach(teacher, monitor)
            if held_out is not None:
                monitor.valid = held_out
                last = monitor.history[-1] if monitor.history else {}
                monitor.history.append({**last, "metric": monitor.measure(self)})
            self.history_ = monitor.history
        return self

    def _check(self) -> None:
        check_parameters(self)
        uses_cuda(self.device)  # refuses what is not there before the teacher is fitted
        check_whole(self.top, "top")
        check_number(self.sharpness, "sharpness", least=0.0)
        check_number(self.temperature, "temperature", least=LEAST_TEMPERATURE)
        check_number(self.context_exponent, "context_exponent", least=0.0)
        check_whole(self.batch_size, "batch_size")
        if self.steps is not None:
            check_whole(self.steps, "steps")
        if not isinstance(self.bias, bool | np.bool_):
            raise ParameterError(f"bias={self.bias!r} is not True or False", "give one of them")
        if self.learning_rate == 0:
            raise ParameterError("learning_rate=0 teaches nothing", "give a number > 0, such as 0.01")

    def _teach(self, teacher: Any, monitor: FitMonitor) -> None:
        device = "cuda" if uses_cuda(self.device) else "cpu"
        lists = teacher_lists(ranker_of(teacher), top=self.top, sharpness=self.sharpness, device=device)
        start = student_start(teacher, lists, factors=self.factors, random_state=self.random_state)
        if not lists.nnz:  # nobody has a history that tells items apart: the popular items are all there is
            self.user_factors_, self.item_factors_ = np.zeros_like(start[0]), start[1]
            self.item_biases_ = np.zeros(len(start[1]), dtype=np.float32)
            return
        plan = self._plan(lists)
        descent = self.descent(plan, start)
        for epoch, batches in enumerate(plan.batches(), 1):
            loss = float(sum(descent.learn(batch) for batch in batches)) / float(plan.weights.sum())
            if not np.isfinite(loss):
                raise TaylorankError("the student's scores overflow", "raise temperature or lower learning_rate")
            if monitor.after(self._step(epoch, loss, descent)):
                break
        self.user_factors_, self.item_factors_, self.item_biases_ = descent.snapshot()

    def descent(self, plan: Plan, start: tuple[Floats, Floats]) -> Any:
        """Return what makes the steps of `plan` on this model's device, from unit vectors of users and items."""
        if not uses_cuda(self.device):
            return Descent(plan, *start)
        from taylorank.models.student_torch import TorchDescent

        return TorchDescent(plan, *start, device="cuda")

    def _step(self, epoch: int, loss: float, descent: Any) -> Step:
        return Step(epoch, loss_of=lambda: loss, snapshot=lambda: self._with(descent.snapshot()), with_loss=True)

    def _plan(self, lists: Any) -> Plan:
        weights = user_weights(self.train_.by_user.row_lengths, lists, self.context_exponent)
        batch, epochs = settled_steps(
            int((weights > 0).sum()),
            lists.n_columns,
            factors=self.factors,
            batch_size=self.batch_size,
            epochs=self.epochs,
            steps=self.steps,
        )
        return Plan(
            lists,
            weights,
            temperature=self.temperature,
            bias=self.bias,
            learning_rate=self.learning_rate,
            batch=batch,
            epochs=epochs,
            random_state=self.random_state,
        )

    def _with(self, arrays: tuple[Floats, Floats, Floats]) -> Self:
        """This model with other vectors, as it is on the way."""
        model = copy.copy(self)
        model.user_factors_, model.item_factors_, model.item_biases_ = arrays
        return model

    def _build_ranker(self) -> Ranker:
        biases = self._learned("item_biases_")
        teacher = self.__dict__.get("teacher_")
        fold_in = StudentFoldIn(
            self.item_factors,
            biases,
            temperature=self.temperature,
            popularity=self.item_popularity,
            lists=history_lists if teacher is None else self._lists_of,
        )
        return self._ranker_with(
            vectors=Vectors(
                self._where_it_ranks("user_factors_"),
                ItemVectors(self._where_it_ranks("item_factors_")),
                scales=np.full(len(self.item_factors), 1 / self.temperature, dtype=np.float32),
                offsets=biases if self.bias else None,
                fold_in=fold_in,
            ),
            contributions=None if teacher is None else partial(contributions_of, ranker_of(teacher)),
        )

    def with_seen(self, data: Interactions) -> Self:
        """Return this model with the same vectors and other interactions of the same users, which are left out."""
        return self._for_others(data)

    def _lists_of(self, histories: Interactions) -> Any:
        """What the teacher says of new users."""
        folded = ranker_of(self.teacher_).for_histories(histories)
        return teacher_lists(folded, top=self.top, sharpness=self.sharpness)

    def save(
        self,
        file: str | os.PathLike[str],
        /,
        *,
        with_seen: bool = True,
        path: bool = False,
        keep_teacher: bool = False,
    ) -> None:
        """Write the model to one file, atomically; without its teacher unless `keep_teacher`.

        The teacher is large and serves two things only: without it `fold_in` teaches new users by their histories
        alone, π_xy = r_xy / I_x, and `explain` is refused. It is kept without its users.
        """
        from taylorank.models.storage import save_model

        teacher = self.__dict__.get("teacher_") if keep_teacher else None
        if keep_teacher and teacher is None:
            raise ParameterError("this model has no teacher to keep", "fit it, or load a file that has one")
        parts = {} if teacher is None else {"teacher_": without_users(teacher)}
        save_model(self, file, with_seen=with_seen, with_path=path, parts=parts)
