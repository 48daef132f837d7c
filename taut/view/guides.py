"""What points are held on: lines, curves, circles of spheres; as polylines that a page can draw."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from ..expressions import Signal, parse
from ..scene.specs import Constraint

SAMPLES = 200
MARGIN = 0.25  # of the way that a point went, beyond its ends


def guide(spec: Constraint, x: np.ndarray) -> dict[str, Any] | None:
    """A guide of a constraint, from where its points were, shape (T, points, 3); None where there is none to draw."""
    if not np.isfinite(x).all():
        x = x[:1]
    arguments = spec.arguments
    if spec.kind == "on_line":
        direction = np.array(arguments["direction"], float)
        direction /= np.linalg.norm(direction)
        origin = np.array(_now(arguments["point"])) if arguments["point"] else x[0, 0]
        along = (x[:, 0] - origin) @ direction
        span = max(float(np.ptp(along)), 0.5 * float(np.abs(x[0, 0]).max()), 1.0)
        ends = along.min() - MARGIN * span, along.max() + MARGIN * span
        return {"kind": "line", "points": [(origin + s * direction).tolist() for s in ends]}
    if spec.kind == "on_sphere":
        centre = _now(arguments["center"])
        radius = _now(arguments["radius"]) if arguments["radius"] is not None else None
        if radius is None:
            radius = float(np.linalg.norm(x[0, 0] - centre))
        return {"kind": "sphere", "center": centre, "radius": radius}
    if spec.kind == "on_curve":
        return {"kind": "curve", "points": _curve(arguments["curve"], x[:, 1, 0])}
    return None


def _now(value: Any) -> Any:
    if isinstance(value, Signal):
        return float(value.at(0.0)[0])
    return [_now(item) for item in value] if isinstance(value, tuple | list) else float(value)


def _curve(texts: Any, s: np.ndarray) -> list[list[float]]:
    """The curve over one turn, or as far as its parameter went."""
    import sympy

    ends = min(float(s.min()), -pi), max(float(s.max()), pi)
    at = np.linspace(*ends, SAMPLES)
    columns = []
    for text in texts:
        formula = sympy.lambdify([sympy.Symbol("s", real=True)], parse(text, ["s", "t"]).subs(
            sympy.Symbol("t", real=True), 0), "numpy")
        with np.errstate(all="ignore"):
            columns.append(np.broadcast_to(np.real(formula(at)), at.shape))
    points = np.stack(columns, axis=1)
    return points[np.isfinite(points).all(axis=1)].tolist()
