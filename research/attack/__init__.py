"""Attacks on the library with bounded time: each tries odd input until its minutes are over, and counts what came.

A module has `attack(seed, folder)`: it makes one case from the seed, tries it, and returns "result" or "refused". It
raises `Difference` for a result that is not the right one; any other exception but the library's own is a fault, and so
is a case that ends its process or does not end.
"""

from __future__ import annotations

ATTACKS = {
    "parsers": "Mutated files of every format that is read, against Python's csv where it can read them.",
    "kernels": "Native kernels: any shape, stride, type, alignment and index, NaN, 1 to 64 threads, little memory.",
    "numbers": "Every model on one user, one item, power laws, parts apart, strengths of 1e-30 to 1e30, low rank.",
    "parameters": "Every parameter of every model, every option of the commands: wrong types and extreme values.",
    "determinism": "The same bits for any number of threads and CPUs, hash seed, block of a file and SIMD level.",
}


class Difference(Exception):
    """A result that is not what a plain reader, or the definition, gives."""
