"""The numbers that the papers print, each table once, columns in the papers' order."""

from __future__ import annotations

Numbers = tuple[float, ...]

SETS = ("MovieLens", "Electronics", "Steam")
# Pu et al. 2025, Table 3: MRR@10 and NDCG@10 on MovieLens, Electronics, Steam
TABLE_3: dict[str, Numbers] = {
    "BPR": (0.3476, 0.2116, 0.0124, 0.0154, 0.0434, 0.0521),
    "BCE": (0.3602, 0.2228, 0.0098, 0.0126, 0.0435, 0.0532),
    "SSM": (0.3785, 0.2378, 0.0119, 0.0152, 0.0466, 0.0549),
    "Sparsemax": (0.3177, 0.1738, 0.0078, 0.0100, 0.0317, 0.0359),
    "UIB": (0.3836, 0.2426, 0.0100, 0.0133, 0.0410, 0.0506),
    "SML": (0.3386, 0.2045, 0.0076, 0.0103, 0.0406, 0.0482),
    "WRMF": (0.4475, 0.2797, 0.0146, 0.0178, 0.0464, 0.0544),
    "SM": (0.4487, 0.2849, 0.0172, 0.0212, 0.0493, 0.0579),
    "RG²": (0.4720, 0.2957, 0.0186, 0.0229, 0.0509, 0.0586),
    "RG×": (0.4737, 0.2975, 0.0189, 0.0233, 0.0513, 0.0590),
}
# Pu et al. 2025, Table 4: MAP@10 and MRR@10 on Wiki; sparsemax ran out of time there
TABLE_4: dict[str, Numbers] = {
    "BPR": (0.3691, 0.5291),
    "BCE": (0.4527, 0.5813),
    "SSM": (0.5235, 0.6717),
    "SM": (0.5750, 0.7202),
    "RG²": (0.5525, 0.6988),
    "RG×": (0.5537, 0.6996),
}
# Pu et al. 2024, Table 4: RG², mean and standard deviation over five seeds
RG2_IN_2024 = (
    (0.4723, 0.0014),
    (0.2963, 0.0004),
    (0.0173, 0.0001),
    (0.0212, 0.0002),
    (0.0492, 0.0002),
    (0.0575, 0.0002),
)
# Pu et al. 2024, Table 4: baselines whose rows Pu et al. 2025 repeats
BASELINES_IN_2024: dict[str, Numbers] = {
    "WRMF": (0.4475, 0.2797, 0.0146, 0.0178, 0.0464, 0.0544),
    "SM": (0.4487, 0.2849, 0.0172, 0.0212, 0.0493, 0.0579),
}
# Pu et al. 2024, Table 5: MRR@10 and NDCG@10 on LightGCN of three layers
LIGHTGCN_IN_2024: dict[str, Numbers] = {
    "UIB": (0.3530, 0.2171, 0.0152, 0.0191, 0.0486, 0.0569),
    "SML": (0.2482, 0.1535, 0.0088, 0.0115, 0.0396, 0.0463),
    "SM": (0.4414, 0.2814, 0.0171, 0.0215, 0.0476, 0.0564),
    "RG²": (0.4652, 0.2919, 0.0176, 0.0219, 0.0464, 0.0542),
}
