"""Functions that are compiled when compiled code first calls them.

A caller needs no more of such a function than the type of its result, so what a run never comes to (friction in a
scene without it, the treatment of singular systems) is never compiled. The call goes through a word of the caller's
own memory that is 0 at first; then the caller asks Python for the address, once:

    @on_demand(types.int64)
    def factor_singular(lin): ...

Arguments are taken for what they are as variables, never as literals. `compile_later` compiles what was left out, for
code that is to be shipped or kept. Without compilation such a function is plain Python.
"""

from __future__ import annotations

import _thread
import ctypes
import hashlib
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import types
from numba.core.extending import models, register_model, typeof_impl
from numba.core.imputils import lower_constant
from numba.core.typing import signature

from .function_pointers import address_of

LONG = ir.IntType(64)
RESOLVE = "taut_address_of"
FAILED = 70  # code of a process that can not go on
Later = tuple[Any, Any, tuple]  # function, type of its result, types of its arguments
_later: dict[int, Later] = {}  # by the number that compiled code knows them by
_waited = [0.0]  # seconds


class OnDemand:
    """A function with the type of its result. Python may call it, too, by a version of its own."""

    def __init__(self, function: Callable, result: Any) -> None:
        from .decorators import compiled

        self.dispatcher, self.result, self.py_func = compiled(function), result, function
        self.__name__, self.__qualname__, self.__doc__ = function.__name__, function.__qualname__, function.__doc__
        self._for_python: Any = None

    def __call__(self, *given: Any) -> Any:
        from .decorators import specialise

        if self._for_python is None:
            self._for_python = specialise(self.py_func, self.__qualname__)
        return self._for_python(*given)

    def fingerprint_parts(self) -> tuple:
        return self.dispatcher, self.result


def on_demand(result: Any) -> Callable[[Callable], Any]:
    """Compile a function when compiled code first calls it; result: the type of what it returns."""

    def accept(function: Callable) -> Any:
        return function if numba.config.DISABLE_JIT else OnDemand(function, result)  # type: ignore[attr-defined]

    return accept


class OnDemandType(types.Callable):
    """The type of one such function."""

    def __init__(self, function: OnDemand) -> None:
        self.function = function
        super().__init__(name=f"on_demand({function.__qualname__} {id(function)})")

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        if kws:
            raise TypeError(f"{self.function.__qualname__} is called with names of arguments; leave them out")
        return signature(self.function.result, *map(types.unliteral, args))

    def get_call_signatures(self) -> tuple:
        return (), True

    def get_impl_key(self, sig: Any) -> Any:
        return type(self), self.function


register_model(OnDemandType)(models.OpaqueModel)


@typeof_impl.register(OnDemand)
def _typeof(value: Any, context: Any) -> OnDemandType:
    return OnDemandType(value)


@lower_constant(OnDemandType)
def _constant(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.get_dummy_value()


def expect(later: Later) -> int:
    """The number by which compiled code asks for a function: of its content, so the same in every process."""
    from .fingerprint import describe_type, fingerprint

    function, _, arguments = later
    text = f"{fingerprint(function)}{[describe_type(kind) for kind in arguments]}"
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:7])
    _later[number] = later
    return number


def write_call(lower: Any, kind: OnDemandType, given: list[Any], arguments: tuple) -> Any:
    """The call, in LLVM's language."""
    builder, context, module = lower.builder, lower.context, lower.module
    later = kind.function.dispatcher, kind.function.result, arguments
    number = expect(later)
    lower.library.later[number] = later
    name = f"taut.cell.{number}"
    cell = module.globals.get(name)
    if cell is None:
        cell = ir.GlobalVariable(module, LONG, name)
        cell.linkage, cell.initializer = "internal", ir.Constant(LONG, 0)
    zero = ir.Constant(LONG, 0)
    with builder.if_then(builder.icmp_signed("==", builder.load(cell), zero), likely=False):
        ask = module.globals.get(RESOLVE) or ir.Function(module, ir.FunctionType(LONG, [LONG]), RESOLVE)
        again, found = builder.append_basic_block("ask"), builder.append_basic_block("found")
        builder.branch(again)
        builder.position_at_end(again)
        answer = builder.call(ask, [ir.Constant(LONG, number)])
        builder.store(answer, cell)
        builder.cbranch(builder.icmp_signed("==", answer, zero), again, found)  # 0: an exception in Python
        builder.position_at_end(found)
    pointer = context.call_conv.get_function_type(kind.function.result, arguments).as_pointer()
    where = builder.inttoptr(builder.load(cell), pointer)
    _, returned = context.call_conv.call_function(builder, where, kind.function.result, arguments, given)
    return returned


def waited() -> float:
    """How long compiled code has waited for functions in this process [s]."""
    return _waited[0]


def compile_later() -> None:
    """Compile all that the code in memory might ask for, and what that might ask for."""
    done: set[int] = set()
    while left := _later.keys() - done:
        for number in left:
            _find(_later[number])
        done |= left


def _find(later: Later) -> int:
    function, result, arguments = later
    return address_of(function, result, *arguments)


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
def _resolve(number: int) -> int:
    """Called by compiled code, which can not go on without an address: Ctrl-C has to wait until it is found."""
    began = time.perf_counter()
    interrupted: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, lambda *_: interrupted.append(1)) if main else None
    try:
        return _find(_later[number])
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(FAILED)
    finally:
        _waited[0] += time.perf_counter() - began
        if main:
            signal.signal(signal.SIGINT, before)
            if interrupted:  # to be told when this call has returned
                threading.Timer(0.01, _thread.interrupt_main).start()


llvm.add_symbol(RESOLVE, ctypes.cast(_resolve, ctypes.c_void_p).value)
