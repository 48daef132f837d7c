"""Lists of what a package declares: its modules are named in one list, and nowhere else."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def declared(package: str, attribute: str, modules: str) -> list[Any]:
    """What the modules of a package declare, named with blanks between, in this order: one thing as `attribute`, or
    several in a tuple of its plural (KIND, KINDS)."""
    found: list[Any] = []
    for name in modules.split():
        module = import_module(f"{package}.{name}")
        several = getattr(module, f"{attribute}S", None)
        found += several if several is not None else [getattr(module, attribute)]
    return found
