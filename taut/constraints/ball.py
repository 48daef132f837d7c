"""Ball joint: two points coincide; each may sit on a rigid body, be a particle, or a place in the world.

    Φ = x_a - x_b       (1)
    J = (1, -1)         (2)
    γ = 0               (3)

The rotation of the bodies enters where places on bodies are mapped to bodies (model/places.py).
"""

from __future__ import annotations

from ..arguments import example
from ..compiled import compiled
from .base import Kind, Layout, Part


def pack(positions, arguments):
    return Layout()


def in_plane(part, axes, is_along_z):
    """Between planar bodies: the two rows e·(x_a - x_b) = 0 with e = x, y."""
    return tuple(Part("offset", (*part.points, along), (0.0,)) for along in axes)


@compiled
def kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    for i in range(n):
        a = idx[at.idx + 2 * i]
        b = idx[at.idx + 2 * i + 1]
        for c in range(3):
            r = at.row + 3 * i + c
            k = at.blk + 2 * (3 * i + c)
            phi[r] = x[a, c] - x[b, c]  # (1)
            J[k, 0] = J[k, 1] = J[k, 2] = 0.0
            J[k + 1, 0] = J[k + 1, 1] = J[k + 1, 2] = 0.0
            J[k, c] = 1.0  # (2)
            J[k + 1, c] = -1.0
            phi_t[r] = 0.0
            if second:
                gamma[r] = 0.0  # (3)


KIND = Kind(
    name="ball",
    doc="Two points coincide: a ball joint between bodies, or a body and the world.",
    points=("a", "b"), rows=3, pack=pack, kernel=kernel,
    constant_jacobian=True, separation=lambda arguments: 0.0, in_plane=in_plane,
    synonyms=("spherical", "ball_and_socket", "socket", "spheric", "point_to_point"),
    examples=(
        example(("box", (0.1, 0.2, 0.3)), ("rod", (0.5, 0, 0))),
        example("p", "q"),
        example(("box", (-0.1, 0.2, 0.3)), (1, 1, 1)),
    ),
)  # fmt: skip
