"""
Is it any good?
===============

Hide some interactions, fit to the rest, and see whether the hidden ones come first. The popular items are what every
model has to beat; intervals say how far chance alone would move the mean.
"""

import altair as alt
import polars as pl

import taylorank as tr

train, valid, test = tr.datasets.thesaurus().core(40).split()  # words with at least 40 relations
models = {"Popularity": tr.Popularity(), "ItemKNN": tr.ItemKNN(), "EASE": tr.EASE(), "RG2": tr.RG2(128)}
rows = []
for name, model in models.items():
    found = tr.evaluate(model.fit(train), test, k=10, seen=[train, valid], confidence=0.95)
    low, high = found.intervals["ndcg@10"]
    rows.append({"model": name, "ndcg": found["ndcg@10"], "low": low, "high": high})
    print(f"{name:10}  NDCG@10 {found['ndcg@10']:.4f}  (95 %: {low:.4f} to {high:.4f})")

# %%
base = alt.Chart(pl.DataFrame(rows), title="NDCG@10 with 95 % intervals", width=380, height=160)
y = alt.Y("model:N", sort="-x", title=None)
chart = base.mark_point(filled=True, size=90).encode(x=alt.X("ndcg:Q", title=None), y=y) + base.mark_rule().encode(
    x="low:Q", x2="high:Q", y=y
)
