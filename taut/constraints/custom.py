"""Custom: the user's own Φ(x, t), or condition on velocities g(x, v, t), as formulas or as a Python function.

    Φ(x, t)                                                     (1)
    J = ∂Φ/∂x,  Φ_t,  γ = (Jv)_x v + 2 Φ_xt v + Φ_tt            (2)
    g = A v + b:  Φ = 0,  J = A,  Φ_t = b,  γ = Ȧ v + ḃ         (3)
    ω = ½ Σ e_i × ė_i of three axes of a rigid body             (4)  what b.wx, b.wy, b.wz mean in g

Formulas are differentiated by sympy, functions by complex steps; either becomes compiled code that the
kernel calls by its address, so a scene with its own constraints runs in the same compiled loop.
"""

from __future__ import annotations

from math import cos

from .. import limits
from ..arguments import example
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


def pack(positions, arguments):
    ways = ("formula", "function", "velocity", "velocity_function")
    chosen = [way for way in ways if arguments[way] is not None]
    if len(chosen) != 1:
        raise ValueError(f"it needs one of {', '.join(ways)}; it has {' and '.join(chosen) or 'none'}")
    if not len(positions):
        raise ValueError("it names no point; list the bodies that its formula or function uses")
    if "function" in chosen[0]:
        rows, address = of_function(arguments, chosen[0], len(positions))
        return Layout(ints=(address, len(positions), rows), rows=rows, level=level_of(chosen[0]))
    texts = [arguments[chosen[0]]] if isinstance(arguments[chosen[0]], str) else list(arguments[chosen[0]])
    if chosen[0] == "formula":
        address, axes = of_places(texts, arguments["labels"]), ()
    else:
        address, axes = of_velocities(texts, arguments["labels"], arguments["frames"])
    return Layout(ints=(address, len(positions) + len(axes), len(texts)), rows=len(texts), level=level_of(chosen[0]),
                  points=axes)  # fmt: skip


def level_of(way):
    return "velocity" if way.startswith("velocity") else "position"


def of_function(arguments, way, count):
    """How many rows a Python function has, and what gives its address."""
    function = arguments[way]
    given = 1 if arguments["rows"] is None else arguments["rows"]
    if not given >= 1 or given != int(given):
        raise ValueError(f"rows is {given:g}; give how many numbers its function returns, a whole number from 1")
    rows = int(given)
    limits.check("rows", rows, "it")
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


def of_places(texts, labels):
    """What gives the address of formulas of places."""
    names = variables(labels)
    for text in texts:
        check(text, [*names, "t"])
    return lambda: codegen.constraint_address(texts, names)


def of_velocities(texts, labels, frames):
    """The same for formulas of velocities, and three axes of each body whose angular velocity they name, (4)."""
    names, moving = variables(labels), speeds(labels)
    spins = {f"{label}.w{axis}": (i, c) for i, (label, _) in enumerate(labels) if frames[i].kind == "rigid"
             for c, axis in enumerate("xyz")}  # fmt: skip
    for text in texts:
        check_linear(text, [*names, *moving, *spins, "t"], [*moving, *spins])
    turning = sorted({i for name, (i, _) in spins.items() if any(name in text for text in texts)})
    axes = tuple(frames[i].direction(axis) for i in turning for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    for i in turning:
        own = [f"{labels[i][0]}.unused_{e}{c}" for e in range(3) for c in range(3)]
        names += own
        moving += [f"{name}_rate" for name in own]
    meanings = {name: spin(f"{labels[i][0]}.unused_", c) for name, (i, c) in spins.items() if i in turning}
    return (lambda: codegen.velocity_address(texts, names, moving, meanings)), axes


def spin(prefix, c):
    """(4): component c of the angular velocity, as text."""
    j, k = (c + 1) % 3, (c + 2) % 3
    return "0.5*(" + " + ".join(
        f"{prefix}{e}{j}*{prefix}{e}{k}_rate - {prefix}{e}{k}*{prefix}{e}{j}_rate" for e in range(3)
    ) + ")"


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


VELOCITIES = ["p.vx*sin(q.y) - q.vz*cos(turn) + t**2*p.y", "turn.v*p.x**2 + q.vx*exp(-q.z*t) - 3*p.vy"]
TURNING = "box.wx*rod.z - rod.vy*t + 2*rod.wz - box.wy*box.x + rod.wx"
FORMULAS = ["sin(p.x*q.y) + p.z*t**2", "q.x**2 + q.z**3 - exp(p.y)*cos(2*t) + turn"]


def product_with_time(points, t):
    """A function for the examples."""
    return points[0, 0] * points[1, 1] * points[1, 1] - points[0, 2] * t * t


def moving_along(q, v, t):
    """A condition on velocities for the examples."""
    return q[0, 0] * v[1, 1] - q[1, 2] ** 2 * v[0, 2] * t + cos(q[0, 1] - t)


KIND = Kind(
    name="custom",
    doc="Your own condition: a formula such as 'b.x**2 + b.y**2 - 1', of velocities 'b.vx - b.y*b.vz', or a function.",
    points=None, rows=0, unit="1",
    arguments=(
        Argument("formula", "texts", "one formula, or a list, that is zero when the condition holds, of b.x, b.y, b.z "
                 "of the point on body b, of coordinates by their name, and of t; points are p0, p1, … in their order "
                 "where a body appears twice or has a name of several words, and in the world"),
        Argument("function", "function", "g(q, t) with q of shape (points, 3)"),
        Argument("velocity", "texts", "formulas, linear in velocities (b.vx, b.wx, s.v), zero when it holds"),
        Argument("velocity_function", "function", "g(q, v, t), linear in v, with q and v of shape (points, 3)"),
        Argument("rows", "constant", "how many numbers the function returns", default=1),
        Argument("derivatives", "text", "of a function: complex, finite or interpreted", default="complex"),
    ),
    pack=pack, kernel=kernel, rheonomic=True,
    synonyms=("nonholonomic", "holonomic", "pfaffian", "velocity_constraint", "user_constraint"),
    examples=(
        example("p", "q", "turn", formula=FORMULAS),
        example("p", ("box", (0.1, 0.2, 0.3)), function=product_with_time),
        example("p", "q", "turn", velocity=VELOCITIES),
        example("box", ("rod", (0.1, 0, 0.3)), velocity=TURNING),
        *(
            example("p", ("box", (0.1, 0.2, 0.3)), velocity_function=moving_along, derivatives=way)
            for way in ("complex", "interpreted")
        ),
    ),
)  # fmt: skip
