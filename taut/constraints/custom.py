"""Custom: the user's own Φ(x, t), as formulas or as a Python function.

    Φ(x, t)                                                     (1)
    J = ∂Φ/∂x,  Φ_t,  γ = (Jv)_x v + 2 Φ_xt v + Φ_tt            (2)

Formulas are differentiated by sympy, functions by complex steps; either becomes compiled code that the
kernel calls by its address, so a scene with its own constraints runs in the same compiled loop.
"""

from __future__ import annotations

from .. import limits
from ..arguments import example
from ..compiled import compiled
from ..expressions import call_constraint, check, codegen
from .base import Argument, Kind, Layout


def variables(labels):
    """The names that a formula may use: b.x, b.y, b.z of each point, or just s for a coordinate."""
    names = []
    for label, is_coordinate in labels:
        names += [label, f"{label}.unused_y", f"{label}.unused_z"] if is_coordinate else [
            f"{label}.{axis}" for axis in "xyz"
        ]
    return names


def lay_out(positions, arguments):
    formula, function = arguments["formula"], arguments["function"]
    if (formula is None) == (function is None):
        raise ValueError("it needs either a formula or a function")
    if not len(positions):
        raise ValueError("it names no point; list the bodies that its formula or function uses")
    count = len(positions)
    if function is not None:
        rows = int(arguments["rows"] or 1)
        limits.check("rows", rows, "it")
        if rows < 1:
            raise ValueError(f"rows is {rows}; a function returns at least one number")
        derivatives = arguments["derivatives"] or "complex"
        if derivatives not in ("complex", "finite", "interpreted"):
            raise ValueError(f"derivatives is '{derivatives}'; choose complex, finite or interpreted")

        def address():
            if derivatives == "interpreted":
                return codegen.constraint_callback_address(function, count, rows)
            return codegen.constraint_function_address(function, count, rows, derivatives)
    else:
        texts = [formula] if isinstance(formula, str) else list(formula)
        rows = len(texts)
        names = variables(arguments["labels"])
        for text in texts:
            check(text, [*names, "t"])

        def address():
            return codegen.constraint_address(texts, names)

    return Layout(ints=(address, count, rows), rows=rows)


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    packed_x = scratch[0]
    packed_v = scratch[1]
    for i in range(n):
        address = ints[at.ints + 3 * i]
        count = ints[at.ints + 3 * i + 1]
        rows = ints[at.ints + 3 * i + 2]
        for q in range(count):
            a = idx[at.idx + count * i + q]
            for c in range(3):
                packed_x[3 * q + c] = x[a, c]
                packed_v[3 * q + c] = v[a, c]
        r = at.row + rows * i
        k = at.blk + rows * count * i
        call_constraint(address, packed_x, packed_v, t, phi, r, J, 3 * k, phi_t, gamma)  # (1), (2)


FORMULAS = ["sin(p.x*q.y) + p.z*t**2", "q.x**2 + q.z**3 - exp(p.y)*cos(2*t) + turn"]


def product_with_time(points, t):
    """A function for the examples."""
    return points[0, 0] * points[1, 1] * points[1, 1] - points[0, 2] * t * t


KIND = Kind(
    name="custom",
    doc="Your own condition: a formula such as 'b.x**2 + b.y**2 - 1', or a Python function g(q, t).",
    points=None,
    rows=0,
    unit="1",
    arguments=(
        Argument("formula", "texts", "one formula, or a list, that is zero when the condition holds"),
        Argument("function", "function", "g(q, t) with q of shape (points, 3)"),
        Argument("rows", "constant", "how many numbers the function returns", default=1),
        Argument("derivatives", "text", "of a function: complex, finite or interpreted", default="complex"),
    ),
    lay_out=lay_out,
    kernel=kernel,
    examples=(
        example("p", "q", "turn", formula=FORMULAS),
        example("p", ("box", (0.1, 0.2, 0.3)), function=product_with_time),
    ),
)
