"""Calling the large parts of the solvers by address.

A compiled caller links and optimises all that it calls again. Every method's step calls `factor` and
`solve`, so it would pay seconds of compilation for iterative and singular solvers that it may never
reach. Called by address, they are compiled once for all. The addresses are data of this process: a
`Linear` is made anew in another one, not sent there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

VECTOR = types.float64[::1]


def address_of(compiled: Any, *argument_types: Any) -> int:
    """Where the machine code of a kernel that returns an int64 begins; 0 when compilation is off."""
    if not hasattr(compiled, "compile"):
        return 0
    compiled.compile(argument_types)
    result = compiled.get_compile_result(types.int64(*argument_types))
    if result.signature.return_type != types.int64:
        raise TypeError(f"{compiled.__name__} returns {result.signature.return_type}, not int64")
    return result.library.get_pointer_to_function(result.fndesc.llvm_func_name)


@intrinsic
def _call(typingctx, address, arguments):
    """Call what lies at the address with numba's own conventions; kernels raise nothing."""

    def lower(context, builder, signature, values):
        kinds = tuple(signature.args[1])
        pointer = context.call_conv.get_function_type(types.int64, kinds).as_pointer()
        given = [builder.extract_value(values[1], k) for k in range(len(kinds))]
        where = builder.inttoptr(values[0], pointer)
        _, result = context.call_conv.call_function(builder, where, types.int64, kinds, given)
        return result

    return types.int64(address, arguments), lower


def distant_factor(interpreted: Callable) -> Callable:
    """A stand-in for interpreted(lin): compiled code calls lin.factor_address instead."""

    def near(lin):
        return interpreted(lin)

    @overload(near)
    def _near(lin):
        def compiled(lin):
            return _call(lin.factor_address, (lin,))

        return compiled

    return near


def distant_solve(interpreted: Callable) -> Callable:
    """A stand-in for interpreted(lin, b, out): compiled code calls lin.solve_address instead."""

    def near(lin, b, out):
        return interpreted(lin, b, out)

    @overload(near)
    def _near(lin, b, out):
        for given in (b, out):
            if given.dtype != types.float64 or given.ndim != 1 or given.layout != "C":
                raise TypingError(f"solve needs contiguous float64 vectors, not {given}")

        def compiled(lin, b, out):
            return _call(lin.solve_address, (lin, b, out))

        return compiled

    return near
