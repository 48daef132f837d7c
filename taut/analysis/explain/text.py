"""An explanation as tables, the four rules side by side where the terminal is wide enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...progress import table_width
from .explain import Explanation
from .rules import ZERO, Iteration, Trace

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

MANY = 10  # rows beyond which only those that are held, move or are violated are listed
MOST_BODIES = 4
MOST_ITERATIONS = 9  # of a rule; rounds in between are left out
STYLES = {"active": "blue", "entered": "green", "left": "red", "tested": ""}


def number(value: float, size: float = 1e-3) -> str:
    """Four digits; what is rounding beside `size` is zero."""
    return "0" if abs(value) <= ZERO * size else f"{value:.4g}"


def vector(values: np.ndarray, size: float) -> str:
    """A planar vector without its zero."""
    shown = values[:2] if abs(values[2]) <= ZERO * size else values
    return f"({', '.join(number(value, size) for value in shown)})"


def listed_iterations(trace: Trace) -> list[Iteration | None]:
    """All iterations, or the first and last ones with None for what is left out."""
    iterations: list[Iteration | None] = [*trace.iterations]
    if len(iterations) <= MOST_ITERATIONS:
        return iterations
    return [*iterations[: MOST_ITERATIONS - 2], None, iterations[-1]]


def listed_rows(iteration: Iteration) -> list[int]:
    rows = range(len(iteration.names))
    if len(iteration.names) <= MANY:
        return list(rows)
    violated = set(iteration.violated)
    return [i for i in rows if iteration.state(i) != "tested" or iteration.names[i] in violated]


def print_explanation(explanation: Explanation) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(width=table_width(), highlight=False)
    place = f"{explanation.scene} at t = {explanation.time:.9g} s"
    console.print(Text(f"{place}, {explanation.method}, dt {explanation.dt:g} s", style="bold"))
    for note in explanation.notes:
        console.print(Text(note))
    if explanation.impacts:
        console.print()
        console.print(_impacts(explanation))
    if not explanation.traces:
        console.print(Text("After this impact nothing touches any more, so no rule has anything to decide."))
        return
    console.print()
    console.print(_touching(explanation))
    console.print()
    console.print(Text("λ: multiplier [N]; w = J dv/dt - d: what is left of the acceleration apart [m/s²]; "
                       "both must be ≥ 0, and one of them 0."))  # fmt: skip
    _side_by_side(console, [_rule(trace) for trace in explanation.traces])


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
    table = _plain("", "Φ", "dΦ/dt", "w with none active", title=f"touching: {len(given.names)}")
    for i, name in enumerate(given.names):
        table.add_row(Text(name), number(given.phi[i]), number(given.rate[i]), number(given.c[i], given.sizes[1]))
    return table


def _rule(trace: Trace) -> Group:
    """One rule from top to bottom."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Any] = [Text(trace.rule, style="bold underline")]
    for iteration in listed_iterations(trace):
        if iteration is None:
            parts.append(Text(f"… {len(trace.iterations) - MOST_ITERATIONS + 1} rounds left out"))
            continue
        held = int(iteration.before.sum())
        parts += [Text(f"{iteration.label}: {held or 'none'} active", style="bold"), _rows(iteration)]
        for name, values in list(iteration.acceleration.items())[:MOST_BODIES]:
            parts.append(Text(f"dv/dt of {name} {vector(values, iteration.sizes[1])}"))
        if len(iteration.acceleration) > MOST_BODIES:
            parts.append(Text(f"dv/dt of {len(iteration.acceleration) - MOST_BODIES} more bodies"))
        if iteration.phi is not None:
            deep = iteration.deepest
            parts.append(Text(f"then {deep[0]} has Φ = {number(deep[1])}" if deep else "then all Φ ≥ 0"))
        parts.append(Text(""))
    parts.append(Text(f"→ {trace.answer.verdict()}", style="bold"))
    parts += [Text(note) for note in trace.notes]
    return Group(*parts)


def _rows(iteration: Iteration) -> Table:
    from rich.text import Text

    table = _plain("", "λ", "w", "")
    rows = listed_rows(iteration)
    for i in rows:
        state = iteration.state(i)
        moved = {"entered": "enters", "left": "leaves"}.get(state, "")
        what = f"{iteration.fired[i]}: {moved}" if moved else ("" if state == "tested" else "active")
        lam, w = number(iteration.lam[i], iteration.sizes[0]), number(iteration.w[i], iteration.sizes[1])
        cells = (iteration.names[i], lam, w, what)
        table.add_row(*(Text(cell, style=STYLES[state]) for cell in cells))
    if len(rows) < len(iteration.names):
        table.add_row(Text(f"{len(iteration.names) - len(rows)} {'others' if rows else 'rows'}"), "0", "≥ 0")
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
