"""How compiled functions are linked: inlined ones as code to be copied, all others by the names of their symbols.

numba links the whole of every callee into its caller and optimises it there again, and makes machine code even of
functions that are always inlined. Here

- an inlined function has no machine code of its own: its library holds LLVM code that callers copy;
- any other function is compiled once; its callers only declare it, and the names are bound when code is loaded.

So a library must say what it needs (`needs`: digests and argument types of the functions that it calls), and what it
needs is loaded first. Symbols carry the digest of their function (fingerprint.py): other code has another name.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from numba.core import bytecode, compiler
from numba.core.codegen import JITCodeLibrary

from .fingerprint import DISPATCHERS, describe_type, fingerprint
from .on_demand import Later, expect
from .passes import KernelPasses

Need = tuple[str, tuple]  # digest of a function, types of its arguments
INLINE, OBJECT = "inline", "object"
FULL = 3  # loops in loops from which on LLVM does all that it can: elsewhere it gains nothing and takes twice as long


def key_of(need: Need) -> str:
    """A function and the types of its arguments."""
    return f"{need[0]}{[describe_type(kind) for kind in need[1]]}"


class KernelLibrary(JITCodeLibrary):
    """The code of one compiled function."""

    def __init__(self, codegen: Any, name: str, inline: bool, origin: Need) -> None:
        super().__init__(codegen, name)
        self.inline, self.origin = inline, origin
        self.needs: dict[str, Need] = {}
        self.later: dict[int, Later] = {}  # what is compiled when it is called (on_demand.py)
        self.depth = 0  # of its loops, one in another, with those of what is copied into it

    @property
    def codegen(self) -> Any:
        return _OptionalEnvironments(self._codegen)

    def finalize(self) -> None:
        """Link what is inlined, note what is called, optimise."""
        self._codegen._check_llvm_bugs()
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            if isinstance(library, KernelLibrary):
                self.later.update(library.later if library.inline else {})
                self.needs.update(library.needs if library.inline else {library.key: library.origin})
            if not isinstance(library, KernelLibrary) or library.inline:
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._optimize_final_module()
        self._final_module.verify()
        if not self.inline:
            self._load_needs()
        self._finalize_final_module()

    def _load_needs(self) -> None:
        """See to it that everything this code calls is in memory: an unknown symbol would be called at address 0."""
        for digest, arguments in self.needs.values():
            DISPATCHERS[digest].compile(arguments)

    @property
    def key(self) -> str:
        return key_of(self.origin)

    def _optimize_functions(self, module: Any) -> None:
        """numba optimises each function before what it calls is copied into it: a tenth of the time of a short step, so
        kept for functions with loops in loops, and of no use elsewhere."""
        module.data_layout = self._codegen._data_layout
        if not self.inline and self.depth >= FULL:
            for function in module.functions:
                passes = self._codegen._pass_builder()
                passes.getFunctionPassManager().run(function, passes)

    def _optimize_final_module(self) -> None:
        """Fully where loops stand in loops, lightly elsewhere; what is inlined only so that callers do not repeat it.
        numba optimises twice, to find reference counts that cancel each other; kernels have none."""
        if not self.inline and self.depth >= FULL:
            passes = self._codegen._pass_builder()
        else:
            passes = self._codegen._pass_builder(opt=1, loop_vectorize=False, slp_vectorize=False)
        passes.getModulePassManager().run(self._final_module, passes)

    def _finalize_final_module(self) -> None:
        if not self.inline:
            super()._finalize_final_module()
            return
        self._finalize_dynamic_globals()
        self._finalized = True

    def store(self) -> tuple:
        """What `load` makes the library of in another process."""
        self._ensure_finalized()
        needs = tuple(self.needs.values())
        later = tuple((fingerprint(function), result, given) for function, result, given in self.later.values())
        if self.inline:
            code = self._get_module_for_linking().as_bitcode()
            return self.name, INLINE, code, (), needs, later, self.origin, self.depth
        symbols = [
            entry.name
            for group in (self._final_module.functions, self._final_module.global_variables)
            for entry in group
            if not entry.is_declaration
        ]
        return self.name, OBJECT, self._get_compiled_object(), tuple(symbols), needs, later, self.origin, self.depth

    @classmethod
    def load(cls, codegen: Any, stored: tuple) -> KernelLibrary:
        name, form, code, symbols, needs, later, origin, depth = stored
        self = cls(codegen, name, form == INLINE, origin)
        self.depth = depth
        self.needs = {key_of(need): need for need in needs}  # callers join those of several libraries
        for digest, result, given in later:
            entry = DISPATCHERS[digest], result, given
            self.later[expect(entry)] = entry
        if form == INLINE:
            self._final_module = self._shared_module = llvm.parse_bitcode(code)
            self._finalized = True
            return self
        self._load_needs()
        self.enable_object_caching()
        self._set_compiled_object(code)
        self._finalize_final_module()
        codegen._engine._defined_symbols.update(symbols)
        return self


class _OptionalEnvironments:
    """numba's code generator, for functions whose environment may have been optimised away or never been linked."""

    def __init__(self, codegen: Any) -> None:
        self._inner = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def set_env(self, name: str, environment: Any) -> None:
        if self._inner._engine.is_symbol_defined(name):
            self._inner.set_env(name, environment)


class KernelCompiler(compiler.Compiler):
    """numba's pipeline without what kernels do not need, with our library, and the same symbols in every process."""

    def compile_extra(self, func: Any) -> Any:
        state = self.state
        digest = fingerprint(_dispatchers[func])
        arguments = tuple(state.args)
        codegen = state.targetctx.codegen()
        identity = state.func_id = bytecode.FunctionIdentity.from_function(func)
        identity.unique_id = int(digest[:12], 16)
        identity.unique_name = f"{identity.func_qualname}${identity.unique_id}"
        inline = bool(state.flags.forceinline)
        library = state.library = KernelLibrary(codegen, identity.func_qualname, inline, (digest, arguments))
        library.enable_object_caching()
        compiler.ExtractByteCode().run_pass(state)
        state.lifted, state.lifted_from = (), None
        with _without_collector():
            return self._compile_bytecode()

    def define_pipelines(self) -> list[KernelPasses]:
        return [KernelPasses("kernel")]


@contextmanager
def _without_collector() -> Iterator[None]:
    """Python's collector of cycles takes a tenth of the time of compiling, and finds next to nothing. What was made is
    old when it comes back, so that it does not begin with going through all of it."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.freeze()
            gc.unfreeze()
            gc.enable()


_dispatchers: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # by the Python function


def register(dispatcher: Any) -> None:
    _dispatchers[dispatcher.py_func] = dispatcher
