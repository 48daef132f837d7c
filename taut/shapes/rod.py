"""Rod: a thin cylinder, given by its length first. It is no obstacle of its own: use a capsule or a cylinder.

    V = π r² l                                                    (1)
    I_y = I_z = m l² / 12 as if it were thin, I_x = m r² / 2      (2)
"""

from __future__ import annotations

from . import cylinder
from .base import Shape

# A rod without thickness could spin about its own axis at no cost; this keeps that inertia finite.
RADIUS = 0.01  # of its length


def volume(length, radius):
    return cylinder.volume(radius, length)  # (1)


def moments(m, length, radius):
    across = m * length**2 / 12.0
    return 0.5 * m * radius**2, across, across  # (2)


def complete(listed):
    return [listed[0], RADIUS * listed[0]] if len(listed) == 1 else listed


SHAPE = Shape(
    name="rod",
    primitive="rod",
    doc="A thin cylinder.",
    sizes=("length", "radius"), example=(1.3, 0.1),
    volume=volume, moments=moments,
    distance=lambda y, length, radius: cylinder.distance(y, radius, length),
    support=lambda u, length, radius: cylinder.support(u, radius, length),
    triangles=lambda length, radius: cylinder.triangles(radius, length),
    complete=complete,
)  # fmt: skip
