"""
One fit, every rank and every threshold
=======================================

The SVD of a fit holds all smaller models. `path` walks through them without fitting again, so that rank and threshold
are chosen by looking, not by waiting.
"""

import altair as alt
import polars as pl

import taylorank as tr

train, valid, test = tr.datasets.thesaurus().core(40).split()  # words with at least 40 relations
model = tr.RG2(factors=256).fit(train)
rows = []
for smaller in model.path(factors=(8, 16, 32, 64, 128, 256), regularization=(0.0, 0.2, 0.4)):
    value = tr.evaluate(smaller, valid, k=10)["ndcg@10"]
    rows.append({"factors": smaller.factors, "threshold": str(smaller.regularization), "ndcg": value})
print(max(rows, key=lambda row: row["ndcg"]))

# %%
# Words have many meanings, so this set wants a high rank; the threshold takes a little from each singular value.
chart = (
    alt.Chart(pl.DataFrame(rows), title="NDCG@10 on validation data", width=420, height=240)
    .mark_line(point=True)
    .encode(
        x=alt.X("factors:Q", title="factors K", scale=alt.Scale(type="log", base=2)),
        y=alt.Y("ndcg:Q", title=None, scale=alt.Scale(zero=False)),
        color=alt.Color("threshold:N", title="regularization"),
    )
)
