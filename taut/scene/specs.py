"""What a scene holds: plain frozen records, checked when they were made, read by the model's builder.

Nothing here knows how a thing is computed. `where` says in which file, line and column a record was
written, `owner` names the deformable that made it; neither takes part in comparisons, so a scene equals its
own copy read back from a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..expressions import Signal

if TYPE_CHECKING:
    from ..forces.spring_law import Springs
    from .visuals import Visual

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]
# Roles of constraints that a deformable makes: what they are is never read from their names.
HARD_EDGE, PIN = "hard edge", "pin"


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
    carried           driven particles without a path: the place on a driven body that it sits on
    planar            rigid bodies: it moves in the plane z = constant of its start and turns about z alone
    shape             rigid bodies: what it looks like, as (kind, sizes [m]) of shapes.py; None: unknown
    visual            rigid bodies: what is seen of it instead, which no motion and no digest depends on
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
    owner: str | None = field(default=None, compare=False)
    carried: Point | None = None
    shape: tuple[str, tuple[float, ...]] | None = None
    planar: bool = False
    visual: tuple[Visual, ...] = field(default=(), metadata={"only_seen": True})


@dataclass(frozen=True)
class Point:
    """A place that constraints and forces act on.

    body       the name of a body, or None: a place in the world
    offset     [m] in the body's own frame; in the world where body is None; zero on a particle
    direction  the offset is a direction that turns with the body, not a place: its value is R u, without the
               body's position. Kinds derive these; users do not write them
    counter    of a joint's angle: a point without a place, whose first number counts the turns of the angle so named
    scene      the number of the scene whose body gave it to the user; None: nobody asked
    """

    body: str | None
    offset: Vector = (0.0, 0.0, 0.0)
    direction: bool = False
    counter: str = ""
    scene: int | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Switch:
    """When a constraint or force is on (switches.py); None: no such limit.

    from_, until  [s] on from the one until the other
    active        on while this condition holds
    when          on from the moment on at which this condition first holds
    ease          [s] over which a constraint is taken over when it is switched on; None: EASE of model/switching.py
    name          whose switch it is, where several constraints share one: of a group or an obstacle
    """

    from_: float | None = None
    until: float | None = None
    active: str | None = None
    when: str | None = None
    ease: float | None = None
    name: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Constraint:
    """A condition on points. Every argument of the kind is present; one left to taut is None.

    sense        "==": Φ = 0;  ">=": Φ ≥ 0;  "<=": Φ ≤ 0. All rows have the same
    restitution  of an inequality: speed after an impact over speed before, 0 to 1
    friction     of a contact: Coulomb's coefficient
    role         HARD_EDGE or PIN of the deformable that is its owner; "": a user's own constraint
    switch       when it is on; None: always
    """

    kind: str
    name: str
    points: tuple[Point, ...]
    arguments: dict[str, Any]
    sense: str = "=="
    restitution: float = 0.0
    friction: float = 0.0
    where: str | None = field(default=None, compare=False)
    owner: str | None = field(default=None, compare=False)
    role: str = field(default="", compare=False)
    switch: Switch | None = None


@dataclass(frozen=True)
class Force:
    """A force on points. A drag without points acts on all free bodies. `switch` says when it is on; None: always."""

    kind: str
    name: str
    points: tuple[Point, ...]
    arguments: dict[str, Any]
    where: str | None = field(default=None, compare=False)
    owner: str | None = field(default=None, compare=False)
    switch: Switch | None = None


@dataclass(frozen=True)
class Obstacle:
    """A thing in the world that balls of a group run into: an inequality of one point, without the point."""

    kind: str
    name: str
    arguments: dict[str, Any]
    where: str | None = field(default=None, compare=False)
    switch: Switch | None = field(default=None, metadata={"later": True})


@dataclass(frozen=True)
class Group:
    """Who touches whom; groups.py makes the pairs.

    first         bodies
    bodies        every body of `first` with each of these; None: pairs inside `first`
    obstacles     every body of `first` with each of these
    deformables        deformables that stand with `first`,
    other_deformables  and those that stand with `bodies`
    switch        when they can touch; None: always
    """

    name: str
    first: tuple[str, ...]
    bodies: tuple[str, ...] | None = None
    obstacles: tuple[str, ...] = ()
    restitution: float = 0.0
    friction: float = 0.0
    where: str | None = field(default=None, compare=False)
    deformables: tuple[str, ...] = ()
    other_deformables: tuple[str, ...] = ()
    switch: Switch | None = field(default=None, metadata={"later": True})


@dataclass(frozen=True, kw_only=True)
class DeformableParts:
    """What a sheet of cloth or a solid consists of. Nodes are numbered from 0 in a scene, and are slots in a model.

    kind          "cloth" or "solid"
    cells         (nx, ny) of a grid, else None
    triangles     (m, 3) nodes; of a solid its surface
    edges         (e, 2) nodes of structural edges, hard or not, with their lengths (e,) [m]: their elongation is told
    springs       "structural", "shear", "bending" -> springs between nodes
    limit         largest elongation of the limit edges, 0.1 for ten percent; None: no limit
    limit_rule    "exact" or "paper"
    system        "nodes", "active" or "auto": what implicit_first solves for
    limit_edges   (k, 2) nodes, with their lengths (k,) [m]: structural and shear edges that are not hard
    hard_edges    (h, 2) nodes of the `distance` equalities, with their lengths (h,) [m]
    thickness     [m]; nodes are balls of half of it
    self_contact  whether it runs into itself
    release       "lambda", "velocity", "voronoi" or "paper": when contacts let go
    approach      "position" or "velocity": what stops a node that comes near
    """

    kind: str
    name: str
    cells: tuple[int, int] | None
    triangles: np.ndarray
    edges: np.ndarray
    lengths: np.ndarray
    springs: dict[str, Springs]
    limit: float | None
    limit_rule: str
    system: str
    limit_edges: np.ndarray
    limit_lengths: np.ndarray
    hard_edges: np.ndarray
    hard_lengths: np.ndarray
    thickness: float
    self_contact: bool
    release: str = "lambda"
    approach: str = "position"

    @property
    def is_limited(self) -> bool:
        return self.limit is not None and len(self.limit_edges) > 0


@dataclass(frozen=True, kw_only=True)
class Deformable(DeformableParts):
    """Cloth or a solid as it was written, and what was made of it. Its nodes are the particles name[0], name[1], …

    arguments     those given, pins left out, in plain form: what a file holds
    count         number of nodes
    shortest      [m] the shortest edge of the mesh
    pins          node -> what holds it: None (fixed where it is), a Point on a body, or three Signals
    """

    arguments: dict[str, Any]
    count: int
    shortest: float
    pins: dict[int, Any]
    where: str | None = None

    def node(self, i: int) -> str:
        """The name of a node's particle."""
        return f"{self.name}[{i}]"

    def __eq__(self, other: object) -> bool:
        """What was made follows from what was written, so only that is compared."""
        if not isinstance(other, Deformable) or (self.kind, self.name) != (other.kind, other.name):
            return False
        mine, its = self.arguments, other.arguments
        return self.pins == other.pins and mine.keys() == its.keys() and all(
            np.array_equal(mine[key], its[key]) if isinstance(mine[key], np.ndarray) else mine[key] == its[key]
            for key in mine
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class ReducedMap:
    """Positions as formulas of a few coordinates, for the reduced method.

    coordinates  (name, value, rate) at t = 0
    positions    body name -> three formulas in the coordinates' names and t
    turns        rigid body -> rotations (axis, angle as a formula), each about axes that those before it have turned
    kinetic      T(q, q̇, t) beside that of the bodies, with rates as q.v; "" where there is none
    """

    coordinates: tuple[tuple[str, float, float], ...]
    positions: dict[str, tuple[str, str, str]]
    # Left out of digests where they are not used, so that runs stored before they were known go on.
    turns: dict[str, tuple[tuple[Vector, str], ...]] = field(default_factory=dict, metadata={"later": True})
    kinetic: str = field(default="", metadata={"later": True})

    @property
    def works(self) -> bool:
        """True where what moves x or T in time may put energy in."""
        angles = [angle for of in self.turns.values() for _, angle in of]
        texts = [*angles, *[text for three in self.positions.values() for text in three]]
        return bool(self.kinetic) or re.search(r"\bt\b", " ".join(texts)) is not None


@dataclass(frozen=True)
class BodyRef:
    """What `scene.particle(...)` and its like return: a body to hand to constraints and forces."""

    name: str
    kind: str
    scene: int | None = field(default=None, compare=False, repr=False)  # the number of the scene that it belongs to

    def at(self, offset: tuple[float, float, float]) -> Point:
        """A place on a rigid body, in the body's own frame [m]."""
        from .checks import vector  # checks reads these records, so it can not be imported above

        return Point(self.name, vector(offset, f"the place on '{self.name}'"), scene=self.scene)


@dataclass(frozen=True)
class Ref:
    """What adding a constraint or a force returns."""

    name: str
