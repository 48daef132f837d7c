"""Calling compiled functions by address, from compiled code and from Python alike.

An address is data, so one compiled kernel serves every formula: nothing is recompiled for a new one.
Arrays are passed as the pointer to their data plus an offset in elements; they must be contiguous
float64 arrays, and nothing checks that the function stays inside them.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from taut.compiled import overload

DOUBLES = types.CPointer(types.float64)
SIGNAL = types.void(types.float64, DOUBLES)
CONSTRAINT = types.void(DOUBLES, DOUBLES, types.float64, DOUBLES, DOUBLES, DOUBLES, DOUBLES)
FORCE = types.void(DOUBLES, DOUBLES, types.float64, DOUBLES)
MAP = CONSTRAINT


def call_signal(address: int, t: float, out: np.ndarray, offset: int) -> None:
    """Write value, first and second derivative at t to out[offset:offset + 3]."""
    prototype(SIGNAL)(int(address))(t, _pointer(out, offset))


def call_constraint(address, x, v, t, phi, row, J, J_offset, phi_t, gamma) -> None:
    """Write Φ, J, Φ_t and γ of packed points; `row` is the offset in phi, phi_t and gamma."""
    prototype(CONSTRAINT)(int(address))(
        _pointer(x), _pointer(v), t, _pointer(phi, row), _pointer(J, J_offset), _pointer(phi_t, row),
        _pointer(gamma, row),
    )  # fmt: skip


def call_force(address, x, v, t, out) -> None:
    """Write the force on each of the packed points."""
    prototype(FORCE)(int(address))(_pointer(x), _pointer(v), t, _pointer(out))


def call_map(address, q, qd, t, x, B, c, x_t) -> None:
    """Write x(q, t), B = ∂x/∂q, c = d²x/dt² at q̈ = 0, and ∂x/∂t."""
    prototype(MAP)(int(address))(
        _pointer(q), _pointer(qd), t, _pointer(x), _pointer(B), _pointer(c), _pointer(x_t)
    )


@cache
def prototype(signature: Any) -> Any:
    """The ctypes type of a function with this numba signature."""
    double, doubles = ctypes.c_double, ctypes.POINTER(ctypes.c_double)
    return ctypes.CFUNCTYPE(None, *(double if a is types.float64 else doubles for a in signature.args))


def _pointer(array: np.ndarray, offset: int = 0) -> Any:
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        raise TypeError(f"a compiled function needs a contiguous float64 array, not {array.dtype}")
    return ctypes.cast(array.ctypes.data + 8 * int(offset), ctypes.POINTER(ctypes.c_double))


@intrinsic
def _data(typingctx, array, offset):
    """The address of array.flat[offset]; the array must outlive its use, as arguments of a kernel do."""
    if not isinstance(array, types.Array) or array.dtype != types.float64 or array.layout != "C":
        return None

    def lower(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = context.cast(builder, arguments[1], signature.args[1], types.intp)
        return builder.gep(data, [place])

    return DOUBLES(array, offset), lower


def _calls(function_type):
    """An intrinsic that calls (address, *arguments of function_type)."""

    @intrinsic
    def invoke(typingctx, address, arguments):
        def lower(context, builder, signature, values):
            double = ir.DoubleType()
            wanted = [double if a is types.float64 else double.as_pointer() for a in function_type.args]
            c_type = ir.FunctionType(ir.VoidType(), wanted)
            where = context.cast(builder, values[0], signature.args[0], types.intp)
            given = [
                context.cast(builder, builder.extract_value(values[1], k), have, want)
                for k, (have, want) in enumerate(zip(signature.args[1], function_type.args))
            ]
            builder.call(builder.inttoptr(where, c_type.as_pointer()), given)
            return context.get_dummy_value()

        return types.void(address, arguments), lower

    return invoke


_invoke_signal, _invoke_constraint, _invoke_force = _calls(SIGNAL), _calls(CONSTRAINT), _calls(FORCE)


@overload(call_signal)
def _call_signal(address, t, out, offset):
    def compiled(address, t, out, offset):
        _invoke_signal(address, (t, _data(out, offset)))

    return compiled


@overload(call_constraint)
def _call_constraint(address, x, v, t, phi, row, J, J_offset, phi_t, gamma):
    def compiled(address, x, v, t, phi, row, J, J_offset, phi_t, gamma):
        _invoke_constraint(
            address,
            (_data(x, 0), _data(v, 0), t, _data(phi, row), _data(J, J_offset), _data(phi_t, row),
             _data(gamma, row)),
        )  # fmt: skip

    return compiled


@overload(call_force)
def _call_force(address, x, v, t, out):
    def compiled(address, x, v, t, out):
        _invoke_force(address, (_data(x, 0), _data(v, 0), t, _data(out, 0)))

    return compiled


@overload(call_map)
def _call_map(address, q, qd, t, x, B, c, x_t):
    def compiled(address, q, qd, t, x, B, c, x_t):
        _invoke_constraint(
            address,
            (_data(q, 0), _data(qd, 0), t, _data(x, 0), _data(B, 0), _data(c, 0), _data(x_t, 0)),
        )

    return compiled
