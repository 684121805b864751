"""The softmax family as an estimator: a loss on a backbone, with draws from a sampler, trained by gradients."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from taylorank import backbones, losses
from taylorank.checks import check_number, check_whole, typed
from taylorank.data import CSR, Interactions, read_interactions
from taylorank.errors import ParameterError
from taylorank.kernels import ItemVectors
from taylorank.models.checkpoint import open_checkpoint
from taylorank.models.factor import FACTOR_SHAPES, FactorModel, Floats
from taylorank.models.factor_fit import check_factors
from taylorank.models.fitting import FitMonitor, FitProgress, as_before_on_failure
from taylorank.models.histories import training_data
from taylorank.models.parameters import check_parameters
from taylorank.models.recommender import Recommender
from taylorank.models.teacher import fitted_teacher, from_settled, nested_params, set_nested, settled_teacher
from taylorank.models.teacher_lists import teacher_lists
from taylorank.progress import Show, narrated_fit
from taylorank.ranking import Ranker, Vectors
from taylorank.ranking.ranker import ranker_of
from taylorank.torch_extra import require_torch, without_torch_warnings
from taylorank.training.composition import check_composition, composition_name, default_penalty

LEAST_PATIENCE = 5
CHOICES = {
    "optimizer": ("adam", "adamw", "sgd", "sparse-adam", "newton"),
    "schedule": ("constant", "cosine"),
    "precision": ("float32", "bfloat16", "float64"),
    "device": ("auto", "cpu", "cuda"),
}


@dataclass(eq=False, repr=False)
class Neural(FactorModel, Recommender):
    """Minimise Σ_(x,y) r_xy I_x^(ρ−1) ℓ(o_x; y): o_xy the score of a backbone, ℓ a loss of the softmax family.

    With a teacher it is a student: Σ_x n_x^ρ Σ_y π_xy ℓ(o_x; y), π the teacher's lists as in `Distilled`, n_x how many
    items x has. `taylorank.losses.names()`, `backbones.names()` and `samplers.names()` list the parts; docs/losses.md
    says what each loss is good for. Needs torch: pip install 'taylorank[torch]'.

    Parameters
    ----------
    loss, backbone, sampler
        Names. Losses with draws have the uniform sampler by default; the others take none.
    factors
        Length of the vectors.
    negatives
        Draws per positive, for losses that draw.
    temperature
        Scores are cosines divided by it; None: inner products.
    regularization
        λ of the penalty ½λ(‖u‖² + ‖v‖² + (1/n) Σ_j ‖v_j‖²) on the embeddings of each pair in a batch: the user's, the
        positive's, and the mean over its n draws (0 for losses without). "auto": what validation data favour for the
        loss on mf and lightgcn, 0 elsewhere and for cosines; `settled_params` has the number.
    weight_decay
        Of the optimiser, on all parameters at every step.
    batch_size
        Users per step for losses over all items (None: 512), pairs for losses with draws (4096), histories for SASRec
        (128); None takes less on small data, down to a sixteenth, so that an epoch has 16 steps.
    context_exponent
        ρ: a user's pairs weigh I_x^ρ together.
    options
        More options by name, of the loss, the backbone or the sampler: {"alpha": 1.3} for entmax, {"layers": 2} …
    precision
        "float32", or "bfloat16" for mixed precision; for newton "float32" or "float64".
    optimizer
        "adam", "adamw", "sgd", "sparse-adam"; or "newton" for rg2, rgx and bce-quadratic on mf, lightgcn and two-tower:
        second-order steps over all pairs at once (see `training.newton`). An epoch is then one such step,
        `regularization` the λ of RG2 (`penalty_` of a fitted one) on the vectors, `batch_size` the rows of two-tower
        encoded at a time; there is no rate.
    teacher
        A model whose lists are learned in the place of the data, by a loss over all items on mf, lightgcn or two-tower:
        one that was fitted to the same data, or one that is fitted first. Its parameters are `teacher__factors` and so
        on. None: the data themselves.
    top, sharpness
        With a teacher: how many items of a user it lists, and β of π_xy ∝ max(p_xy, 0)^β.
    compile
        Compile the step with torch.compile.
    device
        "cpu", "cuda", or "auto": cuda where there is one.

    >>> from taylorank.data import planted
    >>> data = planted(100, 40, interactions=1500)
    >>> model = Neural("softmax", factors=8, epochs=3).fit(data)
    >>> model.recommend(data.user_ids[:2], n=5)[0].shape
    (2, 5)
    """

    loss: str = "softmax"
    backbone: str = "mf"
    sampler: str | None = None
    _: KW_ONLY
    factors: int = 64
    negatives: int = 64
    temperature: float | None = None
    learning_rate: float = 0.01
    regularization: float | Literal["auto"] = "auto"
    weight_decay: float = 0.0
    epochs: int = 50
    batch_size: int | None = None
    optimizer: str = "adam"
    schedule: str = "cosine"
    context_exponent: float = 1.0
    options: Mapping[str, Any] | None = None
    teacher: Any = None
    top: int = 1000
    sharpness: float = 1.0
    precision: str = "float32"
    compile: bool = False
    device: str = "auto"
    num_threads: int | None = None
    random_state: int = 0

    learned_shapes: ClassVar[Mapping[str, tuple[str, ...]]] = {**FACTOR_SHAPES, "weights_": ("weights",)}

    def settled_params(self) -> dict[str, Any]:
        """Return the parameters with a number in the place of "auto"."""
        given = self.get_params(deep=False)
        if self.teacher is not None:
            given["teacher"] = settled_teacher(self.teacher)
        return {**given, "regularization": default_penalty(self)} if str(self.regularization) == "auto" else given

    @classmethod
    def from_settled(cls, params: Mapping[str, Any]) -> Self:
        """Return the unfitted model that has these `settled_params`."""
        teacher = params.get("teacher")
        return cls(**{**params, "teacher": None if teacher is None else from_settled(teacher)})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; those of a teacher as teacher__name, if `deep`."""
        return nested_params(super().get_params(), self.teacher) if deep else super().get_params()

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name and return self; parameters of the teacher make it a new, unfitted one."""
        return super().set_params(**set_nested(self, params))

    def prepared(self, train: Any) -> Self:
        """Return this model, unfitted, with a teacher that is fitted to `train`: for many fits to the same data."""
        if self.teacher is None:
            return self
        teacher = fitted_teacher(self.teacher, training_data(train))
        return type(self)(**{**self.get_params(deep=False), "teacher": teacher})

    @property
    def composition(self) -> str:
        """The name that makes this model, up to its numbers: loss/backbone/sampler."""
        return composition_name(self.loss, self.backbone, self.sampler)

    @property
    def ranks_by_products(self) -> bool:
        """Whether inner products of the factors rank as the scores do; a tree of items does not."""
        return losses.get(self.loss).scoring != "tree"

    @property
    def steps_compare(self) -> bool:
        """Whether unfinished fits can be compared; with a falling rate some improve in the last epochs only."""
        return self.optimizer == "newton" or self.schedule == "constant"

    def _build_ranker(self) -> Ranker:
        vectors = Vectors(self.user_factors, ItemVectors(self.item_factors))
        known = self._known_items()
        if find_spec("torch") is None and self.ranks_by_products:  # a saved model ranks without torch
            return self._ranker_with(vectors=vectors, **known)
        require_torch()
        from taylorank.training.restore import SequenceFoldIn, device_ranking, tree_row_scores

        fitted = copy.copy(self)  # which no later fit and no parameter set later reaches
        vectors = replace(
            vectors,
            score_rows=None if self.ranks_by_products else functools.partial(tree_row_scores, fitted),
            fold_in=SequenceFoldIn(fitted) if self._reads_histories else None,
        )
        return self._ranker_with(vectors=vectors, on_device=device_ranking(fitted), **known)

    def _known_items(self) -> dict[str, Any]:
        """Which items can be ranked, where that is not those with interactions: with features, those with a vector."""
        if (self.options or {}).get("id_dropout") is None:
            return {}
        known = self.item_factors.any(axis=1)
        return {"rankable": None if known.all() else known}

    @property
    def _reads_histories(self) -> bool:
        return backbones.get(self.backbone).takes == "sequences"

    def fold_in(self, histories: Any) -> Self:
        """Return this model for other users, given their histories, for a backbone that reads histories (sasrec).

        The other backbones learn a vector per user by descent; a closed-form model folds users in exactly.
        """
        data = read_interactions(histories)
        if not self._reads_histories:
            raise ParameterError(
                f"{self.backbone} learns a vector per user by descent and cannot fold in",
                "fit again with the new users, or use sasrec or a closed-form model",
            )
        require_torch()
        return super().fold_in(data)

    @narrated_fit
    @typed
    def fit(
        self,
        train: Any,
        valid: Interactions | None = None,
        callback: Callable[[FitProgress], object] | None = None,
        *,
        metric: str = "ndcg@10",
        patience: int | None = None,
        start: Recommender | None = None,
        checkpoint: str | Path | None = None,
        progress: Show = None,
    ) -> Self:
        """Fit to `train`: `Interactions`, or a SciPy matrix (users × items).

        `callback` is called after every epoch (`FitProgress`) and stops the fit by returning True. With `valid` the
        `metric` is measured after each epoch; the fit stops when it has not improved for `patience` epochs (None: a
        quarter of all epochs, and at least 5, for some losses fall back before they rise) and keeps the best. `start`,
        a fitted factor model such as RG2, gives the first embeddings, scaled to where this loss is low (for newton as
        they are). If the fit is interrupted (Ctrl-C), `checkpoint` is the file that it leaves; the same call continues
        from there, on the CPU to the same bits. A fit that fails leaves the model as it was.
        `progress`: as in `RG2.fit`.
        """
        require_torch()
        from taylorank.training.run import run_training

        data = training_data(train)
        held_out = None if valid is None else read_interactions(valid)
        self._check()
        check_factors(self.factors, data)
        kept = None if checkpoint is None else open_checkpoint(checkpoint, self, data, valid=held_out, metric=metric)
        waits = max(LEAST_PATIENCE, -(-self.epochs // 4)) if patience is None else patience
        monitor = FitMonitor(
            valid=held_out, metric=metric, patience=waits, callback=callback, checkpoint=kept, unit="epochs"
        )
        with as_before_on_failure(self), kept or nullcontext(), without_torch_warnings():
            self.train_ = data
            lists = self._lists(data)
            self._keep(*run_training(self, data, monitor=monitor, start=start, lists=lists))
            self.history_ = monitor.history
        return self

    def _lists(self, data: Interactions) -> CSR | None:
        """π of every user, (M, N), where there is a teacher."""
        if self.teacher is None:
            return None
        from taylorank.training.run import chosen_device

        ranker = ranker_of(fitted_teacher(self.teacher, data))
        return teacher_lists(ranker, top=self.top, sharpness=self.sharpness, device=chosen_device(self.device))

    def _check(self) -> None:
        check_parameters(self)
        check_whole(self.random_state, "random_state", least=0)
        if self.temperature == 0:
            raise ParameterError("temperature=0 divides by zero", "give a positive number, such as 0.1, or None")
        if isinstance(self.negatives, bool) or not float(self.negatives).is_integer() or self.negatives < 1:
            raise ParameterError(f"negatives={self.negatives!r} is not a count", "give 1 or more")
        if not isinstance(self.compile, bool):
            raise ParameterError(f"compile={self.compile!r} is neither True nor False", "give one of them")
        if not isinstance(self.options, Mapping | None):
            raise ParameterError(f"options={self.options!r} is no mapping", 'write {"layers": 2}')
        for name, known in CHOICES.items():
            if not isinstance(getattr(self, name), str) or getattr(self, name) not in known:
                raise ParameterError(f"{name}={getattr(self, name)!r} is unknown", f"choose from {', '.join(known)}")
        check_whole(self.top, "top")
        check_number(self.sharpness, "sharpness", least=0.0)
        check_composition(self)

    def _keep(self, vectors: tuple[Floats, Floats], weights: Floats) -> None:
        self.user_factors_, self.item_factors_ = vectors
        self.weights_ = weights

    def _snapshot(self, vectors: tuple[Floats, Floats], weights: Floats) -> Self:
        """Return this model with other weights."""
        model = copy.copy(self)
        model._keep(vectors, weights)
        return model
