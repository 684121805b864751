"""
Compare fairly
==============

The same splits, the same number of fits for tuning, one look at the test data, and a test of whether the differences
could be chance.
"""

import altair as alt
import polars as pl

import taylorank as tr

data = tr.planted(500, 300, interactions=12_000)
found = tr.compare(
    data, ["rg2", "ease", "itemknn", "popularity"], seeds=(0, 1), trials=2, metrics=["ndcg@10", "recall@20"]
)
print("best:", found.best)
rows = [{"model": name, **one["metrics"]["ndcg@10"]} for name, one in found.models.items()]
for row in rows:
    print(f"{row['model']:10}  {row['mean']:.4f}  ({row['low']:.4f} to {row['high']:.4f})")

# %%
base = alt.Chart(pl.DataFrame(rows), title="NDCG@10, mean over users and two splits", width=380, height=160)
y = alt.Y("model:N", sort="-x", title=None)
chart = base.mark_point(filled=True, size=90).encode(x=alt.X("mean:Q", title=None), y=y) + base.mark_rule().encode(
    x="low:Q", x2="high:Q", y=y
)
