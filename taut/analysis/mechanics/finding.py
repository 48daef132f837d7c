"""What `taut doctor` tells, line by line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One line of the diagnosis: what, its value, and why it matters."""

    topic: str
    value: str
    reason: str = ""
    is_warning: bool = False
