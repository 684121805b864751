"""Fast inner loops: native where the compiled module is present, plain SciPy otherwise."""

from taylorank.kernels.aligned import aligned_empty
from taylorank.kernels.backend import KernelInfo, kernel_info
from taylorank.kernels.gather_sum import gather_sum

__all__ = ["KernelInfo", "aligned_empty", "gather_sum", "kernel_info"]
