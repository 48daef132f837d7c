"""The user's own force f(x, v, t), as formulas or as a Python function.

    f = F(x, v, t),   power = f·v      (1)
"""

from __future__ import annotations

from ..arguments import example
from ..compiled import compiled
from ..constraints.base import Argument, Layout
from ..expressions import call_force, check, codegen
from .base import ForceKind, always


def variables(labels):
    """Names in a formula: b.x, b.vx, … of a point; s and s.v of a coordinate."""
    places, speeds = [], []
    for label, is_coordinate in labels:
        places += [label, f"{label}.unused_y", f"{label}.unused_z"] if is_coordinate else [
            f"{label}.{axis}" for axis in "xyz"
        ]
        speeds += [f"{label}.v", f"{label}.unused_vy", f"{label}.unused_vz"] if is_coordinate else [
            f"{label}.v{axis}" for axis in "xyz"
        ]
    return places + speeds


def pack(positions, arguments):
    formula, function = arguments["formula"], arguments["function"]
    count = len(positions)
    if (formula is None) == (function is None):
        raise ValueError("it needs either a formula or a function")
    if count == 0:
        raise ValueError("it names no point; list the bodies that it acts on")
    if function is not None:
        def address():
            if arguments["interpreted"]:
                return codegen.force_callback_address(function, count)
            return codegen.force_function_address(function, count)
    else:
        if isinstance(formula, str) or len(formula) != 3 * count:
            raise ValueError(f"it needs three formulas per point, here {3 * count}")
        names = variables(arguments["labels"])
        for text in formula:
            check(text, [*names, "t"])

        def address():
            return codegen.force_address(list(formula), names)

    return Layout(ints=(address, count))


@compiled
def kernel(n, at, idx, p, p_t, ints, x, v, t, scratch, f, power):
    packed_x, packed_v, force = scratch[0], scratch[1], scratch[2]
    for i in range(n):
        address = ints[at.ints + 2 * i]
        count = ints[at.ints + 2 * i + 1]
        for q in range(count):
            a = idx[at.idx + count * i + q]
            for c in range(3):
                packed_x[3 * q + c] = x[a, c]
                packed_v[3 * q + c] = v[a, c]
        call_force(address, packed_x, packed_v, t, force)  # (1)
        for q in range(count):
            a = idx[at.idx + count * i + q]
            for c in range(3):
                f[a, c] += force[3 * q + c]
                power[0] += force[3 * q + c] * v[a, c]
    return 0.0


KIND = ForceKind(
    name="custom_force",
    doc="Your own force: three formulas per point such as '-k*b.x', or a Python function f(x, v, t).",
    points=None,
    arguments=(
        Argument("formula", "texts", "three formulas per point [N]"),
        Argument("function", "function", "f(x, v, t) -> forces, arrays of shape (points, 3)"),
        Argument("interpreted", "constant", "1: call Python in each step instead of compiling", default=0),
    ),
    pack=pack, kernel=kernel, feels_velocity=always, works=always,
    synonyms=("user_force", "field_force", "sforce"),
    examples=(
        example("p", "q", formula=["q.x - p.x", "-0.3*p.vy", "t", "p.x - q.x", "sin(t)", "q.vz**2"]),
    ),
)  # fmt: skip
