"""A box: all that a step works on, behind one address.

System, state and the tables of contacts are some 250 arrays. Compiled functions that hand them to each other by
value take minutes to compile and a microsecond to call. So they are laid out once in memory, as compiled code would
lay them out itself, and functions pass the address on:

    words 0 ... FUNCTIONS - 1   addresses of the functions that are called through the box
    from there on               Bundle(system, state, tables): of an array its shape, strides and data

A function that is called through its box (`far`) is compiled alone: its callers need not be compiled again with
all that it does. Without compilation the box is an entry of BOXES. Steps with other tables have another kind of box.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Container
from itertools import accumulate
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from ..compiled import by_value, reference, structure, words
from ..compiled.function_pointers import address_of
from ..compiled.references import BYTES, word_at, word_count
from .compiling import compile_all

FUNCTIONS = 64
NUMBER, WHOLE, TRUTH, NOTHING = types.float64, types.int64, types.boolean, types.none
VECTOR, TABLE = types.float64[::1], types.float64[:, ::1]
BOXES: dict[int, Any] = {}
KINDS: dict[str, BoxKind] = {}
compiling = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]


class Bundle(NamedTuple):
    system: Any
    state: Any
    par: Any


@structure
class Boxed(NamedTuple):
    """The `par` of steps whose tables stand in a box."""

    numbers: np.ndarray
    box: int
    memory: np.ndarray  # keeps the box alive


class BoxKind:
    """Boxes with tables of one type, and the functions that are called through them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.functions: list[tuple[Callable, Any, tuple]] = []
        self.type: Any = None  # of Bundle: the same for every scene
        self.open_box = _opener(self) if compiling else BOXES.__getitem__
        KINDS[name] = self

    def pack(self, system: Any, state: Any, tables: Any, unused: Container[str] = ()) -> Boxed:
        """Lay everything out, and compile (or load) the functions, but for `unused` names or files."""
        bundle = Bundle(system, state, tables)
        self._set_type(types.NamedTuple([by_value(numba.typeof(part)) for part in bundle], Bundle))
        wanted = [
            entry for entry in self.functions
            if entry[0].__name__ not in unused and entry[0].__module__.rpartition(".")[2] not in unused
        ]  # fmt: skip
        if compiling:
            compile_all(self, wanted)
        addresses = [address_of(*entry[:2], *entry[2]) if entry in wanted else 0 for entry in self.functions]
        table = [*addresses, *[0] * (FUNCTIONS - len(addresses)), *words(bundle)]
        memory = np.array(table, np.int64)
        address = memory.ctypes.data
        BOXES[address] = bundle
        weakref.finalize(memory, BOXES.pop, address)
        return Boxed(tables.numbers, address, memory)

    def also(self, par: Boxed, names: Container[str]) -> None:
        """Compile, or load, functions that `pack` was told would not be used."""
        for number, (function, result, given) in enumerate(self.functions):
            if function.__name__ in names and par.memory[number] == 0:
                par.memory[number] = address_of(function, result, *given)

    def far(self, result: Any, *given: Any) -> Callable[[Callable], Callable]:
        """Make a part of a step, whose first argument is its box, be called through the box.

        Callers hand it one tuple: respond((box, n, rule, v, instant)). `given` are the types of what follows the box.
        """

        def register(function: Callable) -> Callable:
            number = len(self.functions)
            assert number < FUNCTIONS
            expected = (WHOLE, *given)
            self.functions.append((function, result, expected))
            if not compiling:
                return lambda arguments: function(*arguments)
            return _caller(number, result, expected)

        return register

    def _set_type(self, kind: Any) -> None:
        """Compiled code knows a box by its address alone: a table of another type would be misread."""
        if self.type is not None and self.type != kind:
            raise TypeError(f"tables of {self.name} have another type than in other scenes")
        self.type = kind

    def fingerprint_parts(self) -> tuple:
        """What code that opens such a box depends on."""
        if self.type is None:
            raise TypeError(f"no box of kind {self.name} has been packed yet")
        return self.name, self.type


def contents(par: Boxed) -> Any:
    """The tables in a box, for Python."""
    return BOXES[par.box].par


def _opener(kind: BoxKind) -> Any:
    @intrinsic
    def open_box(typingctx, box):
        given = types.NamedTuple([reference(part) for part in kind.type], Bundle)

        def lower(context, builder, signature, values):
            first = builder.add(values[0], values[0].type(8 * FUNCTIONS))
            whole = builder.inttoptr(first, BYTES)
            ends = accumulate(word_count(part) for part in kind.type)
            places = [word_at(builder, whole, at) for at in (0, *ends)][: len(given)]
            return context.make_tuple(builder, given, places)

        return given(box), lower

    return open_box


def _caller(number: int, result: Any, expected: tuple) -> Any:
    @intrinsic
    def call(typingctx, arguments):
        def lower(context, builder, signature, values):
            found = tuple(signature.args[0])
            parts = [
                context.cast(builder, builder.extract_value(values[0], k), found[k], expected[k])
                for k in range(len(expected))
            ]
            pointer = context.call_conv.get_function_type(result, expected).as_pointer()
            entry = builder.add(parts[0], parts[0].type(8 * number))
            where = builder.load(builder.inttoptr(entry, pointer.as_pointer()))
            _, returned = context.call_conv.call_function(builder, where, result, expected, parts)
            return returned

        return result(arguments), lower

    return call
