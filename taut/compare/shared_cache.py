"""Two processes that compile at once must not mix up the cache of compiled code.

numba keeps the versions of a function (one per types of arguments) in numbered files, and an index of them. It
replaces each file at once, but reads the index, takes the next free number and writes the index back without
asking whether another process does the same: two could take one number for different versions, and the one
written last would then be run in place of the other. So processes take turns here.
"""

from __future__ import annotations

from typing import Any

from numba.core.caching import IndexDataCacheFile

from .. import jit  # by its name: what imports from it counts as a source of compiled code


def is_compiled(method: str) -> bool:
    return any((jit.cache_folder() / "kernels").rglob(f"*advance_{method}-*.nbi"))


def share_cache() -> None:
    """From now on this process adds to the cache only while no other one does."""
    try:
        import fcntl
    except ImportError:  # Windows: as numba does it
        return
    save = IndexDataCacheFile.save
    if getattr(save, "takes_turns", False):
        return

    def save_in_turn(self: Any, key: Any, data: Any) -> None:
        with open(jit.cache_folder() / "turns", "w") as turns:
            fcntl.flock(turns, fcntl.LOCK_EX)  # given back when the file is closed
            save(self, key, data)

    save_in_turn.takes_turns = True  # type: ignore[attr-defined]
    IndexDataCacheFile.save = save_in_turn  # type: ignore[method-assign]
