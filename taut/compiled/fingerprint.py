"""What a compiled function is made of, as a digest.

    F(f) = hash(code of f, options of f, F of every global and closure variable that f reads)

Functions that f calls are among its globals, so the digest changes when f or anything that it calls changes, and
with nothing else: not with docstrings, comments, line numbers, the place of the file, or other functions beside it.
Functions that are called by address (function_pointers.py) are data: they are no part of it.

A global whose content can not be told raises TypeError: an entry that misses a dependency would be wrong code.
"""

from __future__ import annotations

import enum
import hashlib
import opcode
import types as python
import weakref
from collections.abc import Iterator
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.core.types.functions import ExternalFunction

LOAD_GLOBAL, EXTENDED_ARG = opcode.opmap["LOAD_GLOBAL"], opcode.EXTENDED_ARG
_under_way: list[Any] = []
_digests: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
DISPATCHERS: dict[str, Dispatcher] = {}  # by their digests


def fingerprint(dispatcher: Dispatcher) -> str:
    """The digest F of a compiled function; it can be found under it in DISPATCHERS from then on."""
    known = _digests.get(dispatcher)
    if known is None:
        known = _digest(_describe_dispatcher(dispatcher))
        _digests[dispatcher] = known
        DISPATCHERS[known] = dispatcher
    return known


def describe(value: Any) -> Any:
    """A value that compiled code may depend on, as nested tuples of text and numbers."""
    if any(value is other for other in _under_way):  # functions that call themselves or each other
        return "recursive", value.__qualname__
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return type(value).__name__, repr(value)
    if isinstance(value, Dispatcher):
        return fingerprint(value)
    if isinstance(value, types.Type):
        return describe_type(value)
    if isinstance(value, _Intrinsic):
        return "intrinsic", _describe_function(value._defn)
    if isinstance(value, python.FunctionType):
        return _describe_function(value)
    if isinstance(value, tuple | list | frozenset | set):
        entries = value if isinstance(value, tuple | list) else sorted(value, key=repr)
        return type(value).__name__, *(describe(entry) for entry in entries)
    if isinstance(value, dict):
        return "dict", *((describe(k), describe(v)) for k, v in value.items())
    if isinstance(value, np.ndarray):
        return "array", value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.generic):
        return "number", value.dtype.str, value.tobytes()
    if isinstance(value, enum.Enum):
        return "enum", repr(value)
    if isinstance(value, type):
        return "class", value.__module__, value.__qualname__, getattr(value, "_fields", ())
    if isinstance(value, python.ModuleType):
        if value.__name__.startswith("taut"):
            raise TypeError(f"a compiled function depends on {value!r} as a whole")
        return "module", value.__name__
    if isinstance(value, python.BuiltinFunctionType | np.ufunc | ExternalFunction):
        return "builtin", str(getattr(value, "__module__", "")), getattr(value, "__name__", str(value))
    if hasattr(value, "__wrapped__"):
        return describe(value.__wrapped__)
    told = getattr(value, "fingerprint_parts", None)
    if told is not None:
        return "parts", *(describe(part) for part in told())
    foreign = getattr(value, "__module__", None) or type(value).__module__
    if not foreign.startswith("taut"):
        return "foreign", foreign, getattr(value, "__qualname__", type(value).__qualname__)
    raise TypeError(f"a compiled function depends on {value!r}, whose content can not be told")


@cache
def describe_type(kind: Any) -> Any:
    """A type of numba with the names of fields, which its own name leaves out."""
    inner = getattr(kind, "tup", None)  # a structure by reference
    if inner is not None:
        return "reference", describe_type(inner)
    if isinstance(kind, types.NamedTuple | types.NamedUniTuple):
        name = f"{kind.instance_class.__module__}.{kind.instance_class.__qualname__}"
        return name, *zip(kind.fields, (describe_type(entry) for entry in kind))
    if isinstance(kind, types.BaseTuple):
        return "tuple", *(describe_type(kind[k]) for k in range(len(kind)))  # type: ignore[index,arg-type]
    if isinstance(kind, types.Dispatcher):
        return "dispatcher", fingerprint(kind.dispatcher)
    return str(kind)


def _describe_dispatcher(dispatcher: Dispatcher) -> Any:
    options = sorted((name, repr(value)) for name, value in dispatcher.targetoptions.items())
    _under_way.append(dispatcher)
    try:
        return numba.__version__, options, _describe_function(dispatcher.py_func)
    finally:
        _under_way.pop()


def _describe_function(function: Any) -> Any:
    _under_way.append(function)
    try:
        return _parts(function)
    finally:
        _under_way.pop()


def _parts(function: Any) -> Any:
    implementations = getattr(function, "implementations", ())
    if implementations:  # what compiled code has in place of this function
        return function.__module__, function.__qualname__, *(describe(value) for value in implementations)
    code = function.__code__
    cells = zip(code.co_freevars, (cell.cell_contents for cell in function.__closure__ or ()))
    found = [(name, function.__globals__[name]) for name in global_names(code) if name in function.__globals__]
    reads = [entry for name, value in found for entry in _read_from(name, value, code)]
    return (
        function.__module__, function.__qualname__, _describe_code(code),
        *((name, describe(value)) for name, value in (*cells, *reads)),
        *(describe(value) for value in function.__defaults__ or ()),
    )  # fmt: skip


def _read_from(name: str, value: Any, code: python.CodeType) -> list[tuple[str, Any]]:
    """A global variable; of a module of taut what the code may read from it (rattle.step)."""
    if not (isinstance(value, python.ModuleType) and value.__name__.startswith("taut")):
        return [(name, value)]
    named = sorted(attribute for attribute in _all_names(code) if hasattr(value, attribute))
    return [(f"{name}.{attribute}", getattr(value, attribute)) for attribute in named]


def _all_names(code: python.CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, python.CodeType))
    return set(code.co_names).union(*map(_all_names, inner))


def _describe_code(code: python.CodeType) -> Any:
    constants = code.co_consts
    # A docstring stands first among the constants; the instructions never load it.
    if constants and isinstance(constants[0], str) and code.co_flags & 0x2 and not _loads_constant(code, 0):
        constants = ("", *constants[1:])
    inner = tuple(_describe_code(c) if isinstance(c, python.CodeType) else repr(c) for c in constants)
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_argcount, inner


def global_names(code: python.CodeType) -> list[str]:
    """The names that the code, and functions inside it, read from their module."""
    found = {code.co_names[number >> 1] for number in _arguments(code, LOAD_GLOBAL)}
    for constant in code.co_consts:
        if isinstance(constant, python.CodeType):
            found.update(global_names(constant))
    return sorted(found)


def _loads_constant(code: python.CodeType, number: int) -> bool:
    return number in _arguments(code, opcode.opmap["LOAD_CONST"])


def _arguments(code: python.CodeType, wanted: int) -> Iterator[int]:
    """The arguments of all instructions of one kind."""
    extended, text = 0, code.co_code
    for k in range(0, len(text), 2):
        argument = text[k + 1] | extended
        if text[k] == EXTENDED_ARG:
            extended = argument << 8
            continue
        extended = 0
        if text[k] == wanted:
            yield argument


def _digest(description: Any) -> str:
    return hashlib.sha256(repr(description).encode()).hexdigest()
