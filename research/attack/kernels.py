"""Kernels with any arguments: what does not fit is refused, nothing beside an array is read or written, and what fits
gives the same bits for any number of threads, near those of NumPy.

Arrays end where a page begins that may not be touched, so that a step too far ends the process; `make sanitize` runs
the same cases in builds that notice steps of one byte.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from research.attack import Difference
from research.attack.arrays import FOREIGN, Array, guarded, misaligned, strided, with_nothing
from research.attack.kernel_calls import Call, random_call
from research.attack.kernel_twins import compare_with_reference
from research.attack.trial import is_sanitized
from taylorank.kernels import backend

REFUSALS = (ValueError, TypeError, MemoryError)
HUGE = (-(2**63), -1, 2**31, 2**62, 2**63 - 1)
WILD = (-(2**31), -1, 2**31 - 1)
LARGEST = 1 << 22  # number under a sanitizer, where memory cannot be limited
SHORT = 24 << 20  # bytes of address space that a case has, where memory is short


def attack(seed: int, folder: Path) -> str:
    """Call one kernel: through its binding, or as callers do."""
    if backend.native is None:
        raise Difference("the native kernels are not built")
    rng = np.random.default_rng(seed)
    if rng.random() < 0.4:
        return compare_with_reference(rng)
    call = random_call(rng)
    for name, value in call.arguments.items():
        if isinstance(value, np.ndarray):
            call.arguments[name] = guarded(value)
    way = rng.random()
    if way < 0.2:
        return _same_bits(call, rng)
    if way < 0.25 and not is_sanitized():
        return _short_of_memory(call)
    return _damaged(call, rng)


def _same_bits(call: Call, rng: np.random.Generator) -> str:
    """Two numbers of threads: the same bits, and the same refusal."""
    outcomes = []
    for threads in (1, int(rng.integers(2, 65))):
        arguments = {**call.arguments, "threads": threads}
        arguments |= {name: guarded(call.arguments[name].copy()) for name in call.results}
        try:
            returned = call.function(**arguments)
            outcomes.append([returned if isinstance(returned, int) else 0, *(arguments[name] for name in call.results)])
        except REFUSALS as error:
            outcomes.append([str(error)])
    first, second = outcomes
    same = all(_bits(one) == _bits(other) for one, other in zip(first, second, strict=True))
    if not same and first[0] in (0, -1, True):  # results of a solve that failed are undefined
        raise Difference(f"{call.function.__name__} differs between 1 and {arguments['threads']} threads")
    return "refused" if isinstance(first[0], str) else "result"


def _bits(value: Any) -> Any:
    return value.tobytes() if isinstance(value, np.ndarray) else value


def _short_of_memory(call: Call) -> str:
    """Hardly any memory is left: a result or a MemoryError, whichever thread asked for it."""
    import resource

    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + SHORT, before[1]))
    try:
        call.function(**{**call.arguments, "threads": 64})
    except REFUSALS:
        return "refused"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    return "result"


def _damaged(call: Call, rng: np.random.Generator) -> str:
    name = str(rng.choice(list(call.arguments)))
    value, must_refuse = _damage(call, name, rng)
    try:
        call.function(**{**call.arguments, name: value})
    except REFUSALS:
        return "refused"
    if must_refuse:
        said = f"{value.dtype}{value.shape}" if isinstance(value, np.ndarray) else repr(value)[:40]
        raise Difference(f"{call.function.__name__} takes {name} = {said}")
    return "result"


def _damage(call: Call, name: str, rng: np.random.Generator) -> tuple[Any, bool]:
    """Return another value for an argument, and whether it can only be refused."""
    value = call.arguments[name]
    if isinstance(value, np.ndarray):
        return _damaged_array(call, name, value, rng)
    if name == "threads":
        threads = int(rng.choice([0, -1, -(2**31), 2**31, 2**31 - 1, 1024]))
        return threads, threads < 1 or threads > 2**31 - 1
    if name in ("level", "method"):
        return str(rng.choice(["", "avx9", "é", "x" * 1000])), True
    if isinstance(value, bool):
        return not value, False
    if isinstance(value, int):
        number = int(rng.choice(HUGE))
        return min(number, LARGEST) if is_sanitized() else number, False
    if isinstance(value, float):
        return float(rng.choice([np.nan, np.inf, -1.0, 1e30])), False
    if value is None:
        return np.zeros(int(rng.integers(4)), dtype=str(rng.choice(FOREIGN))), True
    return None, True


def _damaged_array(call: Call, name: str, value: Array, rng: np.random.Generator) -> tuple[Any, bool]:
    way = rng.integers(8)
    if way == 0:
        other = guarded(value.astype(str(rng.choice(FOREIGN))))
        return other, other.dtype != value.dtype
    if way == 1:
        other = misaligned(value)
        return other, not other.flags.aligned
    if way == 2:
        other = strided(value, rng)
        return other, not other.flags.c_contiguous
    if way == 3 and name in call.results:
        value.flags.writeable = False
        return value, True
    if way == 4:
        return guarded(_reshaped(value, rng)), False
    if way == 5 and name in call.positions and value.size:
        value[rng.integers(value.size)] = rng.choice([*WILD, call.positions[name]])
        return value, True
    if way == 6 and name in call.pointers:
        value[rng.integers(value.size)] = rng.choice([-1, 2**62, -(2**63), value[-1] + 1])
        return value, True
    return guarded(with_nothing(value, rng)), False


def _reshaped(value: Array, rng: np.random.Generator) -> Array:
    """Return the array with a row or column more or less, with another axis, or empty."""
    axis = int(rng.integers(max(value.ndim, 1)))
    way = rng.integers(5)
    if way == 0:
        return value[None]
    if way == 1 and value.ndim > 1:
        return value.reshape(-1)
    if way == 2:
        return np.take(value, range(0), axis=axis)
    if way == 3 and value.shape[axis]:
        return np.delete(value, -1, axis=axis)
    grown: Array = (
        np.concatenate([value, np.ones_like(np.take(value, [0], axis=axis, mode="wrap"))], axis)
        if value.size
        else value
    )
    return grown
