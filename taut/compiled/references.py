"""Structures of arrays that reach compiled code as a pointer.

numba passes a named tuple by value: each of its arrays is seven numbers, and a model has hundreds of arrays. A class
marked with @structure is laid out in memory once instead, as compiled code would lay it out itself, and functions
hand on its address; an attribute is loaded where it is used. Fields are arrays, integers, floats and other tuples;
the layout never changes while compiled code runs, so loads may be moved and merged (`invariant.load`).
"""

from __future__ import annotations

import hashlib
import struct
import threading
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import NativeValue, infer_getattr, models, register_model, typeof_impl, unbox
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate

Class = TypeVar("Class", bound=type)
_structures: set[type] = set()
LAID_OUT = 16  # structures whose layout a thread remembers: those of one run, and of one that a callback may start
WORD = 8  # bytes
BYTES = ir.IntType(8).as_pointer()
compiling = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]


class Reference(types.Type):
    """A pointer to a structure."""

    def __init__(self, tup: Any) -> None:
        self.tup = tup
        digest = hashlib.sha256(layout(tup).encode()).hexdigest()[:10]
        super().__init__(name=f"{tup.instance_class.__name__}*{digest}")


def layout(kind: Any) -> str:
    """A type with the names and the order of all fields, those of structures inside included: cached code is found by
    it, and numba's own name of a tuple would be the same after two fields of one type changed places."""
    if not isinstance(kind, types.BaseTuple):
        return str(kind)
    entries: Any = kind
    names = getattr(kind, "fields", range(len(entries)))
    parts = (f"{name}:{layout(entry)}" for name, entry in zip(names, entries))
    return f"{getattr(kind, 'instance_class', tuple).__name__}({','.join(parts)})"


def structure(cls: Class) -> Class:
    """Let instances of a NamedTuple class reach compiled code by reference."""
    _structures.add(cls)
    typeof_impl.register(cls)(_typeof)
    return cls


def reference(kind: types.Type) -> types.Type:
    """How a value of this type is passed: structures by reference, all else by value."""
    marked = isinstance(kind, types.NamedTuple | types.NamedUniTuple) and kind.instance_class in _structures
    return Reference(kind) if marked else kind


def by_value(kind: types.Type) -> types.Type:
    return kind.tup if isinstance(kind, Reference) else kind


def words(value: Any) -> list[int]:
    """A structure, array or number as the 8-byte words that compiled code finds in memory."""
    if isinstance(value, np.ndarray):
        return words((value,))
    if isinstance(value, tuple):
        found: list[int] = []
        for entry in value:  # a model has hundreds of arrays and whole numbers: they cost no call
            if entry.__class__ is int:
                found += (entry,)
            elif entry.__class__ is np.ndarray or isinstance(entry, np.ndarray):
                place = entry.__array_interface__["data"][0]
                found += (0, 0, entry.size, entry.itemsize, place, *entry.shape, *entry.strides)
            else:
                found += words(entry)
        return found
    if isinstance(value, float):
        return [struct.unpack("<q", struct.pack("<d", value))[0]]
    if isinstance(value, int | np.int64) and not isinstance(value, bool):
        return [int(value)]
    raise TypeError(f"{type(value).__name__} can not be a field of a structure; use arrays, int or float")


class _LaidOut(threading.local):
    """By identity: the structure, its words and where they lie. Of each thread its own: another one, such as that of a
    live page, must not forget what compiled code of this one is about to use."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, np.ndarray, int]] = {}


_laid_out = _LaidOut()


def address(value: Any) -> int:
    """Where a structure lies in memory, as compiled code sees it."""
    laid_out = _laid_out.known
    known = laid_out.pop(id(value), None)
    if known is None:
        found = np.array(words(value), np.int64)
        known = (value, found, found.ctypes.data)  # asking numpy where they lie takes longer than all else
        while len(laid_out) >= LAID_OUT:
            del laid_out[next(iter(laid_out))]
    laid_out[id(value)] = known  # the latest last, so that arguments of one call stay together
    return known[2]


def _typeof(value: Any, context: Any) -> types.Type | None:
    kinds = [typeof_impl(entry, context) for entry in value]
    if any(kind is None for kind in kinds):
        return None
    return Reference(types.NamedTuple([by_value(kind) for kind in kinds], type(value)))


@register_model(Reference)
class _ReferenceModel(models.PrimitiveModel):
    """A pointer to bytes: a pointer to a structure of hundreds of arrays would repeat all their types, thousands of
    letters, in each instruction that LLVM is given to read."""

    def __init__(self, manager: Any, kind: Reference) -> None:
        super().__init__(manager, kind, BYTES)


@infer_getattr
class _ReferenceAttributes(AttributeTemplate):
    key = Reference

    def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]  # numba declares it as a value
        return reference(kind.tup[kind.tup.fields.index(name)]) if name in kind.tup.fields else None


@lower_getattr_generic(Reference)
def _load_attribute(context: Any, builder: Any, kind: Reference, value: Any, name: str) -> Any:
    number = kind.tup.fields.index(name)
    field = kind.tup[number]
    first = sum(word_count(earlier) for earlier in list(kind.tup)[:number])
    if isinstance(reference(field), Reference):
        return word_at(builder, value, first)
    if isinstance(field, types.Array):
        return _load_array(context, builder, field, value, first)
    form = context.get_value_type(field)
    if isinstance(field, types.BaseTuple):
        return builder.load(builder.bitcast(word_at(builder, value, first), form.as_pointer()))
    return _load(builder, value, first, form)


def word_count(kind: Any) -> int:
    """How many words a value of this type has: see `words`."""
    if isinstance(kind, types.Array):
        return 5 + 2 * kind.ndim
    if isinstance(kind, types.BaseTuple):
        entries: Any = kind
        return sum(word_count(entry) for entry in entries)
    return 1


def _load_array(context: Any, builder: Any, kind: types.Array, structure: Any, first: int) -> Any:
    """Entry by entry: one load of the whole record is slow to take apart. Kernels own no arrays: no meminfo."""
    integer, data = context.get_value_type(types.intp), context.get_data_type(kind.dtype).as_pointer()
    found = ir.Constant(context.get_value_type(kind), None)
    shape, strides = 5, 5 + kind.ndim
    for place, part, form in ((2, 2, integer), (3, 3, integer), (4, 4, data)):  # size, itemsize, data
        found = builder.insert_value(found, _load(builder, structure, first + place, form), part)
    for k in range(kind.ndim):
        found = builder.insert_value(found, _load(builder, structure, first + shape + k, integer), [5, k])
    for k in range(kind.ndim):
        if kind.layout == "C" and k == kind.ndim - 1:  # known when compiling
            stride = ir.Constant(integer, item_size(context, kind.dtype))
        else:
            stride = _load(builder, structure, first + strides + k, integer)
        found = builder.insert_value(found, stride, [6, k])
    return found


def item_size(context: Any, kind: Any) -> int:
    """Bytes of an entry of an array. LLVM is asked by a module that it has to read each time, so not for numbers."""
    bits = kind.bitwidth if isinstance(kind, types.Integer | types.Float) else 0  # type: ignore[union-attr]
    return bits // 8 if bits else context.get_abi_sizeof(context.get_data_type(kind))


def _load(builder: Any, structure: Any, number: int, form: Any) -> Any:
    loaded = builder.load(builder.bitcast(word_at(builder, structure, number), form.as_pointer()))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def word_at(builder: Any, structure: Any, number: int) -> Any:
    """The address of a word of a structure."""
    return builder.gep(structure, [ir.Constant(ir.IntType(64), WORD * number)], inbounds=True)


@unbox(Reference)
def _unbox(kind: Reference, value: Any, c: Any) -> NativeValue:
    builder, api = c.builder, c.pyapi
    function = api.unserialize(api.serialize_object(address))
    found = api.call_function_objargs(function, (value,))
    api.decref(function)
    failed = cgutils.is_null(builder, found)
    where = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(64), 0))
    with builder.if_then(builder.not_(failed)):
        builder.store(api.long_as_longlong(found), where)
        api.decref(found)
    place = builder.inttoptr(builder.load(where), c.context.get_value_type(kind))
    return NativeValue(place, is_error=failed)
