"""Training by gradients: the softmax family on any backbone. Torch is imported when something is fitted."""

from taylorank.training.neural import Neural

__all__ = ["Neural"]
