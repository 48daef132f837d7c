"""How to write a part of `taut bench`.

1.  One file with `PART = Part(name, doc, measure)`, one line in the tuple of `bench/__init__.py`.
2.  `measure(settings) -> Report` times with the functions of `timing.py` and returns tables, targets and the bare
    numbers; it prints nothing. With `settings.quick` it takes seconds and its times mean little.
3.  A target is a claim with its limit: the report says what was measured, met or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...methods import Method


@dataclass(frozen=True)
class Settings:
    """What the user asked for."""

    methods: tuple[Method, ...]
    quick: bool = False
    peers: bool = False


@dataclass(frozen=True)
class Table:
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Target:
    """A measured number that should not be above a limit; None: it could not be measured."""

    what: str
    measured: float | None
    limit: float
    unit: str = ""

    @property
    def met(self) -> bool:
        return self.measured is not None and self.measured <= self.limit

    def row(self) -> list[str]:
        measured = "not measured" if self.measured is None else f"{self.measured:.3g} {self.unit}".rstrip()
        return [self.what, measured, f"{self.limit:g} {self.unit}".rstrip(), "met" if self.met else "not met"]


@dataclass(frozen=True)
class Report:
    tables: Sequence[Table]
    targets: Sequence[Target] = ()
    numbers: dict[str, Any] = field(default_factory=dict)  # of plain types, for --json
    notes: Sequence[str] = ()


def digits(value: float) -> str:
    """Three digits, and no exponent above a thousandth."""
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.3g}"


@dataclass(frozen=True)
class Part:
    name: str
    doc: str
    measure: Callable[[Settings], Report]
