"""python .ci/try_installed.py [--pure]: an installed taylorank recommends, and has the kernels that it should have."""

import sys
import tempfile
from pathlib import Path

import taylorank as tr
from taylorank.kernels import kernel_info

train, test = tr.planted(300, 200, interactions=8_000).split((0.8, 0.2))
model = tr.RG2(factors=8).fit(train)
assert tr.evaluate(model, test, k=10)["ndcg@10"] > tr.evaluate(tr.Popularity().fit(train), test, k=10)["ndcg@10"]
assert tr.IALS(8).fit(train).recommend(train.user_ids[:2], n=5)[0].shape == (2, 5)
with tempfile.TemporaryDirectory() as folder:
    model.save(Path(folder) / "model.tr")
    again = tr.load(Path(folder) / "model.tr")
assert (again.recommend(train.user_ids)[0] == model.recommend(train.user_ids)[0]).all()
print(kernel_info())
assert ("native" in str(kernel_info())) != ("--pure" in sys.argv), kernel_info()
