"""How to write a shape.

1.  One file, one `SHAPE = Shape(...)`, one line in `shapes/__init__.py`. Rigid bodies (`shape={"box": (1, 2, 3)}`),
    obstacles, constraint kinds, pictures, tests and `taut list` find it there.
2.  A shape has its own axes with the origin in its middle. Long ones lie along x. `sizes` names its lengths [m] in the
    order in which users list them; a shape without sizes can not be a rigid body.
3.  Of a shape of given sizes, and points or directions of shape (n, 3) in its own axes:
        volume(*sizes)              [m³]
        moments(m, *sizes)          principal moments of inertia of the uniform solid of mass m [kg m²]
        distance(y, *sizes)         signed distance of the points y from the surface, negative inside [m], shape (n,),
                                    and its gradient, the unit normal of the nearest place, shape (n, 3)
        support(u, *sizes)          the place farthest along each direction u, shape (n, 3)
        triangles(*sizes)           vertices (v, 3) and triangles (f, 3), counter-clockwise seen from outside
4.  As an obstacle a shape may move, turn and grow with time. `arguments` are what users write of it in the world, and
    `place(at)` turns their values at an instant into a Placement: sizes (infinite ones are allowed), origin and axes.
    A shape without arguments is no obstacle.
5.  `sides` are its constraint kinds: Φ = ±distance - r ≥ 0 for a ball of radius r, with a compiled
    kernel as `constraints/base.py` asks for. `pack(position, arguments, ball)` gives its parameters and
    whole numbers, and raises ValueError with a remedy where the user is mistaken. A test compares kernels with
    `distance`, and J, Φ_t and γ with differences of Φ.
6.  The page has solids of its own for some shapes, which name one as `primitive`; all others are drawn by `triangles`,
    as obstacles where they are at the start. `visible(at, window)` gives the triangles of a shape that does not end:
    the part within a window, which has a `center`, an `extent` (3,) and a `size` [m], and is `is_planar` where
    everything moves in a plane.
7.  Tests run from three examples: `example` are sizes; `still` are the arguments of an obstacle about the origin that
    stops a ball thrown down at it from (0, 1.5, 0) m, or inside from (0, 0.2, 0) m; `moving` are arguments of obstacles
    from which the distance of a ball near (0.1, 0.2, 1.1) m is smooth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..arguments import Argument
from ..errors import present

Mesh = tuple[np.ndarray, np.ndarray]
Values = dict[str, np.ndarray]  # arguments at an instant


class Placement(NamedTuple):
    """Where a shape is: y = axes @ (x - origin) are a point's coordinates in its own axes."""

    sizes: tuple[float, ...]
    origin: np.ndarray  # (3,) [m]
    axes: np.ndarray  # (3, 3): its axes as rows, in the world


@dataclass(frozen=True)
class Side:
    """The constraint kind that keeps a ball outside (sign 1.0) or inside (sign -1.0) of a shape."""

    kind: str
    doc: str
    sign: float
    kernel: Callable
    pack: Callable[[np.ndarray, dict[str, Any], float], tuple[tuple, tuple[int, ...]]]
    rows: int = 1
    synonyms: tuple[str, ...] = ()  # other words of the field for the kind


@dataclass(frozen=True)
class Shape:
    name: str
    doc: str
    sizes: tuple[str, ...]
    distance: Callable[..., tuple[np.ndarray, np.ndarray]]
    example: tuple[float, ...]  # sizes
    support: Callable[..., np.ndarray] | None = None  # of what ends somewhere
    volume: Callable[..., float] | None = None
    moments: Callable[..., tuple[float, float, float]] | None = None
    triangles: Callable[..., Mesh] | None = None
    arguments: tuple[Argument, ...] = ()
    place: Callable[[Values], Placement] | None = None
    sides: tuple[Side, ...] = ()
    visible: Callable[[Values, Any], Mesh] | None = None
    still: dict[str, Any] = field(default_factory=dict)  # arguments of an obstacle; see 7
    moving: tuple[dict[str, Any], ...] = ()
    complete: Callable[[list[Any]], list[Any]] = lambda listed: listed  # adds sizes that users may leave out
    primitive: str = ""  # as which solid the page draws it (page/src/shapes.ts); "": by its triangles
    ball: Callable[..., float] = lambda *sizes: 0.0  # radius [m], of what is a ball in contacts between bodies

    @property
    def is_solid(self) -> bool:
        """Whether a rigid body may have it."""
        return self.volume is not None

    def surface(self, at: Values, window: Any) -> Mesh:
        """The triangles of an obstacle in the world."""
        if self.visible is not None:
            return self.visible(at, window)
        sizes, origin, axes = present(self.place, "the place of a shape")(at)
        vertices, triangles = present(self.triangles, "the triangles of a shape")(*sizes)
        return origin + vertices @ axes, triangles

    def bounds(self, at: Values) -> tuple[np.ndarray, np.ndarray] | None:
        """The least and the largest coordinates (3,) of an obstacle [m]; None where it does not end."""
        sizes, origin, axes = present(self.place, "the place of a shape")(at)
        if self.support is None or not np.isfinite(sizes).all():
            return None
        low, high = (np.diag(self.support(sign * axes.T, *sizes) @ axes) for sign in (-1.0, 1.0))
        return origin + low, origin + high

    def distance_in_world(self, at: Values, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Signed distances [m] of points x (n, 3) from an obstacle, and the normals there."""
        sizes, origin, axes = present(self.place, "the place of a shape")(at)
        gap, normal = self.distance((x - origin) @ axes.T, *sizes)
        return gap, normal @ axes


def axes_along(direction: np.ndarray) -> np.ndarray:
    """Axes (3, 3) as rows whose first is along a direction: the world's, turned the shortest way."""
    x, y, z = direction / np.linalg.norm(direction)
    if x < -1.0 + 1e-12:
        return np.diag([-1.0, -1.0, 1.0])
    k = 1.0 / (1.0 + x)
    return np.array([[x, y, z], [-y, 1.0 - k * y * y, -k * y * z], [-z, -k * y * z, 1.0 - k * z * z]])
