"""Rolling: a ball, wheel or thin disc touches a plane and does not slip on it. The plane may move and turn with a body.

    n·(x_a - x_b) = height of the hub                                    (1)  touches
    no difference of velocities along x_b, y_b of the plane              (2)  does not slip

Both in closed form: slip.py. It may spin about the normal. λ is the normal force, then the two that hold it from
slipping; `reaction` has them in the axes of the plane, of which z is the normal. Where λ of (1) is negative, a real
wheel would lift.
"""

from __future__ import annotations

import numpy as np

from ..arguments import example
from ..constraints.base import Argument, Kind, Layout, Part
from .base import Axes, across, frame, on_body, points_of, unit


def pack(positions, arguments):
    radius, tube = size_of(arguments)
    wheel, plane = arguments["frames"]
    z = unit(arguments["normal"], "normal")
    b = on_body(plane, across(z), z)
    axle = np.array([1.0, 0.0, 0.0])
    if radius > 0.0:
        axle = unit(arguments["axis"], "axis")
        if abs(float(axle @ z)) > 1.0 - 1e-9:
            raise ValueError("its axis is along the normal: it lies flat and touches with its whole rim; tilt it")
    e = on_body(wheel, across(axle), axle)
    points, sizes = points_of(arguments), (radius, tube)
    body = (e.z, e.x, e.y)
    return Layout(
        parts=(
            Part("touch", (*points, e.z, b.z), sizes),  # (1)
            Part("slip", (*points, *body, b.z, b.x, b.y), sizes),
            Part("slip", (*points, *body, b.z, b.y, b.x), sizes),  # (2)
        ),
        frame=frame(arguments, Axes(b.x, b.y, b.z)),
    )


def size_of(arguments) -> tuple[float, float]:
    """Radius of the circle of the rim, and of the rim's cross-section [m]."""
    radius = arguments["radius"]
    if radius is None:
        radius = arguments["radii"][0]
        if radius == 0.0:
            raise ValueError("it has no radius; give radius=, or a body with a radius")
    if arguments["axis"] is None and arguments["tube"]:
        raise ValueError(f"its tube is {arguments['tube']:g} m, but without an axis it is a ball; give an axis")
    tube = arguments["tube"] if arguments["axis"] is not None else radius
    if not radius > 0.0:
        raise ValueError(f"its radius is {radius:g} m; a radius must be positive")
    if not 0.0 <= tube <= radius:
        raise ValueError(f"its tube is {tube:g} m; it must lie between 0 (a sharp rim) and the radius, {radius:g} m")
    return radius - tube, tube


KIND = Kind(
    name="rolling",
    doc="A ball, wheel or disc rolls on a plane, which may move, without slipping.",
    points=("wheel", "plane"), rows=3, level="velocity",
    arguments=(
        Argument("normal", "constant_vector", "of the plane, in the world at the start", default=(0.0, 1.0, 0.0)),
        Argument("radius", "constant", "from the hub to the rim [m]; default: the body's own"),
        Argument("axis", "constant_vector", "of the axle, in the world at the start; default: none, it is a ball"),
        Argument("tube", "constant", "of a wheel: radius of the rim's cross-section [m]; 0: a sharp rim", default=0.0),
    ),
    pack=pack, frames=True,
    synonyms=("wheel", "roll", "no_slip", "rolling_disc", "disc_rolling"),
    examples=(
        example("box", ("rod", (0.5, 0, 0)), normal=(1, 2, 2), radius=0.6, axis=(2, -1, 0.3)),
        example(("box", (0.1, 0.2, 0.3)), (0, 0, 1), radius=0.6, axis=(1, 0.5, 1), tube=0.2),
        example("rod", "box", normal=(1, 2, 2), radius=0.3),
    ),
)  # fmt: skip
