"""Tetrahedral meshes: the bodies of mass and springs that have a volume."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import TautError
from .mesh import (
    check_density,
    frozen,
    named,
    read_elements,
    read_vertices,
    refuse_unused,
    shares,
)
from .topology import Array, Shared, shared_sides

NO_VOLUME = 1e-12  # of the cube of its longest edge; below, a tetrahedron is flat
EDGES = [[0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3]]  # first and second ends
FACES = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]  # outward where the volume is positive


@dataclass(frozen=True)
class Solid:
    """Vertices [m], shape (n, 3), and tetrahedra, shape (m, 4), counted from 0.

    Tetrahedra given inside out are turned, which changes nothing but the order of two of their vertices.
    """

    vertices: Array
    tetrahedra: Array
    name: str = "solid"

    def __post_init__(self) -> None:
        vertices = read_vertices(self.vertices, self.name)
        nodes = np.asarray(self.tetrahedra)
        if nodes.ndim == 2 and nodes.shape[1] == 3:
            raise TautError(f"mesh '{self.name}' is a shell of {len(nodes)} triangles without volume; "
                            "fill it with tetrahedra in a mesher, or use it as a cloth.")
        tetrahedra = read_elements(nodes, 4, "tetrahedron", len(vertices), self.name)
        volumes = signed_volumes(vertices, tetrahedra)
        corners = vertices[tetrahedra]
        longest = np.linalg.norm(corners[:, EDGES[0]] - corners[:, EDGES[1]], axis=2).max(axis=1)
        flat = np.flatnonzero(np.abs(volumes) <= NO_VOLUME * longest**3)
        if flat.size:
            raise TautError(f"mesh '{self.name}': {named('tetrahedron', flat, tetrahedra)} has no volume; "
                            "remove it or move its vertices apart.")
        tetrahedra = np.where(volumes[:, None] < 0, tetrahedra[:, [0, 1, 3, 2]], tetrahedra)
        refuse_unused(tetrahedra, len(vertices), self.name)
        object.__setattr__(self, "vertices", frozen(vertices))
        object.__setattr__(self, "tetrahedra", frozen(tetrahedra))
        crowded = np.flatnonzero(self._faces.number > 2)
        if crowded.size:
            raise TautError(f"mesh '{self.name}': {named('face', crowded, self._faces.nodes)} belongs to more than two "
                            "tetrahedra; remove those that overlap.")

    @cached_property
    def _faces(self) -> Shared:
        return shared_sides(self.tetrahedra[:, FACES])

    @cached_property
    def edges(self) -> Array:
        """(e, 2) vertices of each edge, the smaller first, sorted."""
        both = np.stack([self.tetrahedra[:, EDGES[0]], self.tetrahedra[:, EDGES[1]]], axis=2)
        return np.unique(np.sort(both.reshape(-1, 2), axis=1), axis=0)

    @cached_property
    def surface(self) -> Array:
        """(s, 3) the triangles that bound the solid, facing outward."""
        outer = self._faces.number == 1
        owner, side = self._faces.owners[outer, 0], self._faces.side[outer, 0]
        return self.tetrahedra[owner[:, None], np.array(FACES)[side]]

    @cached_property
    def volumes(self) -> Array:
        """(m,) volumes [m³]."""
        return signed_volumes(self.vertices, self.tetrahedra)

    def masses(self, density: float) -> Array:
        """(n,) node masses [kg] for a density [kg/m³]: each tetrahedron gives a quarter to each vertex."""
        check_density(density, "kg/m³", self.name)
        return shares(self.tetrahedra, density * self.volumes, len(self.vertices))


def signed_volumes(vertices: Array, tetrahedra: Array) -> Array:
    a, b, c, d = (vertices[tetrahedra[:, i]] for i in range(4))
    return ((b - a) * np.cross(c - a, d - a)).sum(axis=1) / 6.0
