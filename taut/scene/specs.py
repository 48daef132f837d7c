"""What a scene holds: plain frozen records, checked when they were made, read by the model's builder.

Nothing here knows how a thing is computed. `where` says in which file, line and column a record was
written; it takes no part in comparisons, so a scene equals its own copy read back from a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..expressions import Signal

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]


@dataclass(frozen=True)
class Body:
    """A particle, a rigid body or a scalar coordinate, at t = 0.

    kind              "particle", "rigid" or "coordinate"
    position          [m]; a coordinate keeps its value in the first entry
    velocity          [m/s]; a coordinate keeps its rate in the first entry
    mass              [kg]; of a coordinate its own inertia
    inertia           [kg m²] about the centre of mass in the body's frame; rigid bodies only
    orientation       unit quaternion (w, x, y, z) from the body's frame to the world
    angular_velocity  [rad/s] in the world's frame
    motion            "free", "fixed" or "driven"
    path              driven bodies: position as three functions of time; a coordinate uses the first
    rotation          driven rigid bodies: (unit axis in the world, angle [rad] as a function of time);
                      the body turns about that axis on top of `orientation`. None: it does not turn
    radius            [m] of the ball about its centre that touches others; 0: a point
    """

    kind: str
    name: str
    position: Vector
    velocity: Vector = (0.0, 0.0, 0.0)
    mass: float = 1.0
    inertia: Matrix | None = None
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    angular_velocity: Vector = (0.0, 0.0, 0.0)
    motion: str = "free"
    path: tuple[Signal, Signal, Signal] | None = None
    rotation: tuple[Vector, Signal] | None = None
    radius: float = 0.0
    where: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Point:
    """A place that constraints and forces act on.

    body    the name of a body, or None: a place in the world
    offset  [m] in the body's own frame; in the world where body is None; zero on a particle
    """

    body: str | None
    offset: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Constraint:
    """A condition on points. Every argument of the kind is present; one left to taut is None.

    sense        "==": Φ = 0;  ">=": Φ ≥ 0;  "<=": Φ ≤ 0. All rows have the same
    restitution  of an inequality: speed after an impact over speed before, 0 to 1
    friction     of a contact: Coulomb's coefficient
    """

    kind: str
    name: str
    points: tuple[Point, ...]
    arguments: dict[str, Any]
    sense: str = "=="
    restitution: float = 0.0
    friction: float = 0.0
    where: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Force:
    """A force on points. A drag without points acts on all free bodies."""

    kind: str
    name: str
    points: tuple[Point, ...]
    arguments: dict[str, Any]
    where: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Obstacle:
    """A thing in the world that balls of a group run into: an inequality of one point, without the point."""

    kind: str
    name: str
    arguments: dict[str, Any]
    where: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Group:
    """Who touches whom; groups.py makes the pairs.

    first      bodies
    bodies     every body of `first` with each of these; None: pairs inside `first`
    obstacles  every body of `first` with each of these
    """

    name: str
    first: tuple[str, ...]
    bodies: tuple[str, ...] | None = None
    obstacles: tuple[str, ...] = ()
    restitution: float = 0.0
    friction: float = 0.0
    where: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ReducedMap:
    """Positions as formulas of a few coordinates, for the reduced method.

    coordinates  (name, value, rate) at t = 0
    positions    body name -> three formulas in the coordinates' names and t
    """

    coordinates: tuple[tuple[str, float, float], ...]
    positions: dict[str, tuple[str, str, str]]


@dataclass(frozen=True)
class BodyRef:
    """What `scene.particle(...)` and its like return: a body to hand to constraints and forces."""

    name: str
    kind: str

    def at(self, offset: tuple[float, float, float]) -> Point:
        """A place on a rigid body, in the body's own frame [m]."""
        from .checks import vector  # checks reads these records, so it can not be imported above

        return Point(self.name, vector(offset, f"the place on '{self.name}'"))


@dataclass(frozen=True)
class Ref:
    """What adding a constraint or a force returns."""

    name: str
