"""Custom: the user's own Φ(x, t), or condition on velocities g(x, v, t), as formulas or as a Python function.

    Φ(x, t)                                                     (1)
    J = ∂Φ/∂x,  Φ_t,  γ = (Jv)_x v + 2 Φ_xt v + Φ_tt            (2)
    g = A v + b:  Φ = 0,  J = A,  Φ_t = b,  γ = Ȧ v + ḃ         (3)

Formulas are differentiated by sympy, functions by complex steps; either becomes compiled code that the
kernel calls by its address, so a scene with its own constraints runs in the same compiled loop.
"""

from __future__ import annotations

from .. import limits
from ..compiled import compiled
from ..expressions import call_constraint, check, check_linear, codegen
from .base import Argument, Kind, Layout


def variables(labels):
    """The names of places in a formula: b.x, b.y, b.z of each point, or just s for a coordinate."""
    names = []
    for label, is_coordinate in labels:
        names += [label, f"{label}.unused_y", f"{label}.unused_z"] if is_coordinate else [
            f"{label}.{axis}" for axis in "xyz"
        ]
    return names


def speeds(labels):
    """The names of velocities: b.vx, b.vy, b.vz of each point, or s.v for a coordinate."""
    names = []
    for label, is_coordinate in labels:
        names += [f"{label}.v", f"{label}.unused_vy", f"{label}.unused_vz"] if is_coordinate else [
            f"{label}.v{axis}" for axis in "xyz"
        ]
    return names


def lay_out(positions, arguments):
    ways = ("formula", "function", "velocity", "velocity_function")
    given = [way for way in ways if arguments[way] is not None]
    if len(given) != 1:
        raise ValueError(f"it needs one of {', '.join(ways)}; it has {' and '.join(given) or 'none'}")
    if not len(positions):
        raise ValueError("it names no point; list the bodies that its formula or function uses")
    level = "velocity" if "velocity" in given[0] else "position"
    rows, address = (of_function if "function" in given[0] else of_formulas)(arguments, given[0], len(positions))
    return Layout(ints=(address, len(positions), rows), rows=rows, level=level)


def of_function(arguments, way, count):
    """How many rows a Python function has, and what gives its address."""
    function = arguments[way]
    rows = int(arguments["rows"] or 1)
    limits.check("rows", rows, "it")
    if rows < 1:
        raise ValueError(f"rows is {rows}; a function returns at least one number")
    derivatives = arguments["derivatives"] or "complex"
    if derivatives not in ("complex", "finite", "interpreted"):
        raise ValueError(f"derivatives is '{derivatives}'; choose complex, finite or interpreted")
    of_velocities = way == "velocity_function"

    def address():
        if derivatives == "interpreted":
            make = codegen.velocity_callback_address if of_velocities else codegen.constraint_callback_address
            return make(function, count, rows)
        make = codegen.velocity_function_address if of_velocities else codegen.constraint_function_address
        return make(function, count, rows, derivatives)

    return rows, address


def of_formulas(arguments, way, count):
    """The same for formulas."""
    texts = [arguments[way]] if isinstance(arguments[way], str) else list(arguments[way])
    names = variables(arguments["labels"])
    if way == "formula":
        for text in texts:
            check(text, [*names, "t"])
        return len(texts), lambda: codegen.constraint_address(texts, names)
    moving = speeds(arguments["labels"])
    for text in texts:
        check_linear(text, [*names, *moving, "t"], moving)
    return len(texts), lambda: codegen.velocity_address(texts, names, moving)


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
        call_constraint(address, packed_x, packed_v, t, phi, r, J, 3 * k, phi_t, gamma)  # (1), (2), (3)


KIND = Kind(
    name="custom",
    doc="Your own condition: a formula such as 'b.x**2 + b.y**2 - 1', of velocities 'b.vx - b.y*b.vz', or a function.",
    points=None,
    rows=0,
    unit="1",
    arguments=(
        Argument("formula", "texts", "one formula, or a list, that is zero when the condition holds"),
        Argument("function", "function", "g(q, t) with q of shape (points, 3)"),
        Argument("velocity", "texts", "one formula, or a list, linear in velocities (b.vx, s.v), zero when it holds"),
        Argument("velocity_function", "function", "g(q, v, t), linear in v, with q and v of shape (points, 3)"),
        Argument("rows", "constant", "how many numbers the function returns", default=1),
        Argument("derivatives", "text", "of a function: complex, finite or interpreted", default="complex"),
    ),
    lay_out=lay_out,
    kernel=kernel,
)
