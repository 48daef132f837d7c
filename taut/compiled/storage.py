"""Compiled functions on disk: one file each, named by all that its content depends on.

    name = function + hash(F(function), types of the arguments, processor, Python, numba)

A file begins with the digest of the rest: a damaged one is compiled anew and replaced. Folders of read-only code that
came with taut are tried before the user's own (folder.py). Processes that need the same function at the same time do
not compile it twice: the second waits and loads what the first has made (locks.py).
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import compiler
from numba.core.caching import _Cache
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from .fingerprint import describe_type, fingerprint
from .folder import ENTRY, cache_folder, forget_oldest, keep
from .level import LEVEL, shipped_folder
from .library import KernelLibrary
from .locks import lock, release

# A digest of what decides how functions are linked, how structures are laid out and what an entry holds. It is taken
# when the package is imported: files that are replaced later are not the code that runs here.
DECIDING = ("decorators", "fingerprint", "function_pointers", "inference", "library", "lowering", "on_demand",
            "passes", "references", "storage")
MACHINERY = hashlib.sha256(
    b"".join(Path(__file__).with_name(f"{name}.py").read_bytes() for name in DECIDING)
).hexdigest()
DIGEST = 32  # bytes at the beginning of a file
before_compiling: list[Callable[[Any], None]] = []  # called with each function that no folder has


class KernelCache(_Cache):
    """numba's interface to a cache, of one function."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self._enabled = True

    @property
    def cache_path(self) -> str | None:
        folder = cache_folder()
        return None if folder is None else str(folder)

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Entries are named by their content: there is nothing stale to remove."""

    def file_name(self, signature: Any, level: str = "") -> str:
        """The name of the entry for these arguments, and for the processor at hand or for a level of processors."""
        function = self._dispatcher.py_func
        arguments, _ = normalize_signature(signature)
        triple, processor, features = _processor(self._dispatcher.targetctx)
        depends = (
            fingerprint(self._dispatcher), [describe_type(kind) for kind in arguments], MACHINERY,
            sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, triple,
            (level, "") if level else (processor, features),
        )  # fmt: skip
        digest = hashlib.sha256(repr(depends).encode()).hexdigest()[:32]
        name = function.__qualname__.replace("<", "").replace(">", "")[:60]
        return f"{function.__module__.rpartition('.')[2]}.{name}-{digest}{ENTRY}"

    def find(self, signature: Any) -> Path | None:
        """The file with this version of the function."""
        shipped, own = shipped_folder(), self.own(signature)
        for path in (None if shipped is None else shipped / self.file_name(signature, LEVEL), own):
            if path is not None and path.is_file():
                return path
        return None

    def own(self, signature: Any) -> Path | None:
        """Where the user's own folder has, or would have, this version of the function."""
        folder = cache_folder()
        return None if folder is None else folder / self.file_name(signature)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if not self._enabled:
            return None
        found = _load(target_context, self.find(sig)) or _load(target_context, self.own(sig))
        if found is None:
            _fill_registries(target_context)
            for hook in before_compiling:
                hook(self._dispatcher)
            lock(self.file_name(sig))
            # Another process may have made it since, or while this one waited.
            found = _load(target_context, self.own(sig))
        if found is not None:
            release(self.file_name(sig))
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        folder = cache_folder()
        if not self._enabled or folder is None or data.library.has_dynamic_globals:
            return
        text = dumps(_reduce(data))
        if keep(folder / self.file_name(sig), hashlib.sha256(text).digest() + text):
            _prune_once(folder)
        release(self.file_name(sig))


@cache
def _fill_registries(target_context: Any) -> None:
    """Before the first function is compiled; numba adds what is registered later."""
    target_context.refresh()


@cache
def _processor(target_context: Any) -> tuple[str, str, str]:
    """For which processor code is made."""
    return target_context.codegen().magic_tuple()


def is_stored(dispatcher: Any, arguments: tuple) -> bool:
    """Whether this version of a function can be loaded instead of being compiled."""
    return dispatcher._cache.find(arguments) is not None


def _load(target_context: Any, path: Path | None) -> Any:
    """The function that a file holds; None where there is none or where the file is damaged or of another layout."""
    if path is None:
        return None
    try:
        text = path.read_bytes()
        if hashlib.sha256(text[DIGEST:]).digest() == text[:DIGEST]:
            return _rebuild(target_context, pickle.loads(text[DIGEST:]))
    except Exception:  # whatever a foreign file makes of the reader: the function is compiled instead
        pass
    return None


_pruned: set[Path] = set()


def _prune_once(folder: Path) -> None:
    """Once in a process that adds to a folder, see to it that the folder does not grow for ever."""
    if folder not in _pruned:
        _pruned.add(folder)
        forget_oldest(folder)


def _reduce(result: Any) -> tuple:
    about = result.fndesc
    about.typemap = about.calltypes = None  # large, and of no use later
    return (
        result.library.store(), about, result.environment, result.signature, result.reload_init,
        tuple(result._find_referenced_environments()),
    )  # fmt: skip


def _rebuild(target_context: Any, stored: tuple) -> Any:
    library_data, about, environment, signature, reload_init, environments = stored
    for initialise in reload_init:
        initialise()
    library = KernelLibrary.load(target_context.codegen(), library_data)
    entry_point = target_context.get_executable(library, about, environment)
    for other in environments:
        library.codegen.set_env(other.env_name, other)
    make: Any = compiler.CompileResult
    return make(
        target_context=target_context, typing_context=target_context.typing_context, library=library,
        environment=environment, entry_point=entry_point, fndesc=about, type_annotation="", signature=signature,
        objectmode=False, lifted=(), typing_error=None, call_helper=None, metadata=None, reload_init=reload_init,
        referenced_envs=environments,
    )  # fmt: skip
