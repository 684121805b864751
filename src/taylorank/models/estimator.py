"""The scikit-learn conventions: parameters are the arguments of `__init__`, which only stores them."""

from __future__ import annotations

import inspect
from typing import Any, Self

from taylorank.errors import NotFittedError, ParameterError

OF_THE_MACHINE = ("num_threads", "device")  # parameters that say where to compute, not what


def settled_params(model: Any) -> dict[str, Any]:
    """Return the parameters of any model, of ours with numbers in the place of "auto"."""
    params: dict[str, Any] = model.settled_params() if isinstance(model, Estimator) else model.get_params()
    return params


class Estimator:
    """`get_params`, `set_params` and a repr, from the signature of `__init__`."""

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return list(inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def settled_params(self) -> dict[str, Any]:
        """Return the parameters with numbers in the place of "auto"."""
        return self.get_params()

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name and return self."""
        for name, value in params.items():
            if name not in self._parameter_names():
                known = ", ".join(self._parameter_names()) or "none"
                raise ParameterError(f"{type(self).__name__} has no parameter {name!r}", f"its parameters: {known}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({shown})"

    def _learned(self, name: str) -> Any:
        """Return a learned attribute, or say that there is none yet."""
        try:
            return self.__dict__[name]
        except KeyError:
            raise NotFittedError(f"this {type(self).__name__} is not fitted", "call fit(train) first") from None
