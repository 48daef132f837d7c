"""A comparison on the terminal: one table per step, its columns chosen by the room there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...methods import style_of
from ...progress import WIDTH_OF_FILES, table_width
from .fields import BY_NAME, written

if TYPE_CHECKING:
    from .comparison import Comparison

# In the order in which columns give way where the terminal is narrow: the last first.
COLUMNS = (
    "elongation_max", "ms_per_frame", "drift_max", "elongation_mean", "system_size", "drift_accumulated",
    "trajectory_error_max", "us_per_step", "energy_drift", "horizon", "multiplier_error_rms", "rate_max", "held_rows",
    "solves_per_step",
)  # fmt: skip
SHOWN_AS = {
    name: place
    for place, name in enumerate((
        "elongation_max", "elongation_mean", "drift_accumulated", "drift_max", "rate_max", "multiplier_error_rms",
        "trajectory_error_max", "horizon", "energy_drift", "us_per_step", "ms_per_frame", "held_rows", "system_size",
        "solves_per_step",
    ))
}  # fmt: skip
FEWEST_COLUMNS = 3


def print_comparison(comparison: Comparison) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(width=table_width(), highlight=False)
    for line in heading(comparison):
        console.print(Text(line))
    for dt in comparison.steps:
        console.print()
        console.print(_fitting(comparison, dt, console))
    for note in comparison.notes:
        console.print(Text(f"note: {note}."))
    for name, reason in comparison.refused.items():
        console.print(Text(f"refused: {name}: {reason.rstrip('.')}."))


def heading(comparison: Comparison) -> list[str]:
    """What is compared, and how exact the reference is."""
    unit = comparison.length_unit
    lines = [f"scene {comparison.scene_name}, {comparison.duration:g} s, size {comparison.size:.3g} {unit}"]
    if comparison.reference is None:
        return [*lines, "reference: none, so errors of motion and λ are not measured"]
    own = ", ".join(
        f"{values['trajectory_error_max']:.1e} {unit} at dt {dt:g} s"
        for dt, values in comparison.reference_errors.items()
    )
    return [*lines, f"reference: {comparison.reference.method}, {comparison.reference.how}: {own}"]


def _fitting(comparison: Comparison, dt: float, console: Any) -> Any:
    """The table with as many columns as there is room for."""
    present = [field.name for field in comparison.fields]
    names = [name for name in COLUMNS if name in present]
    unbound = console.options.update(width=max(WIDTH_OF_FILES, console.width))
    while True:
        table = _table(comparison, dt, sorted(names, key=lambda name: SHOWN_AS[name]))
        if len(names) <= FEWEST_COLUMNS or console.measure(table, options=unbound).maximum <= console.width:
            return table
        names.pop()


def _table(comparison: Comparison, dt: float, chosen: list[str]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), title=f"dt {dt:g} s", title_justify="left", title_style="bold"
    )
    table.add_column("method\n", no_wrap=True)
    for name in chosen:
        field = BY_NAME[name]
        unit = comparison.unit(field)
        table.add_column(f"{field.title}\n{'' if unit == '1' else f'[{unit}]'}".replace("[", r"\["), justify="right")
    table.add_column("status\n")
    for row in comparison.table:
        if row["dt"] != dt:
            continue
        cells = [
            "not resolved" if name in row["not_resolved"] else written(BY_NAME[name], row[name], comparison.duration)
            for name in chosen
        ]
        method = Text(row["method"], style=f"bold {style_of(row['method']).color}")
        table.add_row(method, *cells, row["status"], style="" if row["status"] == "finished" else "dim")
    return table
