"""Where things touch: points and normals of contacts, found from places and radii for the picture.

A ball of radius r touches what its centre is no further from than r, within a slack that is not seen; it counts only
where the run says that contacts push the body. A node of a sheet that is pushed touches where it is.

    gap, n = distance of a centre from the surface, direction away from it                          (1)
    p = x - (gap) n                                                                                 (2)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..shapes import OBSTACLES
from .drawing import BESIDE

SLACK = 0.01  # of a radius
MOST = 2000  # contacts in one picture


def contacts(
    x: np.ndarray, push: np.ndarray, balls: list[tuple[int, float]], nodes: np.ndarray, obstacles: list[dict[str, Any]]
) -> np.ndarray:
    """Contacts of one record, shape (n, 6): a point [m] and the normal of each.

    x      (slots, 3) places [m];  push  (slots, 3) force of contacts on each [N]
    balls  (slot, radius [m]) of bodies;  nodes  slots of deformables
    obstacles  obstacles as Drawing.obstacles tells them, where they are now
    """
    arrows: list[np.ndarray] = []
    strength = np.abs(push)
    pushed = (strength[:, 0] > 0.0) | (strength[:, 1] > 0.0) | (strength[:, 2] > 0.0)  # a max over three is slower
    touched = nodes[pushed[nodes]] if len(nodes) else nodes
    if len(touched):
        force = push[touched]
        arrows.append(np.hstack([x[touched], force / np.linalg.norm(force, axis=1, keepdims=True)]))
    slots = np.array([slot for slot, radius in balls if pushed[slot]], np.int64)
    radii = np.array([radius for slot, radius in balls if pushed[slot]])
    at = x[slots]
    if len(slots) and np.isfinite(at).all():
        for obstacle in obstacles:
            if obstacle["kind"] not in OBSTACLES:  # a limit has no surface
                continue
            gap, normal = from_surface(obstacle, at)
            near = (gap <= radii * (1.0 + SLACK)) & (radii > 0.0)
            arrows.append(np.hstack([at - gap[:, None] * normal, normal])[near])  # (2)
        if len(slots) > 1:
            from scipy.spatial import cKDTree

            pairs = cKDTree(at).query_pairs(2.0 * radii.max() * (1.0 + SLACK), output_type="ndarray")
            way = at[pairs[:, 0]] - at[pairs[:, 1]]
            length = np.linalg.norm(way, axis=1)
            reach = radii[pairs].sum(axis=1)
            near = (length <= reach * (1.0 + SLACK)) & (length > 0.0)
            normal = way[near] / length[near, None]
            arrows.append(np.hstack([at[pairs[near, 1]] + radii[pairs[near, 1], None] * normal, normal]))
    return np.concatenate([np.zeros((0, 6)), *arrows])[:MOST]


def from_surface(obstacle: dict[str, Any], x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(1) of an obstacle, for centres of shape (n, 3)."""
    shape, side = OBSTACLES[obstacle["kind"]]
    at = {key: np.array(value, float) for key, value in obstacle.items() if key not in BESIDE}
    gap, normal = shape.distance_in_world(at, x)
    return side.sign * gap, side.sign * normal
