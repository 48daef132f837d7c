"""Lists of names in messages about a start."""

from __future__ import annotations


def listed(names: list[str], most: int = 6) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown + more(len(names), most)


def more(count: int, most: int) -> str:
    return f" and {count - most} more" if count > most else ""
