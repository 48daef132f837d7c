"""Limits on a scalar coordinate, or on one component of a point.

    Φ = y - y_min(t) ≥ 0,    Φ = y_max(t) - y ≥ 0           (1)
    J = ± 1 in that component                               (2)
    Φ_t = ∓ y_min',    γ = ∓ y_min''                        (3)

One row for each limit that is given, the minimum first.
"""

from __future__ import annotations

from ..arguments import example
from ..compiled import compiled
from .base import Argument, Kind, Layout


def pack(positions, arguments):
    (_, is_coordinate), component = arguments["labels"][0], arguments["component"]
    if is_coordinate and component is not None:
        raise ValueError(f"component is '{component}', but a coordinate is one number; leave it out")
    if not is_coordinate and component not in ("x", "y", "z"):
        raise ValueError(f"component is {component!r}; choose 'x', 'y' or 'z' (only a coordinate has none)")
    limits = [(limit, sign) for limit, sign in ((arguments["minimum"], 1.0), (arguments["maximum"], -1.0))
              if limit is not None]
    if not limits:
        raise ValueError("it has no limit; give a minimum, a maximum or both")
    if len(limits) == 2 and limits[0][0].at(0.0)[0] > limits[1][0].at(0.0)[0]:
        low, high = (limit.at(0.0)[0] for limit, _ in limits)
        raise ValueError(f"its minimum {low:g} is above its maximum {high:g}; exchange them")
    rows = len(limits)
    parameters = tuple(entry for pair in limits for entry in pair)
    return Layout(parameters, ints=(0 if is_coordinate else "xyz".index(component), rows), rows=rows)


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        a = idx[at.idx + i]
        component = ints[at.ints + 2 * i]
        rows = ints[at.ints + 2 * i + 1]
        for j in range(rows):
            m = at.p + 2 * (rows * i + j)
            r = at.row + rows * i + j
            k = at.blk + rows * i + j
            sign = p[m + 1]
            phi[r] = sign * (x[a, component] - p[m])  # (1)
            J[k, 0] = J[k, 1] = J[k, 2] = 0.0
            J[k, component] = sign  # (2)
            phi_t[r] = -sign * p_t[m]  # (3)
            if second:
                gamma[r] = -sign * p_tt[m]


KIND = Kind(
    name="limit",
    doc="A scalar coordinate, or one component of a point, stays between limits.",
    points=("a",), rows=0, unit="1",
    arguments=(
        Argument("minimum", "number", "lower limit; default: none"),
        Argument("maximum", "number", "upper limit; default: none"),
        Argument("component", "text", "x, y or z of a point; a scalar coordinate needs none"),
    ),
    pack=pack, kernel=kernel, sense=">=",
    mixed=frozenset({"a"}),
    synonyms=("range", "bounds"),
    examples=(
        example("p", component="y", minimum="0.1*sin(3*t)", maximum=2),
        example("p", component="z", maximum="t**2"),
        example("turn", minimum=-1, maximum="3 + sin(t)"),
        example("turn", maximum=4),
        example(("rod", (0.5, 0, 0)), component="x", minimum=0),
    ),
    stops={"component": "y", "minimum": 0.0, "maximum": 1.5},
)  # fmt: skip
