"""Named benchmarks and studies: against peers in the same run, of settings on validation data, of optimisers.

A module has `run`, whose parameters are the options of its command and which returns a record ready for JSON, and
`describe`, which returns it as lines of text.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

from taylorank.errors import ParameterError
from taylorank.machine import cpu_ticks, stolen_share

Record = dict[str, Any]


class Benchmark(NamedTuple):
    """Where a benchmark is, and what it asks."""

    module: str
    summary: str
    example: str = "--quick"


BENCHMARKS = {
    "gather-sum": Benchmark("speed.gather_sum", "Sums of gathered rows against SciPy and PyTorch."),
    "gpu": Benchmark("speed.gpu", "Fits, evaluations and searches on a GPU, beside those of a CPU."),
    "cuda-kernels": Benchmark("speed.cuda_kernels", "Sums, lists and row systems of tensors on a GPU."),
    "top-k": Benchmark("speed.top_k", "The 20 best items of every user against NumPy and implicit."),
    "single-requests": Benchmark(
        "speed.single_requests",
        "Single requests against implicit: known and new users, similar items, explanations.",
    ),
    "student-fold-in": Benchmark(
        "speed.student_fold_in", "New users of a student: milliseconds each, and agreement with trained users."
    ),
    "serving": Benchmark(
        "speed.serving", "Requests per second and latency of `taylorank serve`, against FastAPI with implicit."
    ),
    "evaluate": Benchmark("speed.evaluate", "Metrics of all users against implicit and NumPy."),
    "als": Benchmark("speed.als", "Seconds per sweep of RG² and iALS against implicit and irspack."),
    "growth": Benchmark("speed.growth", "Seconds per sweep for 1 to 50 M interactions."),
    "fit-cost": Benchmark("speed.fit_cost", "Seconds of whole fits of RG² against rank, interactions and items."),
    "svd": Benchmark("speed.svd", "Leading singular triplets by five methods."),
    "stores": Benchmark("speed.stores", "Recall, time and bytes of vector stores: RG² at 1,024 and a student of 64."),
    "spark": Benchmark("speed.spark", "RG² on Spark against MLlib's ALS: sweeps, fits, lists, memory."),
    "spark-choice": Benchmark("speed.spark_choice", "Parameters of RG² and MLlib's ALS on Spark, on validation data."),
    "spark-scale": Benchmark(
        "speed.spark_scale", "RG² on Spark for 1 to 100 M interactions, and what more would cost."
    ),
    "memory": Benchmark("speed.memory", "Peak memory of a fit."),
    "read": Benchmark("speed.read", "20 M rows of csv and Parquet to clean CSR against pandas."),
    "epochs": Benchmark("speed.epochs", "Epochs of matrix factorisation against RecBole and plain PyTorch."),
    "first-steps": Benchmark(
        "speed.first_steps", "From an empty venv to recommendations, with every wheel and Python.", "dist --quick"
    ),
    "commits": Benchmark("speed.commits", "Speed, memory and quality of commits, small sizes.", "HEAD~10 HEAD"),
    "rg-step": Benchmark(
        "speed.rg_step", "A step of RG² against full and sampled softmax.", "--items 10000,100000 --json rg-step.json"
    ),
    "rg2-defaults": Benchmark("quality.defaults", "Default rank, exponents and threshold of RG2."),
    "rg2-defaults-larger": Benchmark(
        "quality.defaults_larger", "Should the default RG2 have a higher rank, or a discount of popularity?"
    ),
    "rg2-defaults-rules": Benchmark(
        "quality.defaults_rules", "Would another rule for RG2's defaults be better on data that had no say in it?"
    ),
    "defaults-beside": Benchmark(
        "quality.defaults_beside", "The default RG2 beside the defaults of EASE and of implicit's ALS."
    ),
    "neural-defaults": Benchmark("quality.neural_defaults", "Default penalties of the losses."),
    "closed-form": Benchmark("quality.closed_form", "RG², sampled RG² and iALS on two published splits."),
    "printed-penalty": Benchmark(
        "quality.printed_penalty", "The printed penalty of RG²: λ against the size of scores and quality."
    ),
    "small-ratings": Benchmark(
        "quality.small_ratings", "MovieLens 100K beside RecStudio's published row, and calibration of the top 20."
    ),
    "calibration": Benchmark(
        "quality.calibration", "Probabilities of RG², softmax, sparsemax and entmax against outcomes on real data."
    ),
    "public-splits": Benchmark("quality.public_splits", "RG² beside published tables, tuned within a time budget."),
    "rank-budget": Benchmark("quality.rank_budget", "Time and quality against rank: RG², iALS and EASE."),
    "fit-best": Benchmark(
        "quality.fit_best", "fit_best against models tuned for ten times as long, on every data set."
    ),
    "beside": Benchmark("quality.beside", "What might be tried beside RG²'s threshold: does it help?"),
    "split-order": Benchmark(
        "quality.split_order", "Whether the published test parts are random fifths: item shares, order of the lines."
    ),
    "students": Benchmark(
        "quality.students", "Students and their teachers: ranges fixed on other sets, public splits, dense data."
    ),
    "regression": Benchmark("quality.regression", "Known settings of RG² on Gowalla, to notice a regression."),
    "run-grid": Benchmark("quality.run_grid", "Which settings `taylorank run` searches, by validation on other seeds."),
    "seed-agreement": Benchmark("quality.seed_agreement", "Lists of RG2 with two seeds, by tolerance."),
    "significance-size": Benchmark(
        "quality.significance_size", "How often tests call equal models different, and find a better one."
    ),
    "softmax-family": Benchmark(
        "quality.softmax_family",
        "Compositions of loss, backbone and sampler, tuned alike.",
        "ml-1m.npz --compositions bpr,bpr/lightgcn --trials 16 --json out.json",
    ),
    "encoder-students": Benchmark(
        "quality.encoder_students", "Students with encoders: two towers on cold items, LightGCN beside plain vectors."
    ),
    "side-features": Benchmark(
        "quality.side_features", "Losses on two towers with side features.", "planted --trials 8 --seeds 0,1,2"
    ),
    "sequential": Benchmark(
        "quality.sequential", "SASRec, leave-one-out, full ranking.", "ml-1m.npz --loss softmax --json sasrec.json"
    ),
    "negatives": Benchmark(
        "quality.negatives",
        "Sampled softmax and NCE against the number of draws.",
        "gowalla-train.npz gowalla-test.npz --json negatives.json",
    ),
    "published-split": Benchmark(
        "quality.published_split",
        "A composition with given settings on a published split.",
        "gowalla-train.npz gowalla-test.npz bpr/lightgcn --set epochs=400 --option layers=3 --json lightgcn.json",
    ),
    "beyond-softmax": Benchmark(
        "quality.beyond_softmax",
        "BSL, PSL and SL@K on a published split, beside published rows.",
        ".carry/students --json beyond_softmax.json",
    ),
    "convergence": Benchmark(
        "optimisers.convergence",
        "Loss and validation NDCG against seconds, for every optimiser.",
        "ml-1m.npz --seeds 0,1,2 --json convergence-ml-1m.json",
    ),
    "stable-rates": Benchmark(
        "optimisers.stable_rates", "The largest stable learning rate of each loss.", "ml-1m.npz --json rates.json"
    ),
    "towers": Benchmark(
        "optimisers.towers",
        "RG² on two towers by Newton-CG and Adam, by activation.",
        "--activations gelu,relu --json towers.json",
    ),
}


def module_of(name: str) -> Any:
    """Import the module of a benchmark."""
    if name not in BENCHMARKS:
        raise ParameterError(f"no benchmark {name!r}", f"choose from {', '.join(BENCHMARKS)}")
    return importlib.import_module(f"research.bench.{BENCHMARKS[name].module}")


def run_benchmark(name: str, *given: Any, **options: Any) -> tuple[Record, list[str]]:
    """Run one benchmark; return its record and its description in words."""
    module = module_of(name)
    before = cpu_ticks()
    record: Record = module.run(*given, **options)
    record["machine"]["stolen_cpu_share"] = stolen_share(before, cpu_ticks())
    return record, module.describe(record)
