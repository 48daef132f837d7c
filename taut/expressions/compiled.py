"""From generated source text to the address of machine code.

Numba caches only what lives in a real file, so generated source is written beside its cache. The file
is named after the request (the formulas and names), not after the text made of it: a later process
finds it without importing sympy. That is safe because the folder changes with taut's own sources.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np

from taut.errors import tell
from taut.expressions.call import prototype
from taut.jit import cache_folder

_addresses: dict[Any, int] = {}
_kept_alive: list[Any] = []  # code must outlive its address


def generated_address(request: Any, signature: Any, sizes: Sequence[int], source: Callable[[], str]) -> int:
    """The address of `evaluate` in the text of source(), which is called only if no file has it yet.

    `request` identifies the text by its repr; `sizes` are the lengths of the output arrays.
    """
    key = repr(request)
    return address_once(key, lambda: _from_file(_file(key, source), signature, sizes))


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
    """The address of a C function that calls Python; an exception there becomes NaN and one warning."""
    warned: list[bool] = []

    def guarded(*arguments):
        try:
            function(*arguments)
        except Exception as mistake:  # it can not pass through compiled code
            for output, size in zip(arguments[len(arguments) - len(sizes) :], sizes):
                np.ctypeslib.as_array(output, (size,))[:] = np.nan
            if not warned:
                warned.append(True)
                tell(f"{name} failed: {type(mistake).__name__}: {str(mistake).rstrip('.')}")

    callback = prototype(signature)(guarded)
    _kept_alive.append(callback)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None
    return address


def _from_file(path: Path, signature: Any, sizes: Sequence[int]) -> int:
    spec = importlib.util.spec_from_file_location(f"taut_generated_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # numba's cache looks it up by name
    spec.loader.exec_module(module)
    if interpreting():
        return python_callback(module.evaluate, signature, sizes, "a formula")
    return machine_code(module.evaluate, signature, cached=True)


def _file(key: str, source: Callable[[], str]) -> Path:
    folder = cache_folder() / "generated"
    path = folder / f"f{hashlib.sha256(key.encode()).hexdigest()[:24]}.py"
    if not path.exists():
        text = source()
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(suffix=".tmp", dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)  # another process sees the whole text or none
    return path
