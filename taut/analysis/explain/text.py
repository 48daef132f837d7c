"""An explanation as tables, the four rules side by side where the terminal is wide enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...progress import table_width
from .explain import Explanation
from .rules import ZERO, Look, Trace

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

MANY = 10  # rows beyond which only those that are held, move or are violated are listed
MOST_BODIES = 4
MOST_LOOKS = 9  # of a rule; rounds in between are left out
STYLES = {"handled": "blue", "entered": "green", "left": "red", "tested": ""}


def number(value: float, size: float = 1e-3) -> str:
    """Four digits; what is rounding beside `size` is zero."""
    return "0" if abs(value) <= ZERO * size else f"{value:.4g}"


def vector(values: np.ndarray, size: float) -> str:
    """A planar vector without its zero."""
    shown = values[:2] if abs(values[2]) <= ZERO * size else values
    return f"({', '.join(number(value, size) for value in shown)})"


def listed_looks(trace: Trace) -> list[Look | None]:
    """All looks, or the first and last ones with None for what is left out."""
    looks: list[Look | None] = [*trace.looks]
    if len(looks) <= MOST_LOOKS:
        return looks
    return [*looks[: MOST_LOOKS - 2], None, looks[-1]]


def listed_rows(look: Look) -> list[int]:
    rows = range(len(look.names))
    if len(look.names) <= MANY:
        return list(rows)
    violated = set(look.violated)
    return [i for i in rows if look.state(i) != "tested" or look.names[i] in violated]


def print_explanation(found: Explanation) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(width=table_width(), highlight=False)
    console.print(Text(f"{found.scene} at t = {found.time:.9g} s, {found.method}, dt {found.dt:g} s", style="bold"))
    for note in found.notes:
        console.print(Text(note))
    if found.impacts:
        console.print()
        console.print(_impacts(found))
    if not found.traces:
        console.print(Text("After this impact nothing touches any more, so no rule has anything to decide."))
        return
    console.print()
    console.print(_touching(found))
    console.print()
    console.print(Text("λ: multiplier [N]; w = J dv/dt - d: what is left of the acceleration apart [m/s²]; "
                       "both must be ≥ 0, and one of them 0."))  # fmt: skip
    _side_by_side(console, [_rule(trace) for trace in found.traces])


def _plain(*columns: str, title: str = "") -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), title=title, title_justify="left",
                  title_style="bold")  # fmt: skip
    for name in columns:
        table.add_column(name, justify="left" if name == "" else "right", no_wrap=True)
    return table


def _impacts(found: Explanation) -> Table:
    from rich.text import Text  # a name is no markup

    table = _plain("", "impulse [N s]", "dΦ/dt before [m/s]", "after", title="impact")
    for one in found.impacts:
        table.add_row(Text(one.name), number(one.impulse), number(one.before), number(one.after))
    return table


def _touching(found: Explanation) -> Table:
    from rich.text import Text

    given = found.problem
    table = _plain("", "Φ", "dΦ/dt", "w with none handled", title=f"touching: {len(given.names)}")
    for i, name in enumerate(given.names):
        table.add_row(Text(name), number(given.phi[i]), number(given.rate[i]), number(given.c[i], given.sizes[1]))
    return table


def _rule(trace: Trace) -> Group:
    """One rule from top to bottom."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Any] = [Text(trace.rule, style="bold underline")]
    for look in listed_looks(trace):
        if look is None:
            parts.append(Text(f"… {len(trace.looks) - MOST_LOOKS + 1} rounds left out"))
            continue
        held = int(look.before.sum())
        parts += [Text(f"{look.label}: {held or 'none'} handled", style="bold"), _rows(look)]
        for name, values in list(look.acceleration.items())[:MOST_BODIES]:
            parts.append(Text(f"dv/dt of {name} {vector(values, look.sizes[1])}"))
        if len(look.acceleration) > MOST_BODIES:
            parts.append(Text(f"dv/dt of {len(look.acceleration) - MOST_BODIES} more bodies"))
        if look.phi is not None:
            deep = look.deepest
            parts.append(Text(f"then {deep[0]} has Φ = {number(deep[1])}" if deep else "then all Φ ≥ 0"))
        parts.append(Text(""))
    parts.append(Text(f"→ {trace.answer.verdict()}", style="bold"))
    parts += [Text(note) for note in trace.notes]
    return Group(*parts)


def _rows(look: Look) -> Table:
    from rich.text import Text

    table = _plain("", "λ", "w", "")
    rows = listed_rows(look)
    for i in rows:
        state = look.state(i)
        moved = {"entered": "enters", "left": "leaves"}.get(state, "")
        what = f"{look.fired[i]}: {moved}" if moved else ("" if state == "tested" else "handled")
        cells = (look.names[i], number(look.lam[i], look.sizes[0]), number(look.w[i], look.sizes[1]), what)
        table.add_row(*(Text(cell, style=STYLES[state]) for cell in cells))
    if len(rows) < len(look.names):
        table.add_row(Text(f"{len(look.names) - len(rows)} {'others' if rows else 'rows'}"), "0", "≥ 0")
    return table


def _side_by_side(console: Any, tables: list[Group]) -> None:
    """As many in a row as fit."""
    from rich.table import Table

    widths = [console.measure(table).maximum for table in tables]
    for together in (4, 2, 1):
        rows = [range(k, min(k + together, len(tables))) for k in range(0, len(tables), together)]
        if together == 1 or all(sum(widths[i] + 4 for i in row) <= console.width for row in rows):
            for row in rows:
                grid = Table.grid(padding=(0, 4, 0, 0))
                grid.add_row(*(tables[i] for i in row))
                console.print(grid)
            return
