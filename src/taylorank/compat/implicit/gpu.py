"""`HAS_CUDA`: whether there is a CUDA device. The models are the same classes on either, by `use_gpu`."""

from __future__ import annotations

from taylorank.torch_extra import uses_cuda

HAS_CUDA = uses_cuda("auto")
