"""Structures of arrays that reach compiled code as a pointer.

numba passes a named tuple by value: each of its arrays is seven numbers, and a model has hundreds of arrays. A class
marked with @structure is laid out in memory once instead, as compiled code would lay it out itself, and functions
hand on its address; an attribute is loaded where it is used. Fields are arrays, integers, floats and other tuples;
the layout never changes while compiled code runs, so loads may be moved and merged (`invariant.load`).
"""

from __future__ import annotations

import hashlib
import struct
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
_laid_out: dict[int, tuple[Any, np.ndarray]] = {}  # by identity: the structure, its words
LAID_OUT = 8  # structures whose layout is remembered: those of one run
compiling = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]


class Reference(types.Type):
    """A pointer to a structure."""

    def __init__(self, tup: Any) -> None:
        self.tup = tup
        digest = hashlib.sha256(f"{tup}{tup.fields}".encode()).hexdigest()[:10]
        super().__init__(name=f"{tup.instance_class.__name__}*{digest}")


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
        return [0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]
    if isinstance(value, tuple):
        return [word for entry in value for word in words(entry)]
    if isinstance(value, float):
        return [struct.unpack("<q", struct.pack("<d", value))[0]]
    if isinstance(value, int | np.int64) and not isinstance(value, bool):
        return [int(value)]
    raise TypeError(f"{type(value).__name__} can not be a field of a structure; use arrays, int or float")


def address(value: Any) -> int:
    """Where a structure lies in memory, as compiled code sees it."""
    known = _laid_out.pop(id(value), None)
    if known is None:
        known = (value, np.array(words(value), np.int64))
        while len(_laid_out) >= LAID_OUT:
            del _laid_out[next(iter(_laid_out))]
    _laid_out[id(value)] = known  # the latest last, so that arguments of one call stay together
    return known[1].ctypes.data


def _typeof(value: Any, context: Any) -> types.Type | None:
    kinds = [typeof_impl(entry, context) for entry in value]
    if any(kind is None for kind in kinds):
        return None
    return Reference(types.NamedTuple([by_value(kind) for kind in kinds], type(value)))


@register_model(Reference)
class _ReferenceModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Reference) -> None:
        super().__init__(manager, kind, manager.lookup(kind.tup).get_value_type().as_pointer())


@infer_getattr
class _ReferenceAttributes(AttributeTemplate):
    key = Reference

    def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]  # numba declares it as a value
        return reference(kind.tup[kind.tup.fields.index(name)]) if name in kind.tup.fields else None


@lower_getattr_generic(Reference)
def _load_attribute(context: Any, builder: Any, kind: Reference, value: Any, name: str) -> Any:
    number = kind.tup.fields.index(name)
    field = kind.tup[number]
    place = builder.gep(value, [_number(0), _number(number)], inbounds=True)
    if isinstance(reference(field), Reference):
        return place
    if isinstance(field, types.Array):
        return _load_array(context, builder, field, place)
    if isinstance(field, types.BaseTuple):
        return builder.load(place)
    return _load(builder, place)


def _load_array(context: Any, builder: Any, kind: types.Array, place: Any) -> Any:
    """Entry by entry: one load of the whole record is slow to take apart. Kernels own no arrays: no meminfo."""
    found = ir.Constant(context.get_value_type(kind), None)

    def copy(*path: int) -> None:
        nonlocal found
        entry = builder.gep(place, [_number(0), *(_number(k) for k in path)], inbounds=True)
        found = builder.insert_value(found, _load(builder, entry), list(path))

    for part in (2, 3, 4):  # size, itemsize, data
        copy(part)
    for k in range(kind.ndim):
        copy(5, k)
    for k in range(kind.ndim):
        if kind.layout == "C" and k == kind.ndim - 1:  # known when compiling
            size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
            found = builder.insert_value(found, ir.Constant(context.get_value_type(types.intp), size), [6, k])
        else:
            copy(6, k)
    return found


def _load(builder: Any, place: Any) -> Any:
    loaded = builder.load(place)
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def _number(value: int) -> Any:
    return ir.Constant(ir.IntType(32), value)


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
