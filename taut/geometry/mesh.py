"""Triangle meshes: checked when made, so that everything behind can rely on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..errors import TautError, shown, warn
from .topology import Array, Shared, flips_to_orient, parts, triangle_edges

NO_AREA = 1e-12  # of the square of its longest edge; below, a triangle is a line
MOST_NAMED = 5


@dataclass(frozen=True)
class Mesh:
    """Vertices [m], shape (n, 3), and triangles, shape (m, 3), counted from 0.

    Triangles that face the other way than their neighbours are turned over, with a warning. `cells` is
    (nx, ny) where the vertices form a grid, row by row.
    """

    vertices: Array
    triangles: Array
    name: str = "mesh"
    cells: tuple[int, int] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        vertices = read_vertices(self.vertices, self.name)
        triangles = read_elements(self.triangles, 3, "triangle", len(vertices), self.name)
        edges = triangle_edges(triangles)
        _refuse_flat(vertices, triangles, self.name)
        _refuse_twins(triangles, self.name)
        _refuse_fins(triangles, edges, self.name)
        refuse_unused(triangles, len(vertices), self.name)
        triangles = _orient(triangles, edges, self.name)
        object.__setattr__(self, "vertices", frozen(vertices))
        object.__setattr__(self, "triangles", frozen(triangles))
        object.__setattr__(self, "parts", int(parts(self.edges, len(vertices)).max()) + 1)
        if self.parts > 1:
            warn(f"mesh '{self.name}' has {self.parts} parts that are not connected; each moves on its own")

    parts: int = field(init=False, compare=False, default=1)  # connected parts

    @cached_property
    def _edges(self) -> Shared:
        return triangle_edges(self.triangles)

    @property
    def edges(self) -> Array:
        """(e, 2) vertices of each edge, the smaller first, sorted."""
        return self._edges.nodes

    @property
    def edge_triangles(self) -> Array:
        """(e, 2) the triangles on each edge; -1 where a boundary edge has no second one."""
        return self._edges.owners

    @cached_property
    def opposite(self) -> Array:
        """(e, 2) the vertex of each triangle on an edge that is not on the edge; -1 at the boundary."""
        owners, side = self._edges.owners, self._edges.side
        return np.where(owners < 0, -1, self.triangles[owners, (side + 2) % 3])

    @cached_property
    def hinges(self) -> Array:
        """(k, 2) the two vertices that face each other over each inner edge."""
        return np.sort(self.opposite[self._edges.number == 2], axis=1)

    @cached_property
    def areas(self) -> Array:
        """(m,) areas [m²]."""
        return 0.5 * np.linalg.norm(doubled_area_vectors(self.vertices, self.triangles), axis=1)

    def masses(self, density: float) -> Array:
        """(n,) node masses [kg] for an area density [kg/m²]: each triangle gives a third to each vertex."""
        check_density(density, "kg/m²", self.name)
        return shares(self.triangles, density * self.areas, len(self.vertices))


def doubled_area_vectors(vertices: Array, triangles: Array) -> Array:
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    return np.cross(b - a, c - a)


def shares(elements: Array, amounts: Array, n: int) -> Array:
    """(n,) what each node gets when each element shares its amount evenly among its nodes."""
    k = elements.shape[1]
    return np.bincount(elements.ravel(), weights=np.repeat(amounts / k, k), minlength=n)


def frozen(array: Array) -> Array:
    array = array.copy()
    array.flags.writeable = False
    return array


def named(what: str, numbers: Array, elements: Array | None = None) -> str:
    """'face 3 (0, 4, 5), face 7 (…) and 2 more', counted from 0 as in arrays."""
    shown = []
    for number in numbers[:MOST_NAMED]:
        nodes = "" if elements is None else f" {tuple(int(i) for i in elements[number])}"
        shown.append(f"{what} {int(number)}{nodes}")
    more = f" and {len(numbers) - MOST_NAMED} more" if len(numbers) > MOST_NAMED else ""
    return ", ".join(shown) + more


def read_vertices(given: Array, name: str) -> Array:
    try:
        vertices = np.asarray(given, float)
    except (TypeError, ValueError):
        raise TautError(f"mesh '{name}': its vertices are not numbers; give an array of shape (n, 3).") from None
    if vertices.ndim != 2 or vertices.shape[1] != 3:
        raise TautError(f"mesh '{name}': its vertices have shape {vertices.shape}; give three numbers per vertex.")
    wrong = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
    if wrong.size:
        raise TautError(f"mesh '{name}': {named('vertex', wrong)} is not finite "
                        f"({vertices[wrong[0]].tolist()}); give real coordinates.")
    return vertices


def read_elements(given: Array, nodes: int, what: str, n: int, name: str) -> Array:
    elements = np.asarray(given)
    if elements.ndim != 2 or elements.shape[1] != nodes or elements.size == 0:
        raise TautError(f"mesh '{name}': its {what}s have shape {elements.shape}; give at least one, "
                        f"{nodes} vertices each.")
    if not np.issubdtype(elements.dtype, np.integer):
        raise TautError(f"mesh '{name}': its {what}s are of type {elements.dtype}; give whole numbers.")
    elements = elements.astype(np.int64)
    what = "face" if what == "triangle" else what
    outside = np.flatnonzero(((elements < 0) | (elements >= n)).any(axis=1))
    if outside.size:
        raise TautError(f"mesh '{name}': {named(what, outside, elements)} names a vertex that does not exist; "
                        f"the {n} vertices are counted from 0 to {n - 1}.")
    ordered = np.sort(elements, axis=1)
    repeated = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if repeated.size:
        raise TautError(f"mesh '{name}': {named(what, repeated, elements)} names a vertex twice; "
                        "remove what has collapsed.")
    return elements


def refuse_unused(elements: Array, n: int, name: str) -> None:
    unused = np.setdiff1d(np.arange(n), elements)
    if unused.size:
        raise TautError(f"mesh '{name}': {named('vertex', unused)} is on no element and would have no mass; "
                        "remove unused vertices.")


def check_density(density: float, unit: str, name: str) -> None:
    if not np.isfinite(density) or density <= 0:
        raise TautError(f"mesh '{name}': its density is {shown(density)} {unit}; give a positive number.")


def _refuse_flat(vertices: Array, triangles: Array, name: str) -> None:
    corners = vertices[triangles]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    twice = np.linalg.norm(doubled_area_vectors(vertices, triangles), axis=1)
    flat = np.flatnonzero(twice <= 2 * NO_AREA * longest**2)
    if flat.size:
        raise TautError(f"mesh '{name}': {named('face', flat, triangles)} has no area; "
                        "remove it or move its vertices apart.")


def _refuse_twins(triangles: Array, name: str) -> None:
    _, group, count = np.unique(np.sort(triangles, axis=1), axis=0, return_inverse=True, return_counts=True)
    twins = np.flatnonzero(count[group.ravel()] > 1)
    if twins.size:
        raise TautError(f"mesh '{name}': {named('face', twins, triangles)} lie on the same three vertices; keep one.")


def _refuse_fins(triangles: Array, edges: Shared, name: str) -> None:
    bad = np.flatnonzero(edges.number > 2)
    if bad.size:
        a, b = edges.nodes[bad[0]]
        on = np.flatnonzero((triangles == a).any(axis=1) & (triangles == b).any(axis=1))
        more = f" ({bad.size} such edges)" if bad.size > 1 else ""
        raise TautError(f"mesh '{name}': edge ({a}, {b}) belongs to {edges.number[bad[0]]} triangles, "
                        f"{named('face', on, triangles)}{more}; a sheet has at most two on an edge: split it there.")


def _orient(triangles: Array, edges: Shared, name: str) -> Array:
    flip, one_sided = flips_to_orient(triangles, edges)
    if one_sided.any():
        raise TautError(f"mesh '{name}': {named('face', np.flatnonzero(one_sided), triangles)} can not be given a "
                        "front side that agrees with all neighbours (a Möbius strip); cut it open along an edge.")
    if flip.any():
        warn(f"mesh '{name}': {named('face', np.flatnonzero(flip))} faced the other way than their neighbours and "
             "were turned over")
    return np.where(flip[:, None], triangles[:, [0, 2, 1]], triangles)
