"""The records of comparisons in research/records: written again small, their models tested two by two."""
