"""Evaluation protocols: how data is split, what is hidden when, which metrics are reported, and which one selects.

>>> from taylorank.data import planted
>>> parts = protocol("papers").prepare(planted(200, 80, interactions=3000), random_state=0)
>>> [part.nnz for part in (parts.train, parts.valid, parts.test)], len(parts.seen_test)
([2382, 304, 314], 2)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from taylorank.data import HeldOut, Interactions, check_leakage, merge, share_ids
from taylorank.data.split import split
from taylorank.data.tail import knows_order, split_tail
from taylorank.deprecation import renamed
from taylorank.errors import DataError, ParameterError
from taylorank.kernels.thread_limit import threads
from taylorank.ranking.evaluated import Evaluation
from taylorank.ranking.evaluation import evaluate
from taylorank.ranking.histories import over_items
from taylorank.ranking.ranker import Rankable, ranker_of

Phase = Literal["valid", "test"]
Published = tuple[Interactions, Interactions]


@dataclass(frozen=True)
class Prepared:
    """Data ready to choose a model and to test it.

    Parameters
    ----------
    train, valid
        Fit candidates to `train`; the one with the best score on `valid`, with `seen_valid` hidden, is chosen.
    full_train, test
        Fit the chosen one to `full_train`; report its metrics on `test`, with `seen_test` hidden.
    fold_valid, fold_test
        Where users are held out: the part of their history that is folded in before ranking for them. Else None.
    """

    train: Interactions
    valid: Interactions
    test: Interactions
    full_train: Interactions
    seen_valid: tuple[Interactions, ...]
    seen_test: tuple[Interactions, ...]
    fold_valid: Interactions | None = None
    fold_test: Interactions | None = None

    @property
    def refit(self) -> bool:
        """Whether the chosen model is fitted again, to more than it was chosen on."""
        return self.full_train is not self.train

    def evaluate(self, model: Rankable, phase: Phase, **options: Any) -> Evaluation:
        """Evaluate a model on validation or test data, held-out users folded in; options are those of `evaluate`."""
        if phase not in ("valid", "test"):
            raise ParameterError(f"phase={phase!r} is unknown", 'choose "valid" or "test"')
        target, seen = (self.valid, self.seen_valid) if phase == "valid" else (self.test, self.seen_test)
        shown = self.fold_valid if phase == "valid" else self.fold_test
        if shown is not None:  # the folded-in model counts popularity in the shown histories otherwise
            options = {"counts": self.train, **options}
        return evaluate(folded_in(model, shown), target, seen=seen, **options)


class EvaluationProtocol(Protocol):
    """What every protocol has: a name, metrics to report, the one that selects models, and how it splits the data."""

    @property
    def name(self) -> str:
        """Its name in the registry."""
        ...

    @property
    def metrics(self) -> tuple[str, ...]:
        """What is reported, with cutoffs."""
        ...

    @property
    def chooses(self) -> str:
        """The metric on validation data by which models are selected."""
        ...

    def prepare(self, data: Any, random_state: int = 0) -> Prepared:
        """Split the data."""
        ...


PAPER_METRICS = ("ndcg@10", "mrr@10", "recall@10", "precision@10", "map@10", "hit_rate@10", "ndcg@20", "recall@20")


@dataclass(frozen=True)
class Ratio:
    """Each user's interactions at random, 80/10/10; testing hides train and validation; nothing is fitted again."""

    name: str = "papers"
    ratios: tuple[float, float, float] = (0.8, 0.1, 0.1)
    metrics: tuple[str, ...] = PAPER_METRICS
    chooses: str = "ndcg@10"

    @renamed(seed="random_state")
    def prepare(self, data: Interactions, random_state: int = 0) -> Prepared:
        """Split by ratio, per user."""
        train, valid, test = _whole(data, self.name).split(self.ratios, random_state=random_state)
        return Prepared(train, valid, test, full_train=train, seen_valid=(train,), seen_test=(train, valid))


@dataclass(frozen=True)
class LeaveOneOut:
    """Each user's last interaction is the test, the one before it chooses; the chosen is fitted to all but the last.

    So a model of sequences predicts the last item from everything before it, the item that chose included.
    """

    name: str = "leave-one-out"
    metrics: tuple[str, ...] = ("ndcg@10", "hit_rate@10", "mrr@10", "ndcg@20", "hit_rate@20")
    chooses: str = "ndcg@10"

    @renamed(seed="random_state")
    def prepare(self, data: Interactions, random_state: int = 0) -> Prepared:
        """Split by time within each user; `random_state` orders interactions of the same moment."""
        train, valid, test = _whole(data, self.name).split_last(random_state=random_state)
        both = merge(train, valid)
        return Prepared(train, valid, test, full_train=both, seen_valid=(train,), seen_test=(both,))


@dataclass(frozen=True)
class Latest:
    """Each user's last interactions by share are the test, those before choose; the chosen is fitted to all before."""

    name: str = "latest"
    ratios: tuple[float, float, float] = (0.8, 0.1, 0.1)
    metrics: tuple[str, ...] = PAPER_METRICS
    chooses: str = "ndcg@10"

    @renamed(seed="random_state")
    def prepare(self, data: Interactions, random_state: int = 0) -> Prepared:
        """Split by time within each user; `random_state` orders interactions of the same moment."""
        train, valid, test = split_tail(_whole(data, self.name), self.ratios, random_state=random_state)
        both = merge(train, valid)
        return Prepared(train, valid, test, full_train=both, seen_valid=(train,), seen_test=(both,))


@dataclass(frozen=True)
class HeldOutUsers:
    """Whole users are held out, a share of each; a model is shown `fold_in` of their history and predicts the rest.

    Strong generalisation, with the metrics of Liang et al., "Variational autoencoders for collaborative filtering",
    2018: recall divides by min(k, R). Only what is shown of a user is hidden from the ranking.
    """

    name: str = "held-out-users"
    ratios: tuple[float, float, float] = (0.8, 0.1, 0.1)
    fold_in: float = 0.8
    metrics: tuple[str, ...] = ("recall_min@20", "recall_min@50", "ndcg@100")
    chooses: str = "ndcg@100"

    @renamed(seed="random_state")
    def prepare(self, data: Interactions, random_state: int = 0) -> Prepared:
        """Split by user."""
        train, valid, test = _whole(data, self.name).split_users(
            self.ratios, fold_in=self.fold_in, random_state=random_state
        )
        return _of_users(train, valid, test)


@dataclass(frozen=True)
class PublishedSplit:
    """Train and test are given; a tenth of each user's training data chooses; the chosen is fitted to all of it.

    It is the last tenth where train has times or an order, else a random one.
    Prepare with the pair (train, test), such as `datasets.published_split("gowalla")`. Testing hides all of train.
    """

    name: str = "published"
    valid_share: float = 0.1
    metrics: tuple[str, ...] = ("recall@20", "ndcg@20", "ndcg@10", "precision@20", "hit_rate@20")
    chooses: str = "ndcg@20"

    @renamed(seed="random_state")
    def prepare(self, data: Published, random_state: int = 0) -> Prepared:
        """Split validation data off train."""
        if isinstance(data, Interactions) or len(data) != 2:
            raise DataError(f"{self.name!r} needs two parts", 'give (train, test), or choose protocol "papers"')
        given, test = share_ids(*data)
        check_leakage(given, test, order="any")
        ratios = 1 - self.valid_share, self.valid_share
        part = split_tail if knows_order(given) else split
        train, valid = part(given, ratios, random_state=random_state)
        return Prepared(train, valid, test, full_train=given, seen_valid=(train,), seen_test=(given,))


PROTOCOLS: dict[str, EvaluationProtocol] = {
    one.name: one for one in (Ratio(), Latest(), LeaveOneOut(), HeldOutUsers(), PublishedSplit())
}


def protocol(name: str) -> EvaluationProtocol:
    """Return the protocol called `name`.

    >>> protocol("held-out-users").metrics
    ('recall_min@20', 'recall_min@50', 'ndcg@100')
    """
    try:
        return PROTOCOLS[name]
    except KeyError:
        raise ParameterError(f"no protocol is called {name!r}", f"choose from {', '.join(PROTOCOLS)}") from None


def _of_users(train: Interactions, valid: HeldOut, test: HeldOut) -> Prepared:
    return Prepared(
        train,
        valid.target,
        test.target,
        full_train=train,
        seen_valid=(valid.seen,),
        seen_test=(test.seen,),
        fold_valid=valid.seen,
        fold_test=test.seen,
    )


def _whole(data: Any, name: str) -> Interactions:
    if not isinstance(data, Interactions):
        raise DataError(f"{name!r} splits one set of interactions", 'give it unsplit, or choose protocol "published"')
    return data


def folded_in(model: Rankable, shown: Interactions | None) -> Rankable:
    """Return the model with the users of `shown` folded in; itself if that is None."""
    if shown is None:
        return model
    ranker = ranker_of(model)
    with threads(ranker.num_threads):
        return ranker.for_histories(over_items(shown, ranker.items))
