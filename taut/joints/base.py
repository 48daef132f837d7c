"""How to write a joint.

1.  One file, one `KIND = joint(...)`, one line in `joints/__init__.py`. It joins two points, a and b,
    on rigid bodies or in the world, and holds some of the motion of a's body as seen from b's.
2.  `pack` takes the joint's axes from `axes_of`, fixed to each body at the start, and returns the rows that hold,
    as parts of other kinds (rows.py), its coordinates (coordinates.py), and its frame:

        ball(a, b)             x_a - x_b = 0                three rows
        perpendicular(u, w)    u·w - c = 0                  one row
        offset(a, b, w)        w·(x_a - x_b) - c = 0        one row

3.  Axes x, y, z are right-handed; z is the joint's axis. A body's own copy of them is written x_a, y_a, z_a and x_b,
    y_b, z_b: they coincide while the joint is held at its start, as far as it holds them.
4.  `synonyms` are the field's other words for the joint, such as "revolute", of which messages tell its name.
5.  Arguments `axis` (in the world, at the start), or `axis_a` and `axis_b` (in the frames of the two bodies) where the
    bodies do not stand yet as the joint wants them: the start is then assembled (`start="repair"`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arguments import Example
from ..constraints.base import Argument, Coordinate, JointFrame, Kind, Layout, Part

Point = Any  # scene.specs.Point, which the frames make

AXIS = (
    Argument("axis", "constant_vector", "direction of the axis in the world, at the start"),
    Argument("axis_a", "constant_vector", "the axis in the frame of a's body, where the start is not assembled"),
    Argument("axis_b", "constant_vector", "the axis in the frame of b's body"),
)
ANGLE = Argument("angle", "constant", "value of the angle at the start [rad]", default=0.0)
DISPLACEMENT = Argument("displacement", "constant", "its value at the start [m]; default: as measured from b to a")


def rate(name: str = "rate", of: str = "its coordinate", unit: str = "rad/s or m/s") -> Argument:
    """The rate of a coordinate at the start, which the velocities of all bodies are made to agree with."""
    doc = f"rate of {of} at the start [{unit}]; bodies get the velocities that go with it"
    return Argument(name, "constant", doc, later=True)


RATE = rate()
TWO_ANGLES = (
    *(Argument(f"angle_{k}", "constant", f"value of angle_{k} at the start [rad]", default=0.0) for k in (1, 2)),
    *(rate(f"rate_{k}", f"angle_{k}", "rad/s") for k in (1, 2)),
)


class Axes(NamedTuple):
    """Three directions fixed to a body."""

    x: Point
    y: Point
    z: Point


def unit(vector: Sequence[float], what: str) -> np.ndarray:
    length = float(np.linalg.norm(vector))
    if not 1e-150 < length < 1e150:
        raise ValueError(f"its {what} is {tuple(float(c) for c in vector)}, which has no direction; give one such as "
                         "(0, 0, 1)")
    return np.array(vector, float) / length


def across(axis: np.ndarray) -> np.ndarray:
    """A direction perpendicular to the axis, the same for the same axis."""
    smallest = int(np.argmin(np.abs(axis)))
    return unit(np.cross(axis, np.eye(3)[smallest]).tolist(), "axis")


def world_axes(arguments: dict[str, Any], name: str = "axis") -> tuple[np.ndarray, np.ndarray]:
    """The joint's axis in the world at the start, as a's body has it and as b's has it."""
    frames, common = arguments["frames"], arguments[name]
    owns = [f"{name}_{which}" for which in "ab"]
    given = [own for own in owns if arguments.get(own) is not None]
    if common is not None and len(given) == 2:
        raise ValueError(f"it has {name}, {owns[0]} and {owns[1]}; give either {name}, in the world, or the other two")
    if common is None and len(given) == 1:
        other = owns[given == owns[:1]]
        raise ValueError(f"it has {given[0]} but no {other}; give {other} as well, or {name}=(x, y, z) in the world")
    found = []
    for frame, which in zip(frames, ("a", "b")):
        own = arguments.get(f"{name}_{which}")
        if own is not None:
            found.append(unit(frame.world(own), f"{name}_{which}"))
        elif common is not None:
            found.append(unit(common, name))
        else:
            raise ValueError(f"it has no {name}; give {name}=(x, y, z), a direction in the world")
    return found[0], found[1]


def axes_of(arguments: dict[str, Any], x: Any = None) -> tuple[Axes, Axes]:
    """The joint's axes on both bodies. Where a's axis is not along b's, the shortest turn leads there.

    x  direction of x on b, in the world at the start
    """
    z_a, z_b = world_axes(arguments)
    x_b = across(z_b)
    if x is not None:
        x_b = unit(x, "direction")
        if abs(float(x_b @ z_b)) > 1e-6:
            apart = np.degrees(np.arccos(np.clip(x_b @ z_b, -1, 1)))
            raise ValueError(f"its direction stands at {apart:.4g} degrees to its axis; give one in the plane, "
                             "perpendicular to the axis")
        x_b = unit((x_b - float(x_b @ z_b) * z_b).tolist(), "direction")
    x_a = turned_along(z_b, z_a, x_b)
    return on_body(arguments["frames"][0], x_a, z_a), on_body(arguments["frames"][1], x_b, z_b)


def check_plane(arguments: dict[str, Any], turns: bool) -> None:
    """Refuse an axis about which (or along which, where nothing turns) bodies of the plane z = constant never move."""
    frames = arguments["frames"]
    moves = {frame.moves for frame in frames}
    if "in_plane" not in moves or "freely" in moves:
        return
    axis = world_axes(arguments)[1]
    if abs(axis[2]) < 1.0 - 1e-9 if turns else abs(axis[2]) > 1e-9:
        names = " and ".join(f"'{frame.body}'" for frame in frames if frame.moves == "in_plane")
        wanted = "turn about z alone; give axis=(0, 0, 1)" if turns else "keep their z; give an axis across z"
        raise ValueError(f"its axis is ({', '.join(f'{c:g}' for c in axis)}), but planar bodies ({names}) {wanted}, a "
                         "weld, or planar=False")


def on_body(frame: Any, x: np.ndarray, z: np.ndarray) -> Axes:
    return Axes(frame.direction(x), frame.direction(np.cross(z, x)), frame.direction(z))


def turned_along(start: np.ndarray, end: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """The vector after the shortest turn from one unit vector to another (Rodrigues' formula)."""
    cross, cosine = np.cross(start, end), float(start @ end)
    if not cross.any():
        return vector if cosine > 0.0 else -vector + 2.0 * across(start) * float(across(start) @ vector)
    # 1/(1 + cosine), which rounding leaves no digits of where the two nearly oppose each other
    factor = 1.0 / (1.0 + cosine) if cosine > 0.0 else (1.0 - cosine) / float(cross @ cross)
    return cosine * vector + np.cross(cross, vector) + cross * float(cross @ vector) * factor


def aligned(a: Axes, b: Axes) -> tuple[Part, ...]:
    """z_a stays along z_b: two rows."""
    return tuple(Part("perpendicular", (a.z, other), (0.0,), along=(a.z, b.z)) for other in (b.x, b.y))


def locked(a: Axes, b: Axes) -> tuple[Part, ...]:
    """All axes stay along each other: three rows."""
    rows = ((a.x, b.y, b.x), (a.y, b.z, b.y), (a.z, b.x, b.z))
    return tuple(Part("perpendicular", (own, other), (0.0,), along=(own, same)) for own, other, same in rows)


def coincident(arguments: dict[str, Any]) -> Part:
    """The two points stay together: three rows."""
    return Part("ball", points_of(arguments))


def on_axis(arguments: dict[str, Any], b: Axes) -> tuple[Part, ...]:
    """Point a stays on b's axis: two rows."""
    points = points_of(arguments)
    return Part("offset", (*points, b.x), (0.0,)), Part("offset", (*points, b.y), (0.0,))


def points_of(arguments: dict[str, Any]) -> tuple[Point, Point]:
    first, second = arguments["points"]
    return first, second


def angle(
    arguments: dict[str, Any], turning: Point, x: Point, y: Point, name: str = "angle", rate: str = "rate"
) -> Coordinate:
    """The turn of a direction on one body in the plane of x and y on the other, from x to y."""
    counter = arguments["frames"][0].counter(f"{arguments['name']}.{name}")
    return Coordinate(name, "angle", (turning, x, y, counter), arguments.get(name) or 0.0, arguments.get(rate))


def displacement(
    arguments: dict[str, Any], positions: np.ndarray, along: Point, name: str = "displacement", rate: str = "rate"
) -> Coordinate:
    """How far a stands from b along a direction on b's body, or from where the user says at the start."""
    start, offset = arguments.get(name), 0.0
    if start is not None:
        offset = start - float(np.dot(arguments["frames"][1].world(along.offset), positions[0] - positions[1]))
    a, b = points_of(arguments)
    # Nothing is counted in its fourth point.
    return Coordinate(name, "displacement", (a, b, along, b), offset, arguments.get(rate))


def frame(arguments: dict[str, Any], b: Axes) -> JointFrame:
    """Where the joint sits, and the axes in which its reaction is told."""
    return JointFrame(*points_of(arguments), tuple(b))


def joint(
    name: str,
    doc: str,
    pack: Callable[[np.ndarray, dict[str, Any]], Layout],
    rows: int,
    arguments: tuple[Argument, ...],
    examples: tuple[Example, ...],
    unit: str = "m rad",
    synonyms: tuple[str, ...] = (),
) -> Kind:
    """The kind of a joint between points a and b, made of parts from the frames of their bodies."""
    return Kind(
        name, doc, ("a", "b"), pack, rows=rows, unit=unit, arguments=arguments, synonyms=synonyms, examples=examples,
        frames=True,
    )  # fmt: skip
