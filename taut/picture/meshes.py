"""Triangles of simple shapes: vertices (n, 3) [m] and triangles (m, 3), counter-clockwise seen from outside.

Vertices are shared where a surface is smooth and repeated at its edges, so that normals averaged over the
triangles of a vertex are the right ones. The long axis of cylinders and capsules is x, as in scene/shapes.py.
"""

from __future__ import annotations

from functools import cache

import numpy as np

Mesh = tuple[np.ndarray, np.ndarray]


@cache
def sphere(rings: int = 16) -> Mesh:
    """Of radius 1."""
    return capsule(1.0, 0.0, rings)


@cache
def capsule(radius: float, length: float, rings: int = 16) -> Mesh:
    """A cylinder of that length with half spheres at both ends; of length 0 a sphere."""
    around = 2 * rings
    angle = np.pi * np.arange(1, rings) / rings
    along, out = -np.cos(angle), np.sin(angle)
    if length > 0.0:  # the middle ring twice: one for each end
        along = np.concatenate([along[: rings // 2], along[rings // 2 - 1 :]])
        out = np.concatenate([out[: rings // 2], out[rings // 2 - 1 :]])
    shift = 0.5 * length * np.where(np.arange(len(along)) < len(along) / 2, -1.0, 1.0)
    turn = 2.0 * np.pi * np.arange(around) / around
    ring = np.stack([np.repeat(radius * along + (shift if length > 0.0 else 0.0), around),
                     radius * np.outer(out, np.cos(turn)).ravel(), radius * np.outer(out, np.sin(turn)).ravel()], 1)
    tips = np.array([[-radius - 0.5 * length, 0, 0], [radius + 0.5 * length, 0, 0]])
    first, last = len(ring), len(ring) + 1
    i = np.arange(around)
    j = (i + 1) % around
    parts = [np.stack([np.full(around, first), j, i], 1)]
    for k in range(len(along) - 1):
        a, b = k * around, (k + 1) * around
        parts += [np.stack([a + i, a + j, b + j], 1), np.stack([a + i, b + j, b + i], 1)]
    end = (len(along) - 1) * around
    parts.append(np.stack([np.full(around, last), end + i, end + j], 1))
    return np.concatenate([ring, tips]), np.concatenate(parts).astype(np.int64)


@cache
def cylinder(radius: float, length: float, around: int = 32) -> Mesh:
    turn = 2.0 * np.pi * np.arange(around) / around
    rim = np.stack([np.zeros(around), radius * np.cos(turn), radius * np.sin(turn)], 1)
    half = np.array([0.5 * length, 0.0, 0.0])
    vertices = np.concatenate([rim - half, rim + half, rim - half, rim + half, [-half], [half]])
    i = np.arange(around)
    j = (i + 1) % around
    side = [np.stack([i, j, around + j], 1), np.stack([i, around + j, around + i], 1)]
    caps = [np.stack([np.full(around, 4 * around), 2 * around + j, 2 * around + i], 1),
            np.stack([np.full(around, 4 * around + 1), 3 * around + i, 3 * around + j], 1)]
    return vertices, np.concatenate([*side, *caps]).astype(np.int64)


@cache
def box(x: float, y: float, z: float) -> Mesh:
    vertices: list[np.ndarray] = []
    triangles: list[tuple[int, int, int]] = []
    half = np.array([x, y, z]) / 2.0
    for axis in range(3):
        for sign in (-1.0, 1.0):
            out = np.eye(3)[axis] * sign
            u = np.eye(3)[(axis + 1) % 3]
            v = np.cross(out, u)
            first = len(vertices)
            vertices += [half * (out + a * u + b * v) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            triangles += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return np.array(vertices), np.array(triangles, np.int64)


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
    """The mesh of a rigid body's shape (scene/shapes.py)."""
    if kind == "box":
        return box(*sizes)
    if kind == "sphere":
        vertices, triangles = sphere()
        return sizes[0] * vertices, triangles
    if kind == "capsule":
        return capsule(*sizes)
    radius, length = sizes if kind == "cylinder" else sizes[::-1]
    return cylinder(radius, length)


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
