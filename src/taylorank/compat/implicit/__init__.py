"""The signatures of implicit (0.7): `import taylorank.compat.implicit as implicit`.

`implicit.als.AlternatingLeastSquares` minimises the same loss as there, `implicit.nearest_neighbours` has the same
similarities, `implicit.evaluation` the same metrics; `rg.RG2` is this library's model behind the same methods, and
`bpr` needs torch. docs/compat.md says what differs.
"""

from taylorank.compat.implicit import als, bpr, evaluation, nearest_neighbours, rg, utils

__all__ = ["als", "bpr", "evaluation", "nearest_neighbours", "rg", "utils"]
