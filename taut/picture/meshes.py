"""Triangles of what is drawn beside shapes (shapes/), and normals: vertices (n, 3) [m] and triangles (m, 3).

Vertices are shared where a surface is smooth and repeated at its edges, so that normals averaged over the
triangles of a vertex are the right ones.
"""

from __future__ import annotations

import numpy as np

from ..errors import present
from ..shapes import SOLIDS, Mesh


def plane(center: np.ndarray, normal: np.ndarray, half: float) -> Mesh:
    """A square of sides 2 half, seen from the side to which the normal points."""
    u, v = across(normal)
    corners = [center + half * (a * u + b * v) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return np.array(corners), np.array([(0, 1, 2), (0, 2, 3)], np.int64)


def across(direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors across a direction; u × v points along it."""
    direction = np.asarray(direction, float) / np.linalg.norm(direction)
    u = np.cross(np.eye(3)[np.argmin(np.abs(direction))], direction)
    u /= np.linalg.norm(u)
    return u, np.cross(direction, u)


def of_shape(kind: str, *sizes: float) -> Mesh:
    """The mesh of a rigid body's shape."""
    return present(SOLIDS[kind].triangles, f"the triangles of a {kind}")(*sizes)


def tube(places: np.ndarray, radius: float, around: int = 8) -> Mesh:
    """Around a line through places (n, 3) [m]."""
    along = np.gradient(places, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    # Carried from place to place, so that the tube does not wring itself.
    side = across(along[0])[0]
    sides = []
    for direction in along:
        side = side - (side @ direction) * direction
        side = side / max(float(np.linalg.norm(side)), 1e-300)
        sides.append(side)
    first = np.array(sides)
    second = np.cross(along, first)
    turn = 2.0 * np.pi * np.arange(around) / around
    ring = np.cos(turn)[:, None] * first[:, None] + np.sin(turn)[:, None] * second[:, None]
    i, k = np.arange(around), np.arange(len(places) - 1)[:, None] * around
    j = (i + 1) % around
    quads = np.stack([k + i, k + j, k + around + j, k + around + i], -1).reshape(-1, 4)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int64)
    return (places[:, None] + radius * ring).reshape(-1, 3), triangles


def edges_of(triangles: np.ndarray) -> np.ndarray:
    """Each edge of a mesh once, shape (e, 2)."""
    pairs = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    return np.unique(pairs, axis=0)


def normals(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Unit normals at the vertices, averaged over their triangles by area."""
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    flat = np.cross(b - a, c - a)
    total = np.zeros_like(vertices)
    for axis in range(3):
        for corner in range(3):
            total[:, axis] += np.bincount(triangles[:, corner], flat[:, axis], len(vertices))
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return total / np.where(length > 0.0, length, 1.0)
