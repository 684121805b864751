"""The benchmarks of the neural half, in small: they run, and what they write can be read."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("torch")

import taylorank as tr
from research.bench import run_benchmark
from research.bench.optimisers import stable_rates
from research.bench.quality import sequential, side_features, softmax_family
from research.pages.optimisers import towers_text
from taylorank.report.record import load_record


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "planted.npz"
    tr.planted(80, 30, interactions=1000).save_npz(path)
    return str(path)


def test_epochs():
    record, lines = run_benchmark("epochs", quick=True)
    assert set(record["results"]) == {"bpr", "sampled softmax", "softmax"}
    assert all("plain PyTorch" in found for found in record["results"].values())
    assert len(lines) == 4


def test_compositions_of_several_processes_end_in_one_record(run, file, tmp_path):
    out = tmp_path / "out.json"
    options = ["--compositions", "softmax,rg2/mf,bpr/lightgcn", "--trials", "2", "--epochs", "2", "--jobs", "2"]
    assert run("bench", "softmax-family", file, *options, "--json", out) == 0
    record = load_record(out)
    assert set(record["models"]) == {"softmax", "rg2/mf", "bpr/lightgcn"}
    assert all(run["error"] is None for run in record["runs"])
    assert record["summary"]["best"]["ndcg@10"] in record["models"]


@pytest.mark.parametrize(("users", "interactions"), [(3000, 40_000), (600, 30_000), (5000, 12_000)])
def test_losses_over_pairs_make_about_as_many_steps_as_those_over_users(users, interactions):
    data = tr.planted(users, 200, interactions=interactions)
    by_users, by_pairs = (softmax_family.composed(name, data, users=64).batch_size for name in ("softmax", "bpr"))
    steps = (data.nnz / by_pairs) / (data.n_users / by_users)
    assert by_users == 64
    assert 2**-0.5 <= steps <= 2**0.5


def test_what_is_set_is_not_searched(run, file, tmp_path):
    out = tmp_path / "out.json"
    options = ["--compositions", "softmax", "--trials", "3", "--set", "epochs=1", "--set", "temperature=0.1"]
    assert run("bench", "softmax-family", file, *options, "--json", out) == 0
    (found,) = load_record(out)["runs"]
    assert all(trial["params"].keys() == {"learning_rate", "regularization"} for trial in found["tuning"]["trials"])


def test_what_is_chosen_from_is_searched_as_told(run, file, tmp_path):
    out = tmp_path / "out.json"
    options = ["--compositions", "softmax", "--trials", "4", "--epochs", "1", "--choose", "context_exponent=0,0.5"]
    assert run("bench", "softmax-family", file, *options, "--choose", "temperature=0.25", "--json", out) == 0
    (found,) = load_record(out)["runs"]
    first, *others = (trial["params"] for trial in found["tuning"]["trials"])
    assert {trial["context_exponent"] for trial in others} <= {0, 0.5}
    assert {trial["temperature"] for trial in others} == {0.25}
    assert "learning_rate" in first


def test_sequences_are_tested_on_what_came_last(run, file, tmp_path):
    out = tmp_path / "out.json"
    options = ["--compositions", "softmax/sasrec", "--trials", "1", "--epochs", "1", "--set", "batch_size=16"]
    assert run("bench", "softmax-family", file, *options, "--by-time", "--json", out) == 0
    assert load_record(out)["protocol"]["name"] == "leave-one-out"


def test_sequential(run, file, tmp_path, capsys):
    out = tmp_path / "out.json"
    assert (
        run(
            "bench",
            "sequential",
            file,
            "--epochs",
            "3",
            "--length",
            "10",
            "--factors",
            "8",
            "--ties",
            "id",
            "--json",
            out,
        )
        == 0
    )
    result = json.loads(out.read_text())
    assert 1 <= result["epochs"] <= 3
    assert 0 < result["test"]["ndcg@10"] < 1
    assert "epoch 3" in capsys.readouterr().out


def test_a_composition_on_a_published_split(run, tmp_path):
    train, _, test = tr.planted(80, 30, interactions=1000).split(seed=0)
    files = [str(tmp_path / name) for name in ("train.npz", "test.npz", "out.json")]
    train.save_npz(files[0])
    test.save_npz(files[1])
    settings = ["--set", "epochs=2", "--set", "negatives=1", "--set", "schedule=constant", "--option", "layers=2"]
    assert run("bench", "published-split", *files[:2], "bpr/lightgcn", *settings, "--json", files[2]) == 0
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["parameters"]["options"] == {"layers": 2}
    assert result["parameters"]["schedule"] == "constant"
    assert len(result["history"]) == 2
    assert 0 < result["test"]["recall@20"] <= 1


@pytest.mark.parametrize("ties", ["random", "id"])
def test_moments_are_kept_in_order_and_ties_broken(ties):
    data = tr.Interactions.from_arrays([0, 0, 0, 0], [4, 3, 2, 1], timestamps=[7, 5, 5, 5])
    ordered = sequential.in_order(data, ties, seed=0)
    assert len(set(ordered.timestamps)) == 4
    by_time = ordered.item_ids[ordered.by_user.indices[np.argsort(ordered.timestamps)]].tolist()
    assert by_time[-1] == 4
    assert ties == "random" or by_time == [1, 2, 3, 4]


def test_rates_double_until_the_loss_no_longer_falls(run, file, tmp_path):
    out = tmp_path / "out.json"
    assert (
        run(
            "bench",
            "stable-rates",
            file,
            "--losses",
            "softmax,bpr",
            "--epochs",
            "2",
            "--factors",
            "4",
            "--json",
            out,
        )
        == 0
    )
    for row in json.loads(out.read_text())["rows"]:
        rates = stable_rates.RATES
        tried = rates[: len(row["losses"])]
        assert row["largest"] == (tried[-2] if len(tried) < len(rates) else rates[-1])
        last = row["losses"][-1]
        assert len(tried) == len(rates) or last is None or last > row["first"]


def test_towers_with_features_are_compared(run, tmp_path, capsys):
    out = tmp_path / "out.json"
    options = ["--trials", "1", "--epochs", "1", "--interactions", "9000"]
    assert run("bench", "side-features", "planted", *options, "--json", out) == 0
    record = load_record(out)
    assert set(record["models"]) == {*side_features.WITH_FEATURES, "rg2, ids", "softmax, ids"}
    assert all(run["error"] is None for run in record["runs"])
    assert capsys.readouterr().out.count("done") == 7


def test_features_of_planted_items_tell_of_their_factors():
    data = tr.planted(200, 60, interactions=3000)
    X = side_features.features_of_truth(data, count=400, noise=0.0).toarray()
    Q = data.truth.item_factors[data.item_ids]
    cosines = (Q @ Q.T) / np.outer(np.linalg.norm(Q, axis=1), np.linalg.norm(Q, axis=1))
    agreement = (X[:, None] == X[None]).mean(axis=2)  # 1 − angle / π for random half-spaces
    np.testing.assert_allclose(agreement, 1 - np.arccos(cosines.clip(-1, 1)) / np.pi, atol=0.15)


def test_words_of_equal_names_are_equal_features():
    X = side_features.features_of_words(["RED mug", "mug, red!", "blue mug", ""], buckets=512).toarray()
    np.testing.assert_array_equal(X[0], X[1])
    assert X[0] @ X[2] == pytest.approx(0.5, abs=0.01)
    assert not X[3].any()


def test_penalties_when_nobody_says():
    record, lines = run_benchmark("neural-defaults", quick=True)
    assert list(record["relative"]) == ["softmax/mf", "bpr/lightgcn"]
    assert all(len(shares) == len(record["penalties"]) for shares in record["relative"].values())
    assert len(lines) == 3


def test_towers_follow_the_loss_of_every_activation_and_optimiser(run, tmp_path):
    out = tmp_path / "towers.json"
    sizes = ("--users", "40", "--items", "20", "--interactions", "300")
    epochs = ("--newton-epochs", "2", "--adam-epochs", "5")
    assert run("bench", "towers", "--activations", "gelu,relu", *sizes, *epochs, "--json", out) == 0
    record = json.loads(out.read_text())
    shown = {(row["activation"], row["optimizer"]): list(row["losses"]) for row in record["rows"]}
    by_newton, by_adam = ["1", "2"], ["1", "2", "5"]
    assert shown == {(a, o): c for a in ("gelu", "relu") for o, c in (("newton", by_newton), ("adam", by_adam))}
    lines = towers_text(record).splitlines()
    assert lines[0] == "| loss after epochs | 1 | 2 | 5 | seconds in all |"
    assert lines[2].startswith(f"| gelu, newton | {record['rows'][0]['losses']['1']:.4f} |")
    assert " | – | " in lines[2]
