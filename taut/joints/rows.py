"""The rows that joints are made of. They have no name of their own in a scene.

    perpendicular   Φ = u·w - c,   J_u = w,   J_w = u,   γ = 2 u̇·ẇ                               (1)
    offset          Φ = w·d - c,   d = x_a - x_b,   J_a = w,   J_b = -w,   J_w = d,   γ = 2 ẇ·ḋ   (2)
    homokinetic     Φ = x_a·y_b - y_a·x_b, each product as in (1)                                 (3)

u, w, x and y are directions that turn with a body: their own accelerations at constant ω, ω × (ω × u), enter γ where
directions are mapped to bodies (model/constraint_rows.py). With unit directions (1) and (3) are sines or cosines of
angles [rad] about a right angle.
"""

from __future__ import annotations

from typing import Any

from ..compiled import compiled, inline
from ..constraints.base import Kind, Part


def pack(positions, arguments):
    raise AssertionError("rows of joints are made by their joints")


@inline
def dot(x, a, b):
    return x[a, 0] * x[b, 0] + x[a, 1] * x[b, 1] + x[a, 2] * x[b, 2]


@inline
def products(x, a, y, b):
    """x[a]·y[b], of two arrays."""
    return x[a, 0] * y[b, 0] + x[a, 1] * y[b, 1] + x[a, 2] * y[b, 2]


@compiled
def perpendicular_kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        u, w = idx[at.idx + 2 * i], idx[at.idx + 2 * i + 1]
        r, k = at.row + i, at.blk + 2 * i
        phi[r] = dot(x, u, w) - p[at.p + i]  # (1)
        for c in range(3):
            J[k, c] = x[w, c]
            J[k + 1, c] = x[u, c]
        phi_t[r] = -p_t[at.p + i]
        if second:
            gamma[r] = 2.0 * dot(v, u, w) - p_tt[at.p + i]


@compiled
def offset_kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        m = at.idx + 3 * i
        a, b, w = idx[m], idx[m + 1], idx[m + 2]
        r, k = at.row + i, at.blk + 3 * i
        phi[r] = dot(x, w, a) - dot(x, w, b) - p[at.p + i]  # (2)
        for c in range(3):
            J[k, c] = x[w, c]
            J[k + 1, c] = -x[w, c]
            J[k + 2, c] = x[a, c] - x[b, c]
        phi_t[r] = -p_t[at.p + i]
        if second:
            gamma[r] = 2.0 * (dot(v, w, a) - dot(v, w, b)) - p_tt[at.p + i]


@compiled
def homokinetic_kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        m = at.idx + 4 * i
        xa, ya, xb, yb = idx[m], idx[m + 1], idx[m + 2], idx[m + 3]
        r, k = at.row + i, at.blk + 4 * i
        phi[r] = dot(x, xa, yb) - dot(x, ya, xb)  # (3)
        for c in range(3):
            J[k, c] = x[yb, c]
            J[k + 1, c] = -x[xb, c]
            J[k + 2, c] = -x[ya, c]
            J[k + 3, c] = x[xa, c]
        phi_t[r] = 0.0
        if second:
            gamma[r] = 2.0 * (dot(v, xa, yb) - dot(v, ya, xb))


def perpendicular_in_plane(part: Part, axes: tuple, is_along_z: Any) -> tuple[Part, ...]:
    """Between planar bodies (1) is constant where u or w is along z."""
    return () if any(is_along_z(point) for point in part.points) else (part,)


def offset_in_plane(part: Part, axes: tuple, is_along_z: Any) -> tuple[Part, ...]:
    """Between planar bodies (2) is constant where w is along z."""
    return () if is_along_z(part.points[2]) else (part,)


def _row(name: str, doc: str, points: tuple[str, ...], unit: str, kernel, in_plane=None) -> Kind:
    return Kind(name=name, doc=doc, points=points, rows=1, unit=unit, pack=pack, kernel=kernel, in_plane=in_plane)


ROWS = (
    _row("perpendicular", "Two directions keep their angle.", ("u", "w"), "rad", perpendicular_kernel,
         perpendicular_in_plane),
    _row("offset", "Point a stays at a distance from b along a direction.", ("a", "b", "w"), "m", offset_kernel,
         offset_in_plane),
    _row("homokinetic", "Two shafts turn at the same rate.", ("xa", "ya", "xb", "yb"), "rad", homokinetic_kernel),
)
