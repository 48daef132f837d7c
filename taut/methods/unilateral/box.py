"""A box: all that a step with inequalities works on, behind one address.

System, state and contacts are some 250 arrays. Compiled functions that hand them to each other by value take
minutes to compile and a microsecond to call. So they are laid out once in memory, as compiled code would lay
them out itself, and functions pass the address on:

    words 0 ... FUNCTIONS - 1   addresses of the functions that are called through the box
    from there on               Bundle(system, state, contacts): of an array its shape, strides and data

A function that is called through its box (`far`) is compiled alone: its callers need not be compiled again with
all that it does. Without compilation the box is an entry of BOXES.
"""

from __future__ import annotations

import struct
import weakref
from collections.abc import Callable, Container
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from ...distant import address_of

FUNCTIONS = 64
NUMBER, WHOLE, TRUTH, NOTHING = types.float64, types.int64, types.boolean, types.none
VECTOR, TABLE = types.float64[::1], types.float64[:, ::1]
BOXES: dict[int, Any] = {}
FAR: list[tuple[Callable, Any, tuple]] = []
compiling = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]


class Bundle(NamedTuple):
    system: Any
    state: Any
    par: Any


class Boxed(NamedTuple):
    """The `par` of steps with inequalities."""

    numbers: np.ndarray
    box: int
    memory: np.ndarray  # keeps the box alive


_kind: list[Any] = []  # the type of Bundle: the same for every scene


def pack(system: Any, state: Any, contacts: Any, unused: Container[str]) -> Boxed:
    """Lay everything out, and compile (or load) the functions of FAR, but for `unused` names or files."""
    bundle = Bundle(system, state, contacts)
    _kind[:] = [numba.typeof(bundle)]
    addresses = [
        0 if function.__name__ in unused or function.__module__.rpartition(".")[2] in unused
        else address_of(function, result, *given)
        for function, result, given in FAR
    ]  # fmt: skip
    words = [*addresses, *[0] * (FUNCTIONS - len(addresses)), *_words(bundle)]
    memory = np.array(words, np.int64)
    address = memory.ctypes.data
    BOXES[address] = bundle
    weakref.finalize(memory, BOXES.pop, address)
    return Boxed(contacts.numbers, address, memory)


def also(par: Boxed, names: Container[str]) -> None:
    """Compile, or load, functions that `pack` was told would not be used."""
    for number, (function, result, given) in enumerate(FAR):
        if function.__name__ in names and par.memory[number] == 0:
            par.memory[number] = address_of(function, result, *given)


def contents(par: Boxed) -> Any:
    """The contacts in a box, for Python."""
    return BOXES[par.box].par


def _words(value: Any) -> list[int]:
    if isinstance(value, np.ndarray):
        return [0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]
    if isinstance(value, tuple):
        return [word for entry in value for word in _words(entry)]
    if isinstance(value, float):
        return [struct.unpack("<q", struct.pack("<d", value))[0]]
    return [int(value)]


@intrinsic
def _open(typingctx, box):
    kind = _kind[0]

    def lower(context, builder, signature, values):
        first = builder.add(values[0], values[0].type(8 * FUNCTIONS))
        return builder.load(builder.inttoptr(first, context.get_value_type(kind).as_pointer()))

    return kind(box), lower


def _look_up(box):
    return BOXES[box]


open_box = _open if compiling else _look_up


def far(result: Any, *given: Any) -> Callable[[Callable], Callable]:
    """Make a part of a step, whose first argument is its box, be called through the box.

    Callers hand it one tuple: respond((box, n, rule, v, instant)). `given` are the types of what follows the box.
    """

    def register(function: Callable) -> Callable:
        number = len(FAR)
        assert number < FUNCTIONS
        expected = (WHOLE, *given)
        FAR.append((function, result, expected))
        if not compiling:
            return lambda arguments: function(*arguments)

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

    return register
