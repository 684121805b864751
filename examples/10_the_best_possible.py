"""
How far from the best possible?
===============================

Planted data come from a known model, so that every ranking can be held against the best one there is. The regret is
what it loses, without the noise of a test set.
"""

import altair as alt
import polars as pl

import taylorank as tr
from taylorank.ranking import regret

data = tr.planted(1500, 800, interactions=40_000)
train, test = data.split((0.9, 0.1))
models = {"popular items": tr.Popularity(), "item neighbours": tr.ItemKNN(), "iALS": tr.IALS(8), "RG²": tr.RG2(8)}
rows = []
for name, model in models.items():
    found = regret(model.fit(train), test, k=10)
    rows.append({"model": name, "regret": found["regret@10"]})
    print(f"{name:16} {found['expected_ndcg@10']:.4f} of {found['best_ndcg@10']:.4f}")

# %%
chart = (
    alt.Chart(pl.DataFrame(rows), title="Regret@10: less is better", width=380, height=160)
    .mark_bar()
    .encode(x=alt.X("regret:Q", title=None), y=alt.Y("model:N", sort="x", title=None))
)
