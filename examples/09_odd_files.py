"""
Read odd files
==============

Columns are recognised by their names and what was guessed is said. Whatever is not recognised can be named; ids are
kept exactly, so "007" stays "007".
"""

import tempfile
from pathlib import Path

import taylorank as tr

folder = Path(tempfile.mkdtemp())
log = folder / "orders.csv"
log.write_text("when;customer;article;stars\n2026-01-03;007;tea;5\n2026-01-04;007;jam;2\n2026-01-05;012;tea;4\n")

# %%
# A column of ratings filters; one of counts or seconds would be given as `strength`.
data = tr.read_interactions(log, user="customer", item="article", rating="stars", timestamp="when", min_rating=3)
print(data)
print(data.user_ids, data.item_ids)

# %%
# Lists of pairs, data frames, SciPy matrices and Parquet files are read by the same call.
print(tr.read_interactions([("ann", "tea"), ("ann", "jam"), ("bob", "tea")]))
