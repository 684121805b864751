"""
What is likely, and what is special
===================================

The default ranks by probability: what will be chosen next. `popularity_discount` moves towards what sets a user apart
from the others. It costs no fit, so try several.
"""

import altair as alt
import polars as pl

import taylorank as tr

train, valid, test = tr.planted(1500, 800, interactions=40_000).split()
model = tr.RG2(factors=8).fit(train)
rows = []
for discount in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
    ranked = model.set_params(popularity_discount=discount)
    found = tr.evaluate(ranked, test, k=10, metrics=["recall", "novelty"], seen=[train, valid])
    rows.append({"discount": discount, "recall": found["recall@10"], "novelty": found["novelty@10"]})
    print(f"discount {discount:.1f}: recall@10 {found['recall@10']:.4f}, novelty {found['novelty@10']:.2f} bits")

# %%
chart = (
    alt.Chart(pl.DataFrame(rows), title="Recall against novelty", width=420, height=240)
    .mark_line(point=True)
    .encode(
        x=alt.X("novelty:Q", title="novelty@10, bits", scale=alt.Scale(zero=False)),
        y=alt.Y("recall:Q", title="recall@10", scale=alt.Scale(zero=False)),
        order="discount:Q",
    )
)
