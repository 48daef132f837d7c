"""The three ways to compile a function.

    @entry      called from Python: the loop, and what set-up and results need
    @compiled   called from compiled code by its symbol, compiled once for all callers
    @inline     copied into its callers: small mathematical functions, where a call would cost more than the work

Without compilation (NUMBA_DISABLE_JIT=1) all of them are plain Python.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numba
from numba.extending import overload as numba_overload

from .library import KernelCompiler, register
from .storage import KernelCache


def _compile(function: Callable, **options: Any) -> Any:
    config: Any = numba.config
    if config.DISABLE_JIT:
        return function
    compiler: Any = numba.njit
    # Kernels work in given arrays and allocate nothing, so numba's reference counts (_nrt) are dead weight: half
    # the compile time of a step. `forceinline` is always given: a function that leaves it open would inherit it from
    # the caller that happens to be compiled at the time.
    dispatcher = compiler(error_model="numpy", _nrt=False, pipeline_class=KernelCompiler, **options)(function)
    register(dispatcher)
    dispatcher._cache = KernelCache(dispatcher)
    dispatcher._compilation_chain_init_hook = _later
    return dispatcher


def _later() -> None:
    """numba would look for its extensions among all installed packages at the first call, even where compiled code is
    only loaded; it does so again, in time, before it compiles."""


def entry(function: Callable) -> Any:
    """Compile a function that is called from Python."""
    return _compile(function, forceinline=False, no_cfunc_wrapper=True)


def compiled(function: Callable) -> Any:
    """Compile a function that compiled code calls."""
    return _compile(function, forceinline=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def inline(function: Callable) -> Any:
    """Compile a function that is always inlined into its caller."""
    return _compile(function, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def overload(stub: Callable) -> Callable[[Callable], Callable]:
    """Say what stands for a Python function in compiled code (numba.extending.overload)."""

    def accept(implementation: Callable) -> Callable:
        stub.implementations = (*getattr(stub, "implementations", ()), implementation)  # type: ignore[attr-defined]
        return numba_overload(stub)(implementation)

    return accept


def specialise(template: Callable, name: str, decorate: Callable = entry, **bindings: Any) -> Any:
    """Compile a copy of `template` in which the given global names mean something else.

    This is how the one time loop is compiled with each method's step: the code stays a plain function in one place.
    """
    template = getattr(template, "py_func", template)
    copy = types.FunctionType(template.__code__, {**template.__globals__, **bindings}, name)
    copy.__qualname__ = name
    copy.__module__ = template.__module__
    return decorate(copy)
