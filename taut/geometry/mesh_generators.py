"""Rectangles of triangles and boxes of tetrahedra."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from .. import limits
from ..errors import TautError, shown, unknown
from .mesh import Mesh
from .solid import Solid

DIAGONALS = ("alternate", "same")


def grid(
    nx: int,
    ny: int,
    size: Sequence[float] = (1.0, 1.0),
    origin: Sequence[float] = (0.0, 0.0, 0.0),
    u: Sequence[float] = (1.0, 0.0, 0.0),
    v: Sequence[float] = (0.0, 0.0, 1.0),
    diagonals: str = "alternate",
    name: str = "grid",
) -> Mesh:
    """A sheet of nx × ny nodes and size[0] × size[1] metres from `origin` along u and v.

    Node j nx + i stands at origin + i/(nx-1) size[0] u + j/(ny-1) size[1] v, with u and v made unit vectors.
    Diagonals of the cells alternate like a chess board, or all run the same way. Triangles face u × v.
    """
    _counts(name, nx=nx, ny=ny)
    _lengths(name, size, 2)
    along, across = _direction(name, "u", u), _direction(name, "v", v)
    if np.linalg.norm(np.cross(along, across)) < 1e-9:
        raise TautError(f"grid '{name}': u = {tuple(u)} and v = {tuple(v)} are parallel; give two directions.")
    if diagonals not in DIAGONALS:
        raise unknown("pattern of diagonals", diagonals, DIAGONALS)
    s, t = np.linspace(0.0, size[0], nx), np.linspace(0.0, size[1], ny)
    vertices = np.asarray(origin, float) + s[None, :, None] * along + t[:, None, None] * across
    j, i = np.mgrid[: ny - 1, : nx - 1]
    a = (j * nx + i).ravel()
    b, c, d = a + 1, a + nx + 1, a + nx  # around the cell
    rising = np.stack([a, b, c, a, c, d], axis=1)  # split from a to c
    falling = np.stack([a, b, d, b, c, d], axis=1)  # split from b to d
    turned = ((i + j) % 2 == 1).ravel() & (diagonals == "alternate")
    triangles = np.where(turned[:, None], falling, rising).reshape(-1, 3)
    return Mesh(vertices.reshape(-1, 3), triangles, name, (nx, ny))


def box(
    nx: int,
    ny: int,
    nz: int,
    size: Sequence[float] = (1.0, 1.0, 1.0),
    origin: Sequence[float] = (0.0, 0.0, 0.0),
    split: int = 6,
    name: str = "box",
) -> Solid:
    """A block of nx × ny × nz nodes from `origin`, each cell cut into 5 or 6 tetrahedra.

    Node (k ny + j) nx + i stands at origin + (i/(nx-1) size[0], j/(ny-1) size[1], k/(nz-1) size[2]). Six
    share a diagonal of the cell; five leave one in the middle and are mirrored from cell to cell.
    """
    _counts(name, nx=nx, ny=ny, nz=nz)
    _lengths(name, size, 3)
    if split not in (5, 6):
        raise TautError(f"box '{name}': split is {shown(split)}; a cell is cut into 5 or 6 tetrahedra.")
    axes = [np.linspace(0.0, length, count) for length, count in zip(size, (nx, ny, nz))]
    z, y, x = np.meshgrid(*axes[::-1], indexing="ij")
    vertices = np.asarray(origin, float) + np.stack([x, y, z], axis=-1).reshape(-1, 3)
    k, j, i = (index.ravel() for index in np.mgrid[: nz - 1, : ny - 1, : nx - 1])
    # corner number c has its three bits as offsets along x, y and z
    offset = np.array([(c & 1) + nx * (c >> 1 & 1) + nx * ny * (c >> 2) for c in range(8)])
    corner = ((k * ny + j) * nx + i)[:, None] + offset
    if split == 6:
        paths = [(1, 3), (1, 5), (2, 3), (2, 6), (4, 5), (4, 6)]  # from corner 0 to 7, one axis at a time
        tetrahedra = corner[:, np.array([(0, p, q, 7) for p, q in paths])]
    else:
        even = np.array([(0, 3, 5, 6), (1, 0, 3, 5), (2, 0, 3, 6), (4, 0, 5, 6), (7, 3, 5, 6)])
        odd = even ^ 1  # the mirror image in x
        tetrahedra = np.where(((i + j + k) % 2 == 1)[:, None, None], corner[:, odd], corner[:, even])
    return Solid(vertices, tetrahedra.reshape(-1, 4), name)


def _counts(name: str, **counts: int) -> None:
    for key, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 2:
            raise TautError(f"mesh '{name}': {key} is {shown(value)}; give a whole number of nodes, at least 2.")
    limits.check("nodes", prod(int(value) for value in counts.values()), f"mesh '{name}'")


def _lengths(name: str, size: Sequence[float], wanted: int) -> None:
    lengths = np.asarray(size, float)
    if lengths.shape != (wanted,) or not np.isfinite(lengths).all() or (lengths <= 0).any():
        raise TautError(f"mesh '{name}': its size is {shown(size)}; give {wanted} positive lengths in metres.")


def _direction(name: str, key: str, value: Sequence[float]) -> np.ndarray:
    vector = np.asarray(value, float)
    length = np.linalg.norm(vector)
    if vector.shape != (3,) or not np.isfinite(length) or length == 0.0:
        raise TautError(f"grid '{name}': {key} is {shown(value)}; give a direction of three numbers.")
    return vector / length
