"""
Good parameters in seconds
==========================

`tune` searches on validation data within a budget. For RG² one fit is judged at many ranks and thresholds, so a few
fits go a long way.
"""

import altair as alt
import polars as pl

import taylorank as tr

train, valid, test = tr.datasets.thesaurus().core(40).split()  # words with at least 40 relations
found = tr.tune("rg2", train, valid, metric="ndcg@10", trials=2, refit=True)  # fits the best to both parts in the end
print(found.best)
print(f"validation {found.value:.4f}, {len(found.trials)} settings from {found.fits} fits")
before = tr.evaluate(tr.RG2(64).fit(train), test, k=10, seen=[train, valid])["ndcg@10"]
after = tr.evaluate(found.model, test, k=10, seen=[train, valid])["ndcg@10"]
print(f"test: {before:.4f} with 64 factors, {after:.4f} tuned")

# %%
rows = [{"factors": trial.params["factors"], "ndcg": trial.value} for trial in found.trials]
chart = (
    alt.Chart(pl.DataFrame(rows), title="NDCG@10 of every setting that was tried", width=420, height=240)
    .mark_point(filled=True, opacity=0.5)
    .encode(
        x=alt.X("factors:Q", title="factors K", scale=alt.Scale(type="log", base=2)),
        y=alt.Y("ndcg:Q", title=None, scale=alt.Scale(zero=False)),
    )
)
