"""What notebooks show of a scene, a run and a comparison: a small table and a picture; all names are escaped."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

from ..errors import TautError
from ..scene.scene import Scene
from .picture import picture

if TYPE_CHECKING:
    from ..analysis.compare.comparison import Comparison
    from ..result import Run

SIZE = (480, 300)
CELL = "padding:2px 10px 2px 0;text-align:left;vertical-align:top"


def run_html(run: Run) -> str:
    info = run.info
    rows = [
        ("scene", run.labels.scene),
        ("method", f"{info.get('method', '')}, dt {info.get('dt', float('nan')):g} s"),
        ("status", f"{run.status}{': ' + run.message if run.message else ''}"),
        ("records", f"{len(run.records):,} up to t = {run.records.time[-1]:.6g} s"),
        ("energy change", f"{run.energy_change():.3g} J"),
    ]
    worst = run.worst_error()
    if worst is not None:
        rows.append(("worst |Φ|", str(worst)))
    return _beside(_table(rows), _image(run))


def scene_html(scene: Scene) -> str:
    def counted(things: Iterable[Any]) -> str:
        kinds = [thing.kind for thing in things if getattr(thing, "owner", None) is None]
        return ", ".join(f"{kinds.count(kind):,} {kind}" for kind in dict.fromkeys(kinds)) or "none"

    rows = [
        ("scene", scene.name),
        ("bodies", counted(scene.bodies.values())),
        ("constraints", counted(scene.constraints.values())),
        ("forces", counted(scene.forces.values())),
        ("gravity", f"{', '.join(f'{g:g}' for g in scene.gravity)} m/s²"),
    ]
    if scene.deformables:
        listed = (f"{d.kind} '{d.name}', {d.count:,} nodes" for d in scene.deformables.values())
        rows.insert(2, ("deformables", ", ".join(listed)))
    if scene.obstacles:
        rows.append(("obstacles", counted(scene.obstacles.values())))
    return _beside(_table(rows), _image(scene))


def comparison_html(comparison: Comparison) -> str:
    fields = comparison.fields
    head = ["method", "dt  [s]", *(f"{field.name}  [{comparison.unit(field)}]" for field in fields), "status"]
    lines = [
        [row["method"], f"{row['dt']:g}", *(f"{row[field.name]:.3g}" for field in fields), row["status"]]
        for row in comparison.table
    ]
    cells = "".join(f'<th style="{CELL}">{escape(text)}</th>' for text in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="{CELL}">{escape(str(text))}</td>' for text in line) + "</tr>" for line in lines
    )
    notes = "".join(f"<div>{escape(note)}</div>" for note in comparison.notes)
    last = next(reversed(comparison.runs.values()))
    title = f"<b>{escape(comparison.scene_name)}</b>, {comparison.duration:g} s"
    return f"<div>{title}<table><tr>{cells}</tr>{body}</table>{notes}{_image(last)}</div>"


def _table(rows: Iterable[tuple[str, str]]) -> str:
    lines = (f'<tr><th style="{CELL}">{escape(key)}</th><td style="{CELL}">{escape(value)}</td></tr>'
             for key, value in rows)  # fmt: skip
    return f"<table>{''.join(lines)}</table>"


def _beside(table: str, image: str) -> str:
    return f'<div style="display:flex;gap:16px;flex-wrap:wrap;align-items:flex-start">{image}{table}</div>'


def _image(what: Scene | Run) -> str:
    """A picture as it goes into a page; nothing where there is nothing to be seen."""
    from PIL import Image

    try:
        image = picture(what, size=SIZE)
    except TautError:
        return ""
    file = BytesIO()
    Image.fromarray(image).save(file, "PNG")
    data = b64encode(file.getvalue()).decode()
    return f'<img width="{SIZE[0]}" height="{SIZE[1]}" src="data:image/png;base64,{data}">'
