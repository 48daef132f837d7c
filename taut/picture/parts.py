"""One thing to see. Everything that draws or exports a scene works on a list of these.

A part is stiff or soft. A stiff one has vertices in its own frame and `frame(pose)` says where that frame is; of a
soft one `points(pose)` gives the vertices in the world. `role` says what it is: it decides the colour, and what an
export calls the group it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import present
from ..model.frames import rotate

# role -> colour in pictures and in files for other tools
COLORS: dict[str, str] = {
    "particle": "#2f6fb3",  # free bodies
    "rigid": "#4f86c6",
    "fixed": "#3a4150",
    "driven": "#d5752a",
    "rod": "#98a2b3",
    "rope": "#b08968",
    "spring": "#5aa469",
    "cloth": "#3f7fc1",
    "solid": "#e07a5f",
    "obstacle": "#dde1e8",
    "guide": "#b7bdc8",
}
BACK = {"cloth": "#e6ab5c"}  # of what has two sides
# Balls of a crowd are told apart by turns.
CROWD = ("#2f6fb3", "#e0a13c", "#5aa469", "#c4554d", "#7d6bb0", "#4fa3a5")


class Pose(NamedTuple):
    """Where all bodies are at one time, in the order of the model's slots."""

    time: float
    x: np.ndarray  # (slots, 3) [m]
    quat: np.ndarray  # (rigid, 4) from principal axes to the world


class Frame(NamedTuple):
    position: np.ndarray  # (3,) [m]
    orientation: np.ndarray  # (4,)
    scale: np.ndarray  # (3,) along the part's own axes


UNIT = np.ones(3)
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True)
class Part:
    """name, role, triangles (m, 3); and either vertices and frame (stiff) or points (soft).

    edges      (e, 2) lines to be seen on the surface; none by default
    color      of its own, instead of its role's
    one_sided  seen only from the side to which its triangles turn counter-clockwise: a wall does not hide a scene
    still      whether it never moves
    """

    name: str
    role: str
    triangles: np.ndarray
    vertices: np.ndarray | None = None
    frame: Callable[[Pose], Frame] | None = None
    points: Callable[[Pose], np.ndarray] | None = None
    edges: np.ndarray | None = None
    color: str | None = None
    one_sided: bool = False
    still: bool = False

    @property
    def is_stiff(self) -> bool:
        return self.frame is not None

    @property
    def own_color(self) -> str:
        return self.color or COLORS[self.role]

    def places(self, pose: Pose) -> np.ndarray:
        """The vertices in the world [m], shape (n, 3)."""
        if self.points is not None:
            return self.points(pose)
        position, orientation, scale = present(self.frame, "the frame of a part")(pose)
        return position + rotate(orientation, scale * present(self.vertices, "the mesh of a part"))


def rgb(color: str) -> tuple[float, float, float]:
    """Red, green and blue of "#rrggbb", each from 0 to 1."""
    r, g, b = (int(color[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return r, g, b


def turn_from_x(direction: np.ndarray) -> np.ndarray:
    """The quaternion that turns the x axis into a direction."""
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        return UPRIGHT
    u = direction / length
    if u[0] < -1.0 + 1e-12:
        return np.array([0.0, 0.0, 0.0, 1.0])
    found = np.array([1.0 + u[0], 0.0, -u[2], u[1]])
    return found / np.linalg.norm(found)
