"""The studies of optimisers run on small data, and their records say what they should."""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import taylorank as tr  # noqa: E402
from research.bench.optimisers import convergence  # noqa: E402
from research.bench.optimisers.curves import Measure, Study, as_weighted  # noqa: E402
from research.bench.optimisers.first_order_rg import _loss  # noqa: E402
from research.bench.optimisers.orders import convergence as orders  # noqa: E402
from taylorank.errors import ParameterError  # noqa: E402


@pytest.fixture(scope="module")
def record():
    return convergence.run(quick=True)


def test_every_curve_has_points_that_json_knows(record):
    (run,) = record["runs"]
    assert tuple(run["curves"]) == convergence.NAMES
    json.dumps(record, allow_nan=False)
    for name, found in run["curves"].items():
        seconds = [point["seconds"] for point in found["points"]]
        assert seconds == sorted(seconds) or name == "RG², SVD", name  # whose points are fits of their own
        assert all(0 <= point["metric"] <= 1 for point in found["points"]), name
    assert len(convergence.describe(record)) == len(convergence.NAMES)


def test_rg_curves_are_of_one_objective(record):
    (run,) = record["runs"]
    for name in convergence.RG2_NAMES:
        losses = [point["loss"] for point in run["curves"][name]["points"]]
        assert min(losses) >= run["best"] - 1e-6 * (run["zero"] - run["best"]), name
        assert losses[-1] < run["zero"], name
    for name in ("RG², SVD", "RG², Newton-CG"):
        excess = run["curves"][name]["points"][-1]["loss"] - run["best"]
        assert excess < 0.2 * (run["zero"] - run["best"]), name


def test_longer_runs_reach_the_optimum():
    data = tr.planted(120, 50, interactions=1500)
    names = ("RG², SVD", "RG², ALS", "RG², row ALS", "RG², Newton-CG")
    found = convergence.study_of(data, name="planted", factors=4, epochs=60, seeds=(0,), names=names)
    (run,) = found["runs"]
    for name in names:
        assert run["curves"][name]["convergence"]["last_excess"] < 1e-5, name
        assert run["curves"][name]["seconds_to"]["0.001"] > 0, name
    assert run["curves"]["RG², Newton-CG"]["convergence"]["kind"] == "superlinear"
    assert run["curves"]["RG², ALS"]["convergence"]["kind"] == "linear"


def test_a_study_goes_on_from_its_file_and_from_no_other(tmp_path):
    tr.planted(60, 30, interactions=600).save_npz(tmp_path / "d.npz")
    out, settings = tmp_path / "found.json", tmp_path / "settings.json"

    def run(*, rate=0.1, **more):
        settings.write_text(json.dumps({"bpr": {"learning_rate": rate}}))
        lines = []
        given = {"factors": 2, "epochs": 2, "curves": "BPR;WRMF", "params": settings, "file": out, **more}
        command = " ".join(f"--{name} {value}" for name, value in more.items())
        convergence.run(tmp_path / "d.npz", **given, command=f"study {command}", log_line=lines.append)
        drawn = [name for name in ("BPR", "WRMF") if any(f": {name}: " in line for line in lines)]
        return json.loads(out.read_text()), drawn

    first, drawn = run()
    assert drawn == ["BPR", "WRMF"]
    again, drawn = run()
    assert drawn == []
    assert again["runs"][0]["curves"] == first["runs"][0]["curves"]
    with pytest.raises(ParameterError, match="other parameters of BPR; --again 'BPR'"):
        run(rate=0.2)
    with pytest.raises(ParameterError, match="another study: epochs differ"):
        run(epochs=3)
    assert json.loads(out.read_text()) == again
    changed, drawn = run(again="BPR", rate=0.2)
    assert drawn == ["BPR"]
    assert changed["runs"][0]["curves"]["WRMF"] == first["runs"][0]["curves"]["WRMF"]
    assert changed["command"] == first["command"]  # which makes the same from nothing
    more, drawn = run(seeds="1", rate=0.2)
    assert drawn == ["BPR", "WRMF"]
    assert [one["seed"] for one in more["runs"]] == [0, 1]
    assert more["command"] == "study\nstudy --seeds 1"


def test_rg_as_weights_per_cell_is_the_same_objective():
    train, valid, _ = tr.planted(60, 30, interactions=600).split()
    objective = Study(train, valid, 3, 0.2, 5, "ndcg@10", 0).objective()
    rng = np.random.default_rng(0)
    P, Q = rng.standard_normal((60, 3)), rng.standard_normal((30, 3))
    assert as_weighted(objective, 0.3).loss(P, Q) == pytest.approx(objective.loss(P, Q, regularization=0.3), rel=1e-9)


def test_adam_minimises_the_same_objective():
    from taylorank import losses
    from taylorank.backbones import MF
    from taylorank.training.feeds import UserFeed, pair_weights

    train, valid, _ = tr.planted(60, 30, interactions=600).split()
    study = Study(train, valid, 3, 0.2, 5, "ndcg@10", 0)
    model, objective = study.closed().fit(train), study.objective()
    measure = Measure(study, objective, 0.3, model)
    backbone = MF(n_users=60, n_items=30, factors=3).double()
    popularity = torch.tensor(model.item_popularity)
    criterion = losses.get("rg2").criterion(n_users=60, n_items=30, factors=3, popularity=popularity).double()
    feed = UserFeed(train, weights=pair_weights(train, model.context_exponent), batch_size=60, device="cpu")
    (batch,) = feed.batches(torch.Generator().manual_seed(0))
    positives = batch.positives._replace(weights=batch.positives.weights.double())
    from dataclasses import replace

    found = float(_loss(backbone, criterion, replace(batch, positives=positives), 0.3).detach())
    P, Q = (table.detach().numpy() for table in (backbone.user_factors, backbone.item_factors))
    expected = measure.point(0, 0.0, P, Q)["loss"] - 0.5 * objective.squared_norm
    assert found == pytest.approx(expected / objective.context_total, rel=1e-5)


@pytest.mark.parametrize(
    ("losses", "kind"),
    [
        ([0.9**k for k in range(1, 60)], "linear"),
        ([0.1 * 0.5 ** (k * k) for k in range(1, 7)], "superlinear"),
        ([1 / k**2 for k in range(2, 90)], "sublinear"),
        ([0.2, 0.1], "too few iterations"),
    ],
)
def test_laws_are_told_apart(losses, kind):
    assert orders(losses, best=0.0, zero=1.0)["kind"] == kind


def test_power_and_rate_are_recovered():
    assert orders([1 / k**2 for k in range(1, 90)], best=0.0, zero=1.0)["power"] == pytest.approx(2, abs=0.1)
    assert orders([0.8**k for k in range(1, 60)], best=0.0, zero=1.0)["rate"] == pytest.approx(0.8)


def test_command_line_writes_the_study(run, tmp_path, capsys):
    tr.planted(80, 30, interactions=700).save_npz(tmp_path / "small.npz")
    (tmp_path / "p.json").write_text('{"softmax": {"learning_rate": 0.05}}')
    given = ["convergence", tmp_path / "small.npz", "--factors", 3, "--epochs", 3, "--json", tmp_path / "out.json"]
    assert run("bench", *given, "--curves", "RG², ALS;softmax, Adam", "--params", tmp_path / "p.json") == 0
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["data"]["name"] == "small"
    assert found["command"].startswith(f"python -m research.bench convergence {tmp_path / 'small.npz'} --factors 3")
    assert list(found["runs"][0]["curves"]) == ["RG², ALS", "softmax, Adam"]
    assert "softmax, Adam: best metric" in capsys.readouterr().out
    assert run("bench", *given, "--curves", "RG3") == 2
    assert "no curve is called 'RG3'; choose from RG², SVD;" in capsys.readouterr().err
