"""Fast inner loops: native where the compiled module is present, plain NumPy and SciPy otherwise."""

from taylorank.kernels.aligned import aligned_empty
from taylorank.kernels.backend import KernelInfo, kernel_info
from taylorank.kernels.best import ItemVectors, screened, top_k, top_k_scores
from taylorank.kernels.grams import gram, inverse
from taylorank.kernels.pair_scores import nonzero_scores
from taylorank.kernels.row_pairs import pair_products
from taylorank.kernels.row_solver import row_solve
from taylorank.kernels.row_system import RowSystem, Tilt
from taylorank.kernels.small_products import small_product
from taylorank.kernels.softmax import SoftmaxColumns, softmax_sums
from taylorank.kernels.sums import gather_sum
from taylorank.kernels.thread_limit import threads
from taylorank.kernels.unit_steps import unit_adam

__all__ = [
    "ItemVectors",
    "KernelInfo",
    "RowSystem",
    "SoftmaxColumns",
    "Tilt",
    "aligned_empty",
    "gather_sum",
    "gram",
    "inverse",
    "kernel_info",
    "nonzero_scores",
    "pair_products",
    "row_solve",
    "screened",
    "small_product",
    "softmax_sums",
    "threads",
    "top_k",
    "top_k_scores",
    "unit_adam",
]
