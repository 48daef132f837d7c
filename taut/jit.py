"""Compiled kernels: one decorator each for outer kernels and for the words they are made of.

Numba decides whether a cached kernel is stale by its own file alone, so an edit in a callee would go
unnoticed. The cache folder is therefore keyed on all sources that kernels are made of.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

_PACKAGE = Path(__file__).parent
_KERNEL_PACKAGES = {"jit.py", "expressions", "constraints", "forces", "linalg", "model", "contact", "methods", "cloth"}
_KEPT_CACHES = 4


@cache
def cache_folder() -> Path:
    """The folder of compiled code for exactly these sources, this Python and this numba."""
    digest = hashlib.sha256(f"{sys.version}{numba.__version__}".encode())
    for source in sorted(_PACKAGE.rglob("*.py")):
        path, text = source.relative_to(_PACKAGE), source.read_bytes()
        if path.parts[0] in _KERNEL_PACKAGES or b"jit import" in text:
            digest.update(str(path).encode() + text)
    root = os.environ.get("TAUT_CACHE_DIR")
    base = Path(root) if root else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "taut"
    folder = base / digest.hexdigest()[:16]
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _forget_old_caches(base)
    return folder


def _forget_old_caches(base: Path) -> None:
    folders = sorted((p for p in base.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime)
    for old in folders[:-_KEPT_CACHES]:
        shutil.rmtree(old, ignore_errors=True)


def _compile(function: Callable, **options: Any) -> Any:
    config: Any = numba.config
    compiler: Any = numba.njit
    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder() / "kernels")
    try:
        # Kernels work in given arrays and allocate nothing, so numba's reference counts (_nrt) are dead
        # weight: half the compile time of a step.
        compiled = compiler(cache=True, error_model="numpy", _nrt=False, **options)(function)
    finally:
        config.CACHE_DIR = before
    files = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if files is not None:
        take_turns(files)
    return compiled


def take_turns(files: Any) -> None:
    """Let processes that compile at once add to numba's cache one after the other.

    numba keeps the versions of a function in numbered files, and an index of them. It reads the index, takes
    the next free number and writes the index back without asking whether another process does the same:
    two could take one number for different versions, and one would be run in place of the other.
    """
    if fcntl is None:  # Windows: as numba does it
        return
    save = files.save

    def save_in_turn(key: Any, data: Any) -> None:
        with open(cache_folder() / "turns", "w") as turns:
            fcntl.flock(turns, fcntl.LOCK_EX)  # given back when the file is closed
            save(key, data)

    files.save = save_in_turn


def kernel(function: Callable) -> Any:
    """Compile an outer kernel: called from Python, or large enough to stand alone."""
    return _compile(function, no_cfunc_wrapper=True)


def part(function: Callable) -> Any:
    """Compile a part of a step that is called, not inlined: shared by methods, compiled once for all.

    The call costs about 0.1 µs (a model's arrays are its arguments), so words are for what small systems
    feel and parts for the rest.
    """
    return _compile(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def word(function: Callable) -> Any:
    """Compile a word of the vocabulary, always inlined into its caller.

    Model data travels as named tuples of arrays; without inlining each call would copy them,
    and a step of a two-link chain would cost 0.6 µs instead of 0.1.
    """
    return _compile(function, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def specialise(template: Callable, name: str, decorate: Callable = kernel, **bindings: Any) -> Any:
    """Compile a copy of `template` in which the given global names mean something else.

    This is how the one time loop is compiled with each method's step: the code stays a plain
    function in one place, and numba can cache the copies because each has its own name.
    """
    template = getattr(template, "py_func", template)
    copy = types.FunctionType(template.__code__, {**template.__globals__, **bindings}, name)
    copy.__qualname__ = name
    copy.__module__ = template.__module__
    return decorate(copy)
