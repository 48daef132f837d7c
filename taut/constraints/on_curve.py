"""On a curve: a point sits at parameter s of a curve, and s is a coordinate of its own.

    Φ = x - c(s, t)             (1)

Derivatives of the curve come from sympy (see custom.py, whose kernel serves here too).
"""

from __future__ import annotations

from math import pi

import numpy as np

from ..arguments import example
from ..expressions import check, codegen, parse
from ..expressions.source import symbol
from .base import Argument, Kind, Layout
from .custom import kernel, variables

SAMPLES = 200  # of a curve that is drawn


def pack(positions, arguments):
    curve = arguments["curve"]
    if isinstance(curve, str) or len(curve) != 3:
        raise ValueError("its curve must be three formulas in s, such as ['cos(s)', 'sin(s)', '0']")
    names = variables([("p", False), ("s", True)])
    texts = [f"p.{axis} - ({text})" for axis, text in zip("xyz", curve)]  # (1)
    for text in curve:
        check(text, ["s", "t"])

    def address():
        return codegen.constraint_address(texts, names)

    return Layout(ints=(address, 2, 3))


def slope(arguments, s):
    """∂c/∂s at t = 0."""
    at = {symbol("s"): s, symbol("t"): 0.0}
    return [float(parse(text, ["s", "t"]).diff(symbol("s")).subs(at)) for text in arguments["curve"]]


def guide(arguments, x):
    """The curve over one turn, or as far as its parameter went."""
    import sympy

    s = x[:, 1, 0]
    at = np.linspace(min(float(s.min()), -pi), max(float(s.max()), pi), SAMPLES)
    columns = []
    for text in arguments["curve"]:
        formula = sympy.lambdify([symbol("s")], parse(text, ["s", "t"]).subs(symbol("t"), 0), "numpy")
        with np.errstate(all="ignore"):
            columns.append(np.broadcast_to(np.real(formula(at)), at.shape))
    points = np.stack(columns, axis=1)
    return {"form": "curve", "points": points[np.isfinite(points).all(axis=1)].tolist()}


KIND = Kind(
    name="on_curve",
    doc="A point stays on a parametric curve; the curve's parameter, s in its formulas, is a scalar coordinate.",
    points=("a", "s"), rows=3,
    arguments=(
        Argument("curve", "texts", "three formulas [m] in t and the parameter, always called s", required=True),
    ),
    pack=pack, kernel=kernel, rheonomic=True, guide=guide, slope=slope,
    coordinates=frozenset({"s"}),
    synonyms=("curve", "point_on_curve", "path_constraint", "cam"),
    examples=(
        example("p", "turn", curve=("cos(s)*(1 + t**2)", "0.3*s*s", "sin(s + t)")),
        example(("box", (0.1, 0.2, 0.3)), "turn", curve=("s", "s**2", "exp(-s)")),
    ),
)  # fmt: skip
