"""Calling compiled code by its address.

A compiled caller links and optimises all that it calls again, so a time loop that called every kind of
constraint, every solver and its method's step would take minutes to compile, once per method. Called by
address, each of these is compiled once, when a scene first needs it, and one loop serves all. Addresses
belong to this process: models and systems are made anew in another one, not sent there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
from numba.extending import intrinsic


def address_of(compiled: Any, result: Any, *arguments: Any) -> int:
    """Where the machine code for these argument types begins; 0 when compilation is off."""
    if not hasattr(compiled, "compile"):
        return 0
    compiled.compile(arguments)
    found = compiled.get_compile_result(result(*arguments))
    if found.signature.return_type != result:
        raise TypeError(f"{compiled.__name__} returns {found.signature.return_type}, not {result}")
    address = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
    if not address:  # it would be called all the same, and end the process
        raise TypeError(f"{compiled.__name__} has no machine code of its own: it is inlined into its callers")
    return address


def indirect_call(result: Any, choose: Callable[[int], Callable]) -> Callable:
    """A function f(address, number, arguments) that calls what lies at the address with a tuple of arguments.

    Without compilation it calls choose(number) instead.
    """
    config: Any = numba.config
    if config.DISABLE_JIT:
        return lambda address, number, arguments: choose(number)(*arguments)

    @intrinsic
    def call(typingctx, address, number, arguments):
        def lower(context, builder, signature, values):
            kinds = tuple(signature.args[2])
            pointer = context.call_conv.get_function_type(result, kinds).as_pointer()
            given = [builder.extract_value(values[2], k) for k in range(len(kinds))]
            where = builder.inttoptr(values[0], pointer)
            _, returned = context.call_conv.call_function(builder, where, result, kinds, given)
            return returned

        return result(address, number, arguments), lower

    return call


def pick(functions: Sequence[Any]) -> Callable[[int], Callable]:
    return lambda number: functions[number]
