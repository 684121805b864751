"""Between a cluster and one machine: a fitted model of Spark as one of `taylorank`, and the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taylorank.data import CSR, Ids, Interactions
from taylorank.errors import ParameterError
from taylorank.models.rg import RG2
from taylorank.models.weighted import IALS
from taylorank.ranking.rows import take_rows
from taylorank.solvers import SpectralPath, Svd
from taylorank.spark.blocks import item_codes
from taylorank.spark.contexts import Contexts
from taylorank.spark.files import FACTS, ModelFiles
from taylorank.spark.ids import arrow_codes, ids_of
from taylorank.spark.model import FactorsModel, IALSModel, RG2Model
from taylorank.spark.scoring import ARRAYS, stored_vectors
from taylorank.spark.session import active_session, to_arrow, work_folder
from taylorank.spark.users import USERS, matrix_of, user_batch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from taylorank.models.recommender import Recommender

OF_RG2 = {
    "factors": "rank",
    "regularization": "regParam",
    "proposal_exponent": "proposalExponent",
    "context_exponent": "contextExponent",
    "score_penalty": "scorePenalty",
    "ranking": "ranking",
    "popularity_discount": "popularityDiscount",
    "tolerance": "tol",
    "random_state": "seed",
}
OF_IALS = {
    "factors": "rank",
    "regularization": "regParam",
    "unobserved_weight": "unobservedWeight",
    "nu": "nu",
    "iterations": "maxIter",
    "tolerance": "tol",
    "solver": "solver",
    "random_state": "seed",
}


def to_local(model: Any) -> Recommender:
    """Return a fitted model as `taylorank.RG2` or `taylorank.IALS`; ids of other types are there as their codes."""
    table = to_arrow(model.files.users(active_session())).sort_by("user").combine_chunks()
    data = _interactions(model, table)
    arrays = model.files.folder.read_arrays(ARRAYS)
    stored = matrix_of(table["vector"].combine_chunks(), model.files.width)
    view, vectors = model.view(), stored_vectors(model.files.folder, model.files.shards)
    arrays = {**arrays, "vectors": vectors}
    if isinstance(model, RG2Model):
        local: Any = RG2(**{own: model.value(name) for own, name in OF_RG2.items()})
        _take_spectral(local, model, data, arrays, stored)
    elif isinstance(model, IALSModel):
        local = IALS(**{own: model.value(name) for own, name in OF_IALS.items()})
    else:
        raise ParameterError("this model came from one machine", "take it from there, or from its file")
    local.train_ = data
    local.user_factors_, local.item_factors_ = view.factors(stored), view.factors(vectors)
    return local  # type: ignore[no-any-return]


def _interactions(model: Any, table: Any) -> Interactions:
    column = table["items"].combine_chunks()
    indptr = column.offsets.to_numpy().astype(np.int64)
    items = ids_of(item_codes(model.files.folder))
    indices = column.flatten().to_numpy().astype(np.int32)
    strengths = table["strengths"].combine_chunks()
    weights = None if strengths.null_count else strengths.flatten().to_numpy().astype(np.float32)
    rows = CSR(indptr - indptr[0], indices, weights, len(items))
    return Interactions(rows, ids_of(table["user"].combine_chunks()), items).with_step("from Spark")


def _take_spectral(local: Any, model: Any, data: Interactions, arrays: Any, stored: NDArray[np.float32]) -> None:
    """Give the local model what RG² learned beside its factors, and the path."""
    facts, q = model.files.facts, np.array(arrays["proposal"])
    values, total = np.array(facts["values"]), facts["context_total"]
    contexts = Contexts(facts["unit"], local.context_exponent, local.score_penalty * facts["mean_context"])
    totals = np.bincount(data.by_user.row_of_entry(), data.strengths, minlength=data.n_users).astype(np.float64)
    _, context = contexts.weights(totals)
    left = stored * (np.sqrt(context) / total**0.25).astype(np.float32)[:, None]
    right = arrays["vectors"] * (np.sqrt(q) * total**0.25).astype(np.float32)[:, None]
    residuals = np.full(len(values), facts["residual"])
    svd = Svd(left, values, right, residuals, facts["passes"], facts["residual"] <= 1.5 * max(local.tolerance, 1e-6))
    local.path_ = SpectralPath(svd, q, context)
    local.proposal_, local.penalty_ = q, local.path_.penalty(local.regularization)
    local.mean_context_, local.strength_unit_ = facts["mean_context"], facts["unit"]
    local.residual_, local.passes_ = facts["residual"], facts["passes"]


def from_local(model: Recommender, session: SparkSession | None = None, *, workDir: str = "", **params: Any) -> Any:
    """Return a fitted model of one machine as one that can be applied to DataFrames.

    An `RG2` fitted by its spectral solver becomes an `RG2Model`, with its path; an `IALS` an `IALSModel`; any other
    model whose scores are inner products a `FactorsModel`. `params` are set on it, such as userCol. Users without
    history have no vector and are left out.
    """
    session = session or active_session()
    kind, settings, arrays, rows, facts = _parts(model)
    folder, is_temporary = work_folder(session, workDir)
    folder.make()
    own = folder.at(f"model-{np.random.default_rng().integers(1 << 62):x}")
    own.make()
    _write(session, own, model, rows)
    own.write_arrays(ARRAYS, {**arrays, **_counts(model)})
    kinds = {f"{side}_type": "string" if ids.is_text else "bigint" for side, ids in _sides(model).items()}
    sizes = {"width": rows.shape[1], "n_users": len(model.users), "n_items": len(model.items)}
    own.write_json(FACTS, {**kinds, **sizes, "interactions": model.seen.nnz, **facts})
    found = kind(ModelFiles(own, temporary=folder if is_temporary else own))
    return found._set(**{**settings, **params})


def _sides(model: Recommender) -> dict[str, Ids]:
    return {"user": model.users, "item": model.items}


def _counts(model: Recommender) -> dict[str, NDArray[np.float64]]:
    counts = np.bincount(model.seen.by_user.indices, minlength=len(model.items)).astype(np.float64)
    return {"popularity": np.array(model.item_popularity), "counts": counts}


def _parts(model: Any) -> tuple[Any, dict[str, Any], dict[str, Any], NDArray[np.float32], dict[str, Any]]:
    """Class, parameters, arrays of items, vectors of users and facts of a model."""
    path: SpectralPath | None = model.__dict__.get("path_") if isinstance(model, RG2) else None
    if path is not None and path.plain_weight is None and path.svd.left.shape[0] == len(model.users):
        per_user, per_item = path._scales
        own = {**model.get_params(deep=False), "factors": model.rank, "regularization": model.share}
        settings = {name: own[ours] for ours, name in OF_RG2.items()}
        arrays = {"vectors": np.asarray(path.svd.right * per_item[:, None]), "proposal": np.asarray(model.proposal_)}
        facts = {
            "model": "RG2",
            "values": path.svd.values.tolist(),
            "context_total": float(path.context.sum()),
            "mean_context": float(model.mean_context_),
            "unit": float(model.strength_unit_),
            "residual": float(path.svd.residuals.max()),
            "passes": int(path.svd.passes),
        }
        return RG2Model, settings, arrays, np.asarray(path.svd.left * per_user[:, None]), facts
    if isinstance(model, IALS):
        settings = {name: getattr(model, own) for own, name in OF_IALS.items()}
        return IALSModel, settings, {"vectors": model.item_factors}, model.user_factors, {"model": "IALS"}
    if not hasattr(model, "export_factors"):
        raise ParameterError(f"{type(model).__name__} has no vectors", "apply it on one machine, or distil it first")
    users, items = (np.asarray(side, dtype=np.float32) for side in model.export_factors())
    return FactorsModel, {"rank": users.shape[1]}, {"vectors": items}, users, {"model": type(model).__name__}


def _write(session: SparkSession, folder: Any, model: Recommender, vectors: NDArray[np.float32]) -> None:
    """Write the items, and the users who have a history."""
    import pyarrow as pa

    folder.write_table("items", pa.table({"item": arrow_codes(model.items)}))
    there = np.flatnonzero(model.seen.by_user.row_lengths > 0) if model.seen.nnz else np.arange(len(model.users))
    rows = take_rows(model.seen.by_user, there)
    codes = arrow_codes(model.users).take(pa.array(there))
    batch = user_batch(codes, vectors[there].astype(np.float32), rows, with_strengths=rows.weights is not None)
    session.createDataFrame(pa.Table.from_batches([batch])).write.parquet(folder.address_of(USERS))
