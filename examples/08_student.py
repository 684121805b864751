"""
A small model that ranks like a large one
=========================================

A student learns the order that a large model gives. It has a few numbers for each user and item, which is what a phone
or a vector index wants.
"""

import altair as alt
import polars as pl

import taylorank as tr

train, valid, test = tr.datasets.thesaurus().core(40).split()  # words with at least 40 relations
teacher = tr.RG2(factors=256).fit(train)
rows = []
for factors in (8, 16, 32):
    plain = next(teacher.path(factors=[factors], regularization=[teacher.regularization]))
    for kind, model in (("RG² of that rank", plain), ("student", teacher.distil(factors, steps=200))):
        ndcg = tr.evaluate(model, valid, k=10, seen=train)["ndcg@10"]
        rows.append({"model": kind, "numbers": factors, "ndcg": ndcg})
        print(f"{factors:3} numbers, {kind}: NDCG@10 {ndcg:.4f}")
print(f"teacher, 256 numbers: {tr.evaluate(teacher, valid, k=10, seen=train)['ndcg@10']:.4f}")

# %%
chart = (
    alt.Chart(pl.DataFrame(rows), title="NDCG@10 by numbers per user and item", width=380, height=220)
    .mark_line(point=True)
    .encode(
        x=alt.X("numbers:O", title=None, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("ndcg:Q", title=None, scale=alt.Scale(zero=False)),
        color=alt.Color("model:N", title=None),
    )
)
