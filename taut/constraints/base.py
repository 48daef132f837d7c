"""How to write a constraint kind.

1.  One file, one `KIND = Kind(...)`, one line in `constraints/__init__.py`. Tests, `taut list`,
    the scene file's schema and `Scene.<name>(...)` pick it up from there.
2.  A kind is Φ(x, t) of some points. A point is a particle, a scalar coordinate (its value is
    x[p, 0]), a place in the world, or a place on a rigid body; a kernel need not know which.
3.  `kernel(n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma)` treats a batch of n:
        at            where the batch begins in each flat array: at.idx, at.p, at.ints, at.row, at.blk
        idx           points, `k` per constraint
        p, p_t, p_tt  parameters and their first and second time derivatives
        ints          whole numbers, such as addresses of compiled formulas
        x, v, t       positions and velocities of all points [m, m/s], time [s]
        second        True when gamma is wanted
        scratch       workspace for packed copies of a constraint's points
    and writes, for row r of constraint i (at.row + i*rows + r):
        phi           Φ
        J             ∂Φ/∂x, a 3-vector per point: J[at.blk + (i*rows + r)*k + point]
        phi_t         ∂Φ/∂t at fixed x
        gamma         d²Φ/dt² with zero acceleration: (Jv)_x v + 2 Φ_xt v + Φ_tt
4.  The module docstring numbers the equations; the code cites them.
5.  `pack` turns what the user wrote into parameters. It sees the initial positions of the points
    and the arguments, and raises ValueError with a remedy where the user is mistaken; the scene adds the
    constraint's name and where it was written. A kind of any number of points and an inequality also find
    among the arguments "labels", the points' names in formulas and whether each is a scalar coordinate,
    and "radii", the radius of the ball about each point [m].
6.  Every entry of phi, J, phi_t (and of gamma when asked) is written at each call: J is not cleared.
7.  A kind that needs axes has frames=True. It then finds among the arguments "frames", the body of each point
    (scene/places.py: Frame), from which `pack` derives directions that turn with a body and places on it:
    Layout(points=...) puts them after the user's points, and the kernel sees them as points. Of a direction
    u fixed to a body x is R u and v is ω × R u, and what acts on it turns the body.
8.  A kind without a kernel is made of others: Layout(parts=...) lists them, each with its own points (joints/).
    A kind with `joints` speaks of the coordinates of joints that stand in the scene already: positional arguments
    name them, and `pack` finds their coordinates among the arguments as "joints".
9.  A kind with level="velocity" states A(x, t) v + b(x, t) = 0, of which no Φ is known. Its kernel writes
    phi = 0, J = A, phi_t = b and gamma = Ȧ v + ḃ with zero acceleration, so that A v + b = J v + Φ_t and
    d(A v + b)/dt = J a + γ stand where Φ̇ and Φ̈ of other kinds do, and λ is the force along A. `unit` is
    that of the integral of A v + b.
10. An inequality is a kind with sense=">=", which means Φ ≥ 0. Where Φ is the distance of a ball from a
    surface, it takes the argument BALL and has contact=True.
11. `examples` name points of the cast of `tests/words_constraints.py`: "p", "q", "r", "s" are particles, "turn" and
    "shift" scalar coordinates, "box" and "rod" rigid bodies, ("box", (x, y, z)) is a place on one, and (x, y, z) one in
    the world; made("hinge", ...) is a joint. Φ need not be zero, but must be smooth around each example.
12. With the arguments `stops` an inequality must stop a ball of radius 0.1 m, thrown with (0.3, -4, 0.2) m/s from
    (0.1, 1.5, 0.1), or from (0.1, 0.2, 0.1) if that is where Φ ≥ 0; its second point is a ball of radius 0.2 m at 0.
13. `synonyms` are the field's other words for it: who writes one of them is told the kind's name (scene/synonyms.py).
    How it is drawn, whether Φ is linear, and what else others want to know of a kind stands in its declaration: no
    file elsewhere compares names of kinds (tests/test_layers.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..arguments import Argument, Example
from ..expressions import Signal


class At(NamedTuple):
    """Where a batch begins in the flat arrays."""

    idx: int
    p: int
    ints: int
    row: int
    blk: int


BALL = Argument("ball", "constant", "radius of the ball about the point [m]; default: the body's own")


def ball_radius(arguments: dict[str, Any]) -> float:
    """The radius of the one ball of a contact: as the user says, or the body's own."""
    ball = arguments["ball"]
    if ball is None:
        return arguments["radii"][0]
    if ball < 0.0:
        raise ValueError(f"its ball has the radius {ball:g} m; a radius can not be negative")
    return ball


@dataclass(frozen=True)
class Part:
    """A constraint of another kind that a composed one is made of."""

    kind: str  # in ALL
    points: tuple  # scene.specs.Point
    parameters: tuple = ()
    ints: tuple = ()
    along: tuple | None = None  # two directions that coincide where it holds; its Φ vanishes where they oppose, too


@dataclass(frozen=True)
class Coordinate:
    """A coordinate of a joint, of three points; joints/coordinates.py says how each type is evaluated."""

    name: str  # such as "angle"
    type: str  # "angle", "displacement" or "elevation"
    points: tuple  # scene.specs.Point
    offset: float = 0.0  # added to it, so that it has the value that the user gives the pose of the scene
    rate: float | None = None  # at the start, where the user says (initial/rates.py)

    @property
    def unit(self) -> str:
        return "rad" if self.turns else "m"

    @property
    def turns(self) -> bool:
        return self.type != "displacement"

    @property
    def quantity(self) -> str:
        """What the user calls it, whatever it is computed from."""
        return "angle" if self.turns else "displacement"


@dataclass(frozen=True)
class JointFrame:
    """Where a joint sits and its axes: a place on each body, and axes x, y, z fixed to the second one."""

    a: Any  # scene.specs.Point
    b: Any
    axes: tuple  # three directions on the body of b; the third is the joint's axis


@dataclass(frozen=True)
class Layout:
    """What a kernel needs of one constraint."""

    parameters: tuple = ()  # Signals or floats, flat
    ints: tuple[int | Callable[[], int], ...] = ()  # a function is called when the model is built
    rows: int | None = None  # only where it differs from the kind's
    length: Any = None  # a float or Signal: the constraint's own length [m], where it has one; see model/scales.py
    level: str | None = None  # only where it differs from the kind's
    points: tuple = ()  # derived points, after those of the user
    parts: tuple[Part, ...] = ()  # of a kind without a kernel
    coordinates: tuple[Coordinate, ...] = ()  # of a joint
    frame: JointFrame | None = None  # of a joint, in which its reaction is told
    acts_on: Coordinate | None = None  # of a force: the joint coordinate that it acts on


@dataclass(frozen=True)
class Affine:
    """Of a kind whose Φ is linear in x and in its first parameters, while its other parameters are constants.

    The first parameters are those of a place c(t), of which Φ depends as on x of its first point with the other sign,
    or they are added to Φ.
    """

    parameters: int
    is_place: bool


def at_start(value: Any) -> Any:
    """An argument at t = 0 as plain numbers."""
    if isinstance(value, Signal):
        return float(value.at(0.0)[0])
    return [at_start(item) for item in value] if isinstance(value, tuple | list) else float(value)


@dataclass(frozen=True)
class Kind:
    """A kind of constraint: what the user writes, what the machine holds, and the kernel between."""

    name: str
    doc: str  # one sentence
    points: tuple[str, ...] | None  # names of the points; None: any number
    pack: Callable[[np.ndarray, dict[str, Any]], Layout]
    kernel: Callable | None = None  # None: made of parts
    rows: int = 1  # scalar equations; 0: told by pack
    unit: str = "m"  # of Φ
    arguments: tuple[Argument, ...] = ()
    points_optional: int = 0  # how many of the last points may be left out
    rechart: Callable | None = None  # (n, at, idx, ints, x): choose a chart at the start of a step
    coordinates: frozenset[str] = field(default_factory=frozenset)  # points that are scalar coordinates
    mixed: frozenset[str] = field(default_factory=frozenset)  # points that may be scalar coordinates or not
    sense: str = "=="  # ">=": an inequality by nature, Φ ≥ 0 and nothing else; "==": ≥ and ≤ if the user asks
    level: str = "position"  # Φ(x, t) = 0; "velocity": A(x, t) v + b(x, t) = 0
    examples: tuple[Example, ...] = ()  # from which every test of kinds runs; see 11
    stops: dict[str, Any] | None = None  # arguments with which an inequality stops what is thrown at it; see 12
    contact: bool = False  # all blocks of a row of J lie along one normal, so friction has a meaning
    frames: bool = False  # pack derives points from the bodies' frames
    joints: tuple[str, ...] = ()  # arguments that name joints
    affine: Affine | None = None  # where Φ is linear: such constraints have reduced coordinates (methods/reduction)
    constant_jacobian: bool = False  # ∂Φ/∂x of its points never changes
    rheonomic: bool = False  # formulas of users may make Φ depend on t
    link: str = ""  # as what its two points are joined in pictures: "rod", "rope" or "strut"; "": nothing is drawn
    # (arguments, x (T, points, 3)) -> what its points stay on, for pictures: see on_line, on_sphere and on_curve
    guide: Callable[[dict[str, Any], np.ndarray], dict[str, Any]] | None = None
    separation: Callable[[dict[str, Any]], float | None] | None = None  # of its two points [m], where it asks for one
    # (arguments, s) -> ∂x/∂s of the point that it places by the coordinate `s`: see model/massless.py
    slope: Callable[[dict[str, Any], float], list[float]] | None = None
    # (part, axes x and y, whether a point is a direction along z) -> the parts that are left between planar bodies
    in_plane: Callable[[Part, tuple, Callable[[Any], bool]], tuple[Part, ...]] | None = None
    # arguments as pack sees them -> what is possible, but likely a mistake: the user is warned of it; "": nothing
    doubt: Callable[[dict[str, Any]], str] | None = None
    synonyms: tuple[str, ...] = ()  # other words of the field, of which messages and lists tell this name

    @property
    def asks(self) -> bool:
        """Whether pack wants to know more of its points than where they are."""
        return self.points is None or self.sense != "==" or self.frames
