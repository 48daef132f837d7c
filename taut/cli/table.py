"""Tables on the standard output: fitted to a terminal or to COLUMNS, not cut where the output goes to a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..progress import table_width


def print_table(rows: Iterable[Sequence[str]], title: str = "", header: Sequence[str] = ()) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=bool(header))
    rows = [list(row) for row in rows]
    for i in range(max(len(row) for row in rows)):
        # The first column holds names, which must stay whole to be copied.
        first = i == 0
        table.add_column(
            Text(header[i]) if header else "", no_wrap=first, overflow="fold", style="bold" if first else ""
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console(width=table_width(), highlight=False)
    if title:
        console.print(Text(title, style="bold underline"))
    console.print(table)
