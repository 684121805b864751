"""
First recommendations
=====================

The thesaurus that comes with the library is a log like any other: root words take the place of users, the words listed
under them that of items.
"""

import taylorank as tr

data = tr.datasets.thesaurus()
print(data)

# %%
# One fit; then ask for what is not listed yet but fits. Ids go in and come out as they are in the data.
model = tr.RG2(factors=64).fit(data)
for word in ("ocean", "music"):
    ids, scores = model.recommend([word], n=6)
    print(f"{word}: {', '.join(ids[0])}")

# %%
# Items that appear with the same users.
ids, scores = model.similar_items(["bright"], n=6)
print("like bright:", ", ".join(ids[0]))
