"""The kernels for torch tensors: Triton for those on a CUDA device, plain torch for all others.

`torch_reference` holds the plain twins. Importing this package imports torch.
"""

from taylorank.kernels.cuda.best import top_k
from taylorank.kernels.cuda.compiler import runs_triton
from taylorank.kernels.cuda.device_rows import DeviceRows
from taylorank.kernels.cuda.gather import entry_products, gather_sum
from taylorank.kernels.cuda.grams import gram, inverse
from taylorank.kernels.cuda.pair_scores import nonzero_scores
from taylorank.kernels.cuda.row_solver import row_solve
from taylorank.kernels.cuda.scaled import scaled_rows
from taylorank.kernels.cuda.streamed import StreamedRows

__all__ = [
    "DeviceRows",
    "StreamedRows",
    "entry_products",
    "gather_sum",
    "gram",
    "inverse",
    "nonzero_scores",
    "row_solve",
    "runs_triton",
    "scaled_rows",
    "top_k",
]
