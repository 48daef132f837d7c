"""Sphere.

    V = 4 π r³ / 3,    I = 2 m r² / 5        (1)
    d = |y| - r                              (2)
    s(u) = r u / |u|                         (3)
"""

from __future__ import annotations

from math import pi

import numpy as np

from . import capsule
from .base import Argument, Mesh, Placement, Shape
from .rounded import POINT, sides


def volume(radius):
    return 4.0 / 3.0 * pi * radius**3  # (1)


def moments(m, radius):
    moment = 0.4 * m * radius**2  # (1)
    return moment, moment, moment


def distance(y, radius):
    length = np.linalg.norm(y, axis=1)
    return length - radius, y / np.where(length > 0.0, length, 1.0)[:, None]  # (2)


def support(u, radius):
    return radius * u / np.linalg.norm(u, axis=1, keepdims=True)  # (3)


def triangles(radius, rings: int = 24) -> Mesh:
    vertices, found = capsule.triangles(1.0, 0.0, rings)
    return radius * vertices, found


def place(at) -> Placement:
    return Placement((float(at["radius"]),), at["center"], np.eye(3))


SHAPE = Shape(
    name="sphere",
    primitive="sphere",
    doc="A sphere.",
    sizes=("radius",),
    example=(0.7,),
    volume=volume,
    moments=moments,
    distance=distance,
    support=support,
    triangles=triangles,
    ball=lambda radius: radius,
    arguments=(
        Argument("center", "vector", "centre [m]", required=True),
        Argument("radius", "number", "radius [m]", required=True),
    ),
    place=place,
    sides=sides("sphere", "a sphere; centre and radius may change with time", POINT, "center"),
    still={"center": (0, 0, 0), "radius": 1.0},
    moving=(
        {"center": ("1 + 0.1*sin(3*t)", "0.2*t**2", "-0.1*cos(2*t)"), "radius": "0.5 + 0.2*sin(t)"},
        {"center": (1, 0, 0), "radius": 4},
    ),
)
