"""Which nodes the three families of springs join, shape (k, 2), the smaller node first.

             grid                                  other meshes
structural   warp, then weft edges                 all edges
shear        both diagonals of each cell           none: edges already resist it
bending      second neighbours, warp then weft     vertices facing each other over an inner edge

A solid has structural springs only: its edges.
"""

from __future__ import annotations

import numpy as np

from .mesh import Mesh
from .solid import Solid
from .topology import Array


def structural(mesh: Mesh | Solid) -> Array:
    numbers = _numbers(mesh)
    return mesh.edges if numbers is None else _joined(_apart(numbers, 0, 1), _apart(numbers, 1, 0))


def shear(mesh: Mesh) -> Array:
    numbers = _numbers(mesh)
    if numbers is None:
        return np.zeros((0, 2), np.int64)
    return _joined(_apart(numbers, 1, 1), _apart(numbers[:, ::-1], 1, 1))


def bending(mesh: Mesh) -> Array:
    numbers = _numbers(mesh)
    return mesh.hinges if numbers is None else _joined(_apart(numbers, 0, 2), _apart(numbers, 2, 0))


def _numbers(mesh: Mesh | Solid) -> Array | None:
    """(ny, nx) the node numbers of a grid."""
    if isinstance(mesh, Solid) or mesh.cells is None:
        return None
    nx, ny = mesh.cells
    return np.arange(nx * ny).reshape(ny, nx)


def _apart(numbers: Array, rows: int, columns: int) -> Array:
    """Nodes that lie so many rows and columns apart."""
    ny, nx = numbers.shape
    return np.stack([numbers[: ny - rows, : nx - columns].ravel(), numbers[rows:, columns:].ravel()], axis=1)


def _joined(*families: Array) -> Array:
    return np.sort(np.concatenate(families), axis=1)
