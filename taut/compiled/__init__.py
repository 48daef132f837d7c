"""Everything that uses numba's internals: decorators, linking, references to structures, the cache of compiled code.

A function f is compiled for the types of its arguments T. What is stored is named by a digest, so that f is compiled
again only where something that it depends on has changed:

    F(f)      = H(code of f, its options, F of every global that it reads)  fingerprint.py                    (1)
    file      = H(F(f), T, versions of Python and numba, processor)         storage.py                        (2)
    call      = an address: of a symbol (@compiled), or of a table (indirect_call) library.py, function_pointers.py (3)

Floating-point arithmetic is IEEE's: no fast-math, no contraction, so that runs repeat bit for bit.

    decorators.py         @entry, @compiled, @inline; copies of a template with other names
    references.py         named tuples of arrays that are passed as a pointer
    library.py            how compiled functions are linked: inlined, or called by symbol
    fingerprint.py        a digest of a function and of everything that it calls
    storage.py            compiled functions on disk, named by that digest
    folder.py             the folder on disk: whose it is, what may be deleted in it;  locks.py  one writer at a time
    passes.py             from byte code to LLVM's language: those passes of numba that kernels need
    inference.py          types of variables, with a cache of what was inferred;  lowering.py  short LLVM code
    on_demand.py          functions that are compiled when they are first called
    kinds.py              types of structures, cached
    level.py              the processors for which code is compiled, and code that is shipped with taut
    function_pointers.py  calling compiled functions by address;  prepared.py  from Python, with arguments laid out once
    vectors.py            three numbers as a tuple: dot and cross products, and pairs of points
"""

from .decorators import compiled, entry, inline, overload, specialise
from .fingerprint import fingerprint
from .folder import cache_folder
from .on_demand import on_demand
from .references import address, by_value, reference, structure, words
from .storage import is_stored

__all__ = [
    "address", "by_value", "cache_folder", "compiled", "entry", "fingerprint", "inline", "is_stored", "on_demand",
    "overload", "reference", "specialise", "structure", "words",
]  # fmt: skip
