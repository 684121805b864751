"""On a GPU second-order steps and kept moments are those of the CPU."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import taylorank as tr  # noqa: E402
from taylorank import losses  # noqa: E402
from taylorank.objectives import ials_objective  # noqa: E402
from taylorank.training.pair_objective import weighted_pairs  # noqa: E402

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")


@pytest.mark.parametrize("backbone", ["mf", "lightgcn", "two-tower"])
def test_newton_as_on_the_cpu(backbone):
    data = tr.planted(120, 50, interactions=1500)
    params = {"factors": 4, "optimizer": "newton", "epochs": 4, "precision": "float64", "regularization": 0.1}
    cpu, gpu = (tr.Neural("rg2", backbone, device=device, **params).fit(data) for device in ("cpu", "cuda"))
    found, expected = ([record["loss"] for record in model.history_] for model in (gpu, cpu))
    np.testing.assert_allclose(found[:1], expected[:1], rtol=1e-6)
    assert found == sorted(found, reverse=True)


def test_weights_per_cell_as_on_the_cpu():
    objective = ials_objective(
        tr.planted(120, 50, interactions=1500), unobserved_weight=0.1, regularization=0.1, nu=1.0
    )
    draw = torch.Generator().manual_seed(0)
    P, Q, W, H = (torch.randn(rows, 4, generator=draw, dtype=torch.float64) for rows in (120, 50, 120, 50))
    results = []
    for device in ("cpu", "cuda"):
        point = weighted_pairs(objective, dtype=torch.float64, device=device).at(P.to(device), Q.to(device))
        product = point.hessian(W.to(device), H.to(device))
        results.append([torch.tensor(point.value), *(part.cpu() for part in (*point.gradient, *product))])
    torch.testing.assert_close(results[1], results[0])


def test_kept_moments_as_on_the_cpu():
    draw = torch.Generator().manual_seed(0)
    U, V = (torch.randn(rows, 4, generator=draw) for rows in (5, 30))
    results = []
    for device in ("cpu", "cuda"):
        criterion = losses.get("rg2").criterion(
            n_users=5, n_items=30, factors=4, popularity=torch.arange(30.0), refresh=3, draws=8
        )
        criterion.to(device)
        queries, items = (part.clone().to(device).requires_grad_() for part in (U, V))
        places = [torch.tensor(values, device=device) for values in ([0, 2, 2], [7, 1, 29], [1.0, 2.0, 0.5])]
        value = criterion(queries, lambda columns, items=items: items[columns], losses.Positives(*places))
        value.backward()
        results.append([value.detach().cpu(), queries.grad.cpu()])
    torch.testing.assert_close(results[1], results[0])
