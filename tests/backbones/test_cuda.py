"""On a GPU every backbone gives the vectors and gradients that it gives on the CPU."""

from __future__ import annotations

import pytest
import torch
from scipy import sparse

from taylorank import backbones
from taylorank.backbones.graph import Graph

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")

OPTIONS = {
    "mf": {"similarity": "cosine", "item_bias": True},
    "sasrec": {"length": 6, "heads": 2, "dropout": 0.0},
    "two-tower": {"item_features": sparse.random_array((9, 5), density=0.5, format="csr", rng=0)},
}


@pytest.mark.parametrize("name", backbones.names())
def test_as_on_the_cpu(name, data) -> None:
    results = []
    for device in ("cpu", "cuda"):
        model = backbones.get(name).build(data, factors=4, **OPTIONS.get(name, {})).to(device)
        rows = torch.arange(12) if model.takes == "users" else torch.from_numpy(backbones.sequences(data, 6))
        encoded = model.encode()
        scores = encoded.scores(rows.to(device))
        picked = encoded.items(torch.tensor([[0, 8], [3, 3]], device=device))
        (scores.square().sum() + picked.sin().sum()).backward()
        results.append([t.cpu() for t in (scores.detach(), picked.detach(), *(p.grad for p in model.parameters()))])
    for cpu, gpu in zip(*results, strict=True):
        torch.testing.assert_close(cpu, gpu, rtol=1e-4, atol=1e-5)


def test_a_product_with_the_graph_has_the_same_bits_again(data) -> None:
    graph = Graph(data.by_user).to("cuda")
    vectors = torch.randn(data.n_users + data.n_items, 64, device="cuda")
    assert len({graph.product(vectors).cpu().numpy().tobytes() for _ in range(20)}) == 1
