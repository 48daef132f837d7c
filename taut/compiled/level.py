"""For which processors code is compiled.

A wheel of taut may carry compiled code (scripts/ship.py) in `shipped/<level>-<Python>` beside this file, made for a
level that all recent processors of a kind have. It is used where the processor has that level; anything that it lacks
is compiled for the processor at hand. Code for the processor at hand can be faster (docs/start.md has the measured
difference): it is compiled in the background after a first run (simulation/native.py), and a mark in the user's own
folder says that it is there. TAUT_NATIVE=1 leaves shipped code aside at once, TAUT_NATIVE=0 keeps to it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm

from .folder import cache_folder

LEVEL = "x86-64-v3"
FEATURES = (
    "sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16", "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt",
    "movbe",
)  # fmt: skip
SHIPPED = Path(__file__).with_name("shipped")


@cache
def shipped_folder() -> Path | None:
    """The folder of compiled code that came with taut and that this processor and this Python can run."""
    asked = os.environ.get("TAUT_NATIVE", "")
    if asked not in ("", "0") or platform.machine().lower() not in ("x86_64", "amd64"):
        return None
    host = llvm.get_host_cpu_features()
    folder = SHIPPED / shipped_name()
    if not folder.is_dir() or not all(host.get(name, False) for name in FEATURES):
        return None
    mark = native_mark() if asked == "" else None
    return None if mark is not None and mark.is_file() else folder


def native_mark() -> Path | None:
    """The file that says: what this shipped code does, the user's folder has for the processor at hand."""
    folder = cache_folder()
    if folder is None:
        return None
    names = sorted(path.name for path in (SHIPPED / shipped_name()).iterdir())
    digest = hashlib.sha256(repr((llvm.get_host_cpu_name(), names)).encode()).hexdigest()
    return folder / f"native-{digest[:32]}"


def shipped_name() -> str:
    return f"{LEVEL}-{sys.implementation.cache_tag}"


@cache
def features() -> dict[str, bool]:
    """What the code that is used may assume of the processor."""
    if os.environ.get("NUMBA_CPU_NAME") == LEVEL or shipped_folder() is not None:
        return dict.fromkeys(FEATURES, True)
    return dict(llvm.get_host_cpu_features())
