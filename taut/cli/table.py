"""Tables on the standard output: fitted to a terminal or to COLUMNS, not cut where the output goes to a file.

Where the words of a row do not fit side by side, each row is a paragraph: its name, then a line for each column.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from ..progress import table_width

BETWEEN = 2  # spaces between columns
LONGEST_WORD = 24  # longer words, such as paths and lists without spaces, may be folded


def print_table(rows: Iterable[Sequence[str]], title: str = "", header: Sequence[str] = ()) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = [list(row) for row in rows]
    width = table_width()
    console = Console(width=width, highlight=False)
    if title:
        console.print(Text(title, style="bold underline"))
    if header and least_width([list(header), *rows]) > width:
        for line in paragraphs(rows, header, width):
            console.print(Text(line))
        return
    table = Table(box=None, pad_edge=False, padding=(0, BETWEEN, 0, 0), show_header=bool(header))
    for i in range(max(len(row) for row in rows)):
        # The first column holds names, which must stay whole to be copied.
        first = i == 0
        table.add_column(
            Text(header[i]) if header else "", no_wrap=first, overflow="fold", style="bold" if first else ""
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def least_width(rows: Sequence[Sequence[str]]) -> int:
    """Letters that a line needs so that no word is folded; names stay whole."""
    columns = list(zip(*rows))
    names = max(len(cell) for cell in columns[0])
    words = [max((len(word) for cell in column for word in cell.split()), default=0) for column in columns[1:]]
    return names + sum(BETWEEN + min(longest, LONGEST_WORD) for longest in words)


def paragraphs(rows: Sequence[Sequence[str]], header: Sequence[str], width: int) -> list[str]:
    """A line for the name of each row, and one or more for each of its other cells, with the column's name."""
    lines = []
    for row in rows:
        lines.append(row[0])
        for name, cell in zip(header[1:], row[1:]):
            if cell:
                told = f"{name}: {cell}" if name else cell
                lines += textwrap.wrap(told, max(width, 20), initial_indent="  ", subsequent_indent="    ")
    return lines
