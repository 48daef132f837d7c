"""The report: one HTML page that holds its data, style and script, and asks no network for anything."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from html import escape
from importlib.resources import files
from math import isfinite, isinf
from typing import Any

import numpy as np

from ...errors import TautError
from ...methods import METHODS, style_of
from ..metrics import OFF_TRACK
from .comparison import Comparison
from .curves import MOST_POINTS, Lines, lines, moving_bodies, spread
from .fields import BY_NAME, written
from .plots import AXES, force_unit, plane_of
from .printing import heading

MOST_SCENE = 6e6  # bytes of the moving scene before they are compressed
MOST_BYTES = 3.5e6  # of lines; a number takes 16/3 bytes in base 64
MOST_NAMES = 12  # bodies, and constraints, that can be chosen
FEWEST_POINTS = 100
PRECISION = ("trajectory_error_max", "trajectory_error_end", "multiplier_error_rms", "elongation_max",
             "elongation_mean", "drift_accumulated", "drift_max", "energy_drift")  # fmt: skip


def page(comparison: Comparison) -> str:
    """The whole page as text."""
    text = _asset("report.html")
    data = json.dumps(page_data(comparison), ensure_ascii=False, allow_nan=False)
    parts = {
        "<!--title-->": escape(_title(comparison)),
        "/*style*/": _asset("report.css"),
        "<!--scene-->": _scene(comparison),
        "<!--setup-->": _setup(comparison),
        "<!--table-->": _table(comparison),
        "<!--notes-->": _notes(comparison),
        "/*script*/": _asset("report.js"),
        "<!--data-->": data.replace("<", "\\u003c"),  # no tag inside it ends it
    }
    # In one go: a mark inside a part, such as in a scene's name, stays text.
    return re.sub("|".join(map(re.escape, parts)), lambda mark: parts[mark.group()], text)


def _title(comparison: Comparison) -> str:
    count = len(comparison.methods)
    return f"{comparison.scene_name}: {count} method{'s' if count > 1 else ''} compared"


def _asset(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def page_data(comparison: Comparison) -> dict[str, Any]:
    """What report.js draws."""
    labels = comparison.labels
    bodies, rows = spread(moving_bodies(labels), MOST_NAMES), spread(labels.row_names(), MOST_NAMES)
    judges = comparison.reference.runs if comparison.reference else {}
    per_run = 8 + 3 * len(bodies) + len(rows)
    room = MOST_BYTES / (16 / 3) / (per_run * (len(comparison.runs) + len(judges)))
    most = int(min(max(room, FEWEST_POINTS), MOST_POINTS))
    exact = {}
    for dt, (fine, coarse) in judges.items():
        # The error of its line is that against the less exact run.
        exact[f"{dt:g}"] = _packed(lines(comparison, fine, coarse, bodies, rows, most))
    runs = [
        {"method": name, "dt": f"{dt:g}",
         **_packed(lines(comparison, run, judges[dt][0] if dt in judges else None, bodies, rows, most))}
        for (name, dt), run in comparison.runs.items()
    ]  # fmt: skip
    first = next(iter(judges.values()))[0] if judges else next(iter(comparison.runs.values()))
    slots = [body.slot for body in labels.bodies if body.name in bodies]
    across, up = plane_of([first.records.x[:, slot] for slot in slots]) if slots else (0, 1)
    drift, rate = comparison.unit(BY_NAME["drift_max"]), comparison.unit(BY_NAME["rate_max"])
    methods = [
        {"name": name, "color": style.color, "dash": style.dash, "doc": METHODS[name].doc, "band": False}
        for name, style in ((name, style_of(name)) for name in comparison.methods)
    ]
    if judges and "reference" not in comparison.methods:
        methods.append({"name": "reference", "color": "#000000", "dash": [], "doc": "the reference", "band": True})
    return {
        "duration": comparison.duration, "steps": [f"{dt:g}" for dt in comparison.steps], "methods": methods,
        "bodies": bodies, "multipliers": rows, "units": {"drift": drift, "rate": rate},
        "forceUnits": {name: force_unit(unit) for name, unit in zip(labels.row_names(), labels.units())},
        "plane": f"{AXES[across]} {AXES[up]}" if (across, up) != (1, 2) else "z y",
        "lengthUnit": comparison.length_unit, "places": comparison.has_places,
        "horizon": OFF_TRACK * comparison.size, "reference": exact, "runs": runs,
        "rows": [{key: _plain(value) for key, value in row.items()} for row in comparison.table],
        "precision": [{"name": field.name, "doc": field.doc, "unit": comparison.unit(field)}
                      for field in map(BY_NAME.get, PRECISION) if field in comparison.fields],
    }  # fmt: skip


def _plain(value: Any) -> Any:
    """JSON has no number for what is infinite or missing."""
    return None if isinstance(value, float) and not isfinite(value) else value


def _packed(found: Lines) -> dict[str, Any]:
    def text(values: np.ndarray) -> str:
        return b64encode(np.clip(values, -3e38, 3e38).astype("<f4").tobytes()).decode()

    return {
        **{name: text(getattr(found, name)) for name in ("time", "drift", "accumulated", "rate", "energy")},
        "error": text(found.error) if found.error is not None else None,
        "elongation": text(found.elongation) if found.elongation is not None else None,
        "system": text(found.system) if found.system is not None else None,
        "broken": found.broken,
        "places": {name: text(values) for name, values in found.places.items()},
        "multipliers": {name: text(values) for name, values in found.multipliers.items()},
    }


def _scene(comparison: Comparison) -> str:
    """The motion of all methods at the first step over each other; why there is none, where the page is not built."""
    from ...view.html import recording
    from ...view.overlay import overlay_of
    from ...view.page import filled

    runs = [run for (_, dt), run in comparison.runs.items() if dt == comparison.steps[0]]
    try:
        overlay = overlay_of(runs, f"{comparison.scene_name}, dt {comparison.steps[0]:g} s")
        text = filled(overlay.title, recording(overlay, MOST_SCENE))
    except TautError as problem:
        return f'<section id="scene"><h2>Motion</h2><p class="note">{escape(str(problem))}</p></section>'
    packed = b64encode(zlib.compress(text.encode(), 9)).decode()
    return ('<section id="scene"><h2>Motion</h2><iframe title="the scene, moving"></iframe>'
            f'<script type="text/plain" id="scene-page">{packed}</script></section>')  # fmt: skip


def _setup(comparison: Comparison) -> str:
    labels, setup = comparison.labels, comparison.setup()
    phi, length, rows = comparison.unit(BY_NAME["drift_max"]), comparison.length_unit, len(labels.row_names())
    phi = f"Φ in {'numbers without unit' if phi == '1' else phi}; " if rows else ""
    free = sum(body.motion == "free" for body in labels.bodies)
    facts = [
        ("scene", f"{comparison.scene_name}: {free} moving bodies, {rows} constraint equations, "
                  f"{phi}size {comparison.size:.3g} {length} (diagonal of the box around its start)"),
        ("simulated", f"{comparison.duration:g} s in steps of {', '.join(f'{dt:g}' for dt in comparison.steps)} s"),
        ("reference", heading(comparison)[1].removeprefix("reference: ")),
        ("computing time", "of the compiled steps alone, without records, one method after the other"),
    ]  # fmt: skip
    if setup["options"]:
        chosen = (f"{name}: " + ", ".join(f"{key} {value}" for key, value in options.items())
                  for name, options in setup["options"].items())
        facts.append(("options", "; ".join(chosen)))
    facts.append(("versions", ", ".join(f"{name} {version}" for name, version in setup["versions"].items())))
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts) + "</dl>"


def _table(comparison: Comparison) -> str:
    def head(title: str, unit: str = "", doc: str = "", words: bool = False) -> str:
        kind = ' class="words"' if words else ""
        return (f'<th{kind} title="{escape(doc)}"><button>{escape(title)}</button>'
                f'<span class="unit">{escape("" if unit == "1" else unit)}</span></th>')  # fmt: skip

    heads = [head("method", words=True), head("dt", "s", "step"), head("status", words=True)]
    heads += [head(field.title, comparison.unit(field), field.doc) for field in comparison.fields]
    body = []
    for row in comparison.table:
        name, status, message = (escape(row[key]) for key in ("method", "status", "message"))
        cells = [
            f'<td data-sort="{name}" data-method="{name}">{name}</td>',
            f'<td data-sort="{row["dt"]!r}">{row["dt"]:g}</td>',
            f'<td class="words" data-sort="{status}" title="{message}">{status}</td>',
        ]
        for field in comparison.fields:
            value = row[field.name]
            text = written(field, value, comparison.duration)
            key = "" if value != value else ("1e308" if isinf(value) else repr(float(value)))
            if field.name in row["not_resolved"]:
                cells.append(f'<td class="doubt" data-sort="{key}" title="measured {text}">not resolved</td>')
            else:
                cells.append(f'<td data-sort="{key}">{text}</td>')
        kind = "" if row["status"] == "finished" else ' class="broken"'
        body.append(f"<tr{kind}>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{''.join(heads)}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _notes(comparison: Comparison) -> str:
    found = [f"{note[0].upper()}{note[1:]}." for note in comparison.notes]
    found += [f"Refused by {name}: {reason.rstrip('.')}." for name, reason in comparison.refused.items()]
    bodies = len(moving_bodies(comparison.labels))
    if max(bodies, len(comparison.labels.row_names())) > MOST_NAMES:
        found.append(f"Of {bodies} bodies and {len(comparison.labels.row_names())} constraint equations {MOST_NAMES} "
                     "each, evenly spread, can be chosen in the plots; the table counts all.")
    found += [f"{row['method']}, dt {row['dt']:g} s: {row['message']}" for row in comparison.table if row["message"]]
    return "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in found) + "</ul>" if found else "<p>None.</p>"
