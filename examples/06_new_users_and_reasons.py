"""
A new user, and why
===================

Somebody comes with a short history. Folding in computes their vector from it, exactly, without fitting anything; every
recommendation is a sum over the history, so it can be explained.
"""

import altair as alt
import polars as pl

import taylorank as tr

model = tr.RG2(factors=64).fit(tr.datasets.thesaurus())
visitor = model.fold_in([("visitor", word) for word in ("ocean", "deep", "blue", "cold")])
ids, scores = visitor.recommend(["visitor"], n=5)
print(", ".join(ids[0]))

# %%
# What did each word of the history add to the first one?
why = visitor.explain("visitor", ids[0][0])
rows = [{"word": word, "part": part} for word, part in zip(why.items, why.contributions, strict=True)]
chart = (
    alt.Chart(pl.DataFrame(rows), title=f"Why {ids[0][0]}?", width=380, height=160)
    .mark_bar()
    .encode(x=alt.X("part:Q", title="added to the score"), y=alt.Y("word:N", sort="-x", title=None))
)
