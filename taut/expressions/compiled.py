"""From generated source text to the address of machine code.

Numba caches only what lives in a real file, so generated source is written beside its cache. The file
is named after the request (the formulas and names) and the code that makes the text, not after the text: a later
process finds it without importing sympy. Where nothing can be written, the text is compiled from memory.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import sys
import threading
import types
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np

from taut.compiled import cache_folder
from taut.compiled.folder import FORMULAS, keep
from taut.errors import TautError, notes_so_far, present, warn
from taut.expressions.call import prototype

_addresses: dict[Any, int] = {}
_kept_alive: list[Any] = []  # code must outlive its address


class _Waiting(threading.local):
    """A mistake that compiled code can not raise. As a class's it is found at once where a thread has met none."""

    mistake: TautError | None = None


_waiting = _Waiting()


def generated_address(request: Any, signature: Any, sizes: Sequence[int], source: Callable[[], str]) -> int:
    """The address of `evaluate` in the text of source(), which is called only if no file has it yet.

    `request` identifies the text by its repr; `sizes` are the lengths of the output arrays.
    """
    key = repr(request)
    return address_once(key, lambda: _machine_code_of(_module(key, source), signature, sizes))


FAILED = " failed: "  # between the name of a user's function and why


def interpreting() -> bool:
    """Whether numba is switched off (NUMBA_DISABLE_JIT): then everything is called back in Python."""
    return bool(getattr(numba.config, "DISABLE_JIT", False))


def address_once(key: Any, make: Callable[[], int]) -> int:
    """The address made for this key, once per process."""
    if key not in _addresses:
        _addresses[key] = make()
    return _addresses[key]


def machine_code(function: Callable, signature: Any, cached: bool = False) -> int:
    """Compile a function of raw pointers; the address of its C entry."""
    code: Any = numba.cfunc(signature, cache=cached, error_model="numpy")(function)
    _kept_alive.append(code)
    return code.address


def python_callback(function: Callable, signature: Any, sizes: Sequence[int], name: str) -> int:
    """The address of a C function that calls Python; an exception there becomes NaN and one warning. A TautError and
    what ends a program (Ctrl-C) become NaN until compiled code returns to Python, where `raise_mistake` raises them."""
    warned: list[bool] = []

    def guarded(*arguments):
        try:
            function(*arguments)
        except BaseException as mistake:  # it can not pass through compiled code
            for output, size in zip(arguments[len(arguments) - len(sizes) :], sizes):
                np.ctypeslib.as_array(output, (size,))[:] = np.nan
            if isinstance(mistake, TautError) or not isinstance(mistake, Exception):
                _waiting.mistake = _waiting.mistake or mistake  # the first is the cause of others
                return
            text = f"{name}{FAILED}{type(mistake).__name__}: {str(mistake).rstrip('.')}"
            if not warned or text not in notes_so_far():  # once, and once more in the notes of each later run
                warned.append(True)
                warn(text)

    callback = prototype(signature)(guarded)
    _kept_alive.append(callback)
    return present(ctypes.cast(callback, ctypes.c_void_p).value, "the address of a callback")


def raise_mistake() -> None:
    """Raise the user's mistake that a callback has met in compiled code, which has just returned in this thread."""
    mistake = _waiting.mistake
    if mistake is not None:
        _waiting.mistake = None
        raise mistake


def _machine_code_of(module: Any, signature: Any, sizes: Sequence[int]) -> int:
    if interpreting():
        return python_callback(module.evaluate, signature, sizes, "a formula")
    return machine_code(module.evaluate, signature, cached=module.__file__ is not None)


def _module(key: str, source: Callable[[], str]) -> Any:
    """The module with this text: from its file, which is written if need be, or from memory."""
    name = f"f{hashlib.sha256(f'{_generator()}{key}'.encode()).hexdigest()[:24]}"
    path = _file(f"{name}.py", source)
    if path is None:
        module = types.ModuleType(f"taut_generated_{name}")
        module.__file__ = None
        exec(compile(source(), f"<{name}>", "exec"), module.__dict__)  # our own text (source.py), not the user's
        return module
    spec = present(importlib.util.spec_from_file_location(f"taut_generated_{name}", path), f"the module {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # numba's cache looks it up by name
    present(spec.loader, f"the loader of {path}").exec_module(module)
    return module


def _file(name: str, source: Callable[[], str]) -> Path | None:
    folder = cache_folder()
    if folder is None:
        return None
    path = folder / FORMULAS / name
    if not path.exists():
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
        except OSError:
            return None
        if not keep(path, source().encode()):
            return None
    return path


@cache
def _generator() -> str:
    """A digest of the code that makes texts of formulas."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
