"""Calls of compiled code from Python, of which nothing is looked at again at each call.

At a call numba finds the type of each argument anew, and a model has hundreds of arrays: 27 µs, the time of several
steps of a small scene. Here a structure that stays the same is laid out in memory once, its types are known from then
on, and compiled code is called by its address.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numba import types

from .function_pointers import address_of
from .kinds import kind_of
from .references import WORD, Reference, address, compiling, word_count, words
from .references import _laid_out as laid_out

NUMBER, WHOLE, STRUCTURE = ctypes.c_double, ctypes.c_int64, ctypes.c_void_p
_KINDS = {NUMBER: types.float64, WHOLE: types.int64}


def prepared_address(function: Any, results: int, *arguments: Any) -> int:
    """Where the code for such arguments is, structures among them or NUMBER and WHOLE."""
    kinds = [_KINDS[entry] if entry in (NUMBER, WHOLE) else kind_of(entry) for entry in arguments]
    for kind, value in zip(kinds, arguments, strict=True):
        if isinstance(kind, Reference) and len(words(value)) != word_count(kind.tup):
            raise TypeError(f"{type(value).__name__} holds a tuple with structures in it that is none itself")
    return address_of(function, types.UniTuple(types.int64, results), *kinds)


def _laid_out_parts(fixed: Any) -> list[np.ndarray]:
    """The words of each of its entries; those of a system or state are known where compiled code has seen it."""
    known = laid_out.known
    return [known[id(part)][1] if id(part) in known else np.array(words((part,)), np.int64) for part in fixed]


@cache
def _form(given: tuple) -> Any:
    """As numba calls it, with the interpreter's lock, which functions of users want."""
    return ctypes.PYFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3, *given)


class Prepared:
    """function(fixed, *given), which returns that many whole numbers; `given`: NUMBER, WHOLE or STRUCTURE for each."""

    def __init__(self, function: Any, where: int, results: int, fixed: Any, *given: Any) -> None:
        self.fixed, self._function = fixed, function  # its arrays stay alive as long as their addresses
        if not compiling:
            return
        # results, where numba would tell of an exception (kernels raise none), and what is fixed
        self._memory = np.concatenate([np.zeros(results + 1, np.int64), *_laid_out_parts(fixed)])
        self._results = self._memory[:results]
        begin = self._memory.__array_interface__["data"][0]
        self._places = begin, begin + WORD * results, begin + WORD * (results + 1)
        self._structures = [k for k, kind in enumerate(given) if kind is STRUCTURE]
        self._call = _form(given)(where)

    def __call__(self, *given: Any) -> tuple[int, ...]:
        if not compiling:
            return self._function(self.fixed, *given)
        numbers = list(given)
        for k in self._structures:
            numbers[k] = address(given[k])
        if self._call(*self._places, *numbers) != 0:
            raise RuntimeError(f"{self._function.__name__} raised an exception, which kernels may not")
        return tuple(self._results.tolist())
