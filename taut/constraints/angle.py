"""Angle between two edges: at node b between b→a and b→c, or between a→b and c→d.

    u, w edges;  û = u/|u|, ŵ = w/|w|,  c = û·ŵ,  s = |û × ŵ|
    Φ = θ - θ₀(t),   θ = atan2(s, c)                                            (1)
    ∂θ/∂u = (c û - ŵ) / (|u| s),   ∂θ/∂w = (c ŵ - û) / (|w| s)                  (2)
    Φ_t = -θ₀'                                                                  (3)
    with ṙ = û·u̇:  dû/dt = (u̇ - ṙ û)/r,  d²û/dt² = -((|u̇|² - ṙ²)/r û + 2 ṙ dû/dt)/r
    c̈ = û̈·ŵ + 2 û̇·ŵ̇ + û·ŵ̈,   θ̇ = -ċ/s,   γ = -(c̈ + c θ̇²)/s - θ₀''            (4)

Undefined where the edges are parallel (s = 0): use `parallel` there.
"""

from __future__ import annotations

from math import atan2, sqrt

import numpy as np

from ..arguments import example
from ..compiled import compiled, inline
from ..compiled.vectors import cross3, dot3, edge
from .base import Argument, Kind, Layout


def pack(positions, arguments):
    if len(positions) == 3:
        u, w = positions[0] - positions[1], positions[2] - positions[1]
    else:
        u, w = positions[1] - positions[0], positions[3] - positions[2]
    if not u.any() or not w.any():
        raise ValueError("one of its edges joins coincident points and has no direction; move one of them")
    sine = np.linalg.norm(np.cross(u, w))
    now = float(np.arctan2(sine, u @ w))
    if sine < 1e-9 * np.linalg.norm(u) * np.linalg.norm(w):
        raise ValueError("its edges start parallel, where the angle has no gradient; use parallel, or bend them")
    angle = arguments["angle"]
    if angle is not None and not 0.0 < angle.at(0.0)[0] < np.pi:
        raise ValueError(f"its angle is {angle.at(0.0)[0]:g} rad; it must lie between 0 and π")
    return Layout((now if angle is None else angle,), ints=(len(positions),))


@inline
def unit(u):
    r = sqrt(dot3(u, u))
    return r, (u[0] / r, u[1] / r, u[2] / r)


@inline
def unit_rates(r, e, du):
    """First and second time derivative of e = u/|u| for constant du/dt."""
    dr = dot3(e, du)
    ddr = (dot3(du, du) - dr * dr) / r
    de = ((du[0] - dr * e[0]) / r, (du[1] - dr * e[1]) / r, (du[2] - dr * e[2]) / r)
    dde = (
        -(ddr * e[0] + 2.0 * dr * de[0]) / r,
        -(ddr * e[1] + 2.0 * dr * de[1]) / r,
        -(ddr * e[2] + 2.0 * dr * de[2]) / r,
    )
    return de, dde


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        count = ints[at.ints + i]
        m = at.idx + count * i
        k = at.blk + count * i
        r = at.row + i
        # u runs from point k+tail_u to k+head_u; with three nodes both edges start at the middle one.
        if count == 3:
            tail_u, head_u, tail_w, head_w = 1, 0, 1, 2
        else:
            tail_u, head_u, tail_w, head_w = 0, 1, 2, 3
        length_u, u = unit(edge(x, idx[m + tail_u], idx[m + head_u]))
        length_w, w = unit(edge(x, idx[m + tail_w], idx[m + head_w]))
        normal = cross3(u, w)
        s = sqrt(dot3(normal, normal))
        c = dot3(u, w)
        phi[r] = atan2(s, c) - p[at.p + i]  # (1)
        for q in range(count):
            J[k + q, 0] = J[k + q, 1] = J[k + q, 2] = 0.0
        for j in range(3):
            by_u = (c * u[j] - w[j]) / (length_u * s)  # (2)
            by_w = (c * w[j] - u[j]) / (length_w * s)
            J[k + head_u, j] += by_u
            J[k + tail_u, j] -= by_u
            J[k + head_w, j] += by_w
            J[k + tail_w, j] -= by_w
        phi_t[r] = -p_t[at.p + i]  # (3)
        if second:
            du, ddu = unit_rates(length_u, u, edge(v, idx[m + tail_u], idx[m + head_u]))
            dw, ddw = unit_rates(length_w, w, edge(v, idx[m + tail_w], idx[m + head_w]))
            rate = -(dot3(du, w) + dot3(u, dw)) / s
            curve = dot3(ddu, w) + 2.0 * dot3(du, dw) + dot3(u, ddw)
            gamma[r] = -(curve + c * rate * rate) / s - p_tt[at.p + i]  # (4)


KIND = Kind(
    name="angle",
    doc="The angle a-b-c at b (three nodes), or between the edges a-b and c-d (four), is held.",
    points=("a", "b", "c", "d"), points_optional=1, unit="rad",
    arguments=(Argument("angle", "number", "angle [rad]; default: as at the start"),),
    pack=pack, kernel=kernel,
    examples=(
        example("p", "q", "r", angle="1 + 0.2*sin(3*t)"),
        example("p", ("box", (0.3, 0, 0.1)), ("rod", (0.5, 0, 0))),
        example("p", "q", "r", "s", angle="1 + 0.2*sin(3*t)"),
        example("box", ("box", (0.3, 0, 0.1)), "rod", ("rod", (0.5, 0, 0))),
    ),
)  # fmt: skip
