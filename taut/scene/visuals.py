"""What a body or the world looks like beside what gives inertia: shapes and meshes, each at its place and in a colour.

    x_body = R(orientation) x + offset          of a visual's own places x [m]                        (1)

A mesh is read from its file once, when it is given; from then on its triangles are data, so that a saved scene and a
stored run need the file no more. No motion depends on any of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import limits
from ..errors import TautError, shown, unknown
from ..shapes import SOLIDS
from . import checks
from .mesh_colors import joined, mesh_by_color
from .shapes import read_shape
from .solids import read_mesh
from .specs import Vector

Array = np.ndarray
Mesh = tuple[Array, Array]
PLACE = ("offset", "orientation", "color")
FORMS = {**{kind: () for kind in SOLIDS}, "mesh": ("scale",), "vertices": ("triangles",)}
CREASE = np.cos(np.radians(35.0))  # of a mesh in a file: edges that bend more are drawn as edges


@dataclass(frozen=True, eq=False)
class Visual:
    """A shape (kind, sizes [m]) or a mesh: vertices (n, 3) [m] and triangles (m, 3); color is "#rrggbb" or None."""

    shape: tuple[str, tuple[float, ...]] | None = None
    vertices: Array | None = None
    triangles: Array | None = None
    offset: Vector = (0.0, 0.0, 0.0)
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    color: str | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Visual) and all(
            np.array_equal(mine, its) if isinstance(mine, np.ndarray) else mine == its
            for mine, its in zip(vars(self).values(), vars(other).values())
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.offset, self.orientation, self.color))

    def mesh(self) -> Mesh:
        """(1): its triangles in the body's frame."""
        from scipy.spatial.transform import Rotation

        if self.shape is not None:
            vertices, triangles = SOLIDS[self.shape[0]].triangles(*self.shape[1])  # type: ignore[misc]
        else:
            vertices, triangles = self.vertices, self.triangles
        w, x, y, z = self.orientation
        return Rotation.from_quat([x, y, z, w]).apply(vertices) + self.offset, np.asarray(triangles)

    def plain(self) -> dict[str, Any]:
        """As users write it; meshes as arrays."""
        form: dict[str, Any] = {"vertices": self.vertices, "triangles": self.triangles}
        if self.shape is not None:
            form = {self.shape[0]: list(self.shape[1])}
        form |= {"offset": list(self.offset)} if any(self.offset) else {}
        form |= {"orientation": list(self.orientation)} if self.orientation != Visual.orientation else {}
        return form | ({"color": self.color} if self.color is not None else {})


def read_visuals(given: Any, what: str) -> tuple[Visual, ...]:
    """One dictionary or a list of them."""
    return tuple(visual for one in listed(given, what) for visual in _read(one, what))


def judge(given: Any, what: str) -> None:
    """All that can be told before files and arrays are opened."""
    for one in listed(given, what):
        form = _form(one, what)
        _place(one, what)
        if form in SOLIDS:
            read_shape({form: one[form]}, what)
        elif form == "mesh":
            checks.text(one["mesh"], f"{what}: mesh")


def listed(given: Any, what: str) -> list[dict[str, Any]]:
    found = [given] if isinstance(given, dict) else given
    if not isinstance(found, list | tuple) or not all(isinstance(one, dict) for one in found):
        raise TautError(f"{what} is {shown(given)}; give {{'box': (x, y, z)}}, {{'mesh': file}} or a list of such, "
                        "each with offset, orientation and color where they are wanted.")
    return list(found)


def _form(one: dict[str, Any], what: str) -> str:
    forms = [key for key in one if key in FORMS]
    if len(forms) != 1:
        strange = next((str(key) for key in one if key not in (*FORMS, *PLACE, "scale", "triangles")), None)
        if strange is not None:
            raise TautError(f"{what}: {unknown('key', strange, FORMS)}")
        raise TautError(f"{what} has {' and '.join(forms) or 'no shape'}; give one of {', '.join(FORMS)}.")
    for key in one:
        if key not in (*forms, *FORMS[forms[0]], *PLACE):
            raise TautError(f"{what}: {unknown('key', str(key), (*FORMS[forms[0]], *PLACE))}")
    return forms[0]


def _place(one: dict[str, Any], what: str) -> dict[str, Any]:
    place: dict[str, Any] = {"offset": checks.vector(one.get("offset", (0.0, 0.0, 0.0)), f"{what}: offset")}
    place["orientation"] = checks.quaternion(one.get("orientation", Visual.orientation), f"{what}: orientation")
    return place | {"color": None if one.get("color") is None else read_color(one["color"], what)}


def read_color(given: Any, what: str) -> str:
    """ "#rrggbb", or red, green and blue from 0 to 1, as "#rrggbb"."""
    if isinstance(given, str):
        if len(given) == 7 and given[0] == "#" and all(c in "0123456789abcdef" for c in given[1:].lower()):
            return given.lower()
    elif isinstance(given, tuple | list) and len(given) in (3, 4):
        rgb = checks.vector(given[:3], f"{what}: color")
        if all(0.0 <= part <= 1.0 for part in rgb):
            return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)
    raise TautError(f"{what}: color is {shown(given)}; give '#rrggbb', or red, green and blue from 0 to 1.")


def _read(one: dict[str, Any], what: str) -> list[Visual]:
    form, place = _form(one, what), _place(one, what)
    if form == "vertices":
        vertices, triangles = _arrays(one["vertices"], one.get("triangles"), what)
        return [Visual(None, vertices, triangles, **place)]
    if form == "mesh":
        parts = mesh_file(one["mesh"], one.get("scale", 1.0), what, place["color"])
        return [Visual(None, vertices, triangles, **{**place, "color": color}) for color, vertices, triangles in parts]
    return [Visual(read_shape({form: one[form]}, what), **place)]


def _arrays(vertices: Any, triangles: Any, what: str) -> Mesh:
    try:
        places, faces = np.array(vertices, float), np.array(triangles)
    except (ValueError, TypeError):
        places = faces = np.zeros(0)
    if not (places.ndim == faces.ndim == 2 and places.shape[1] == faces.shape[1] == 3 and len(faces)
            and np.issubdtype(faces.dtype, np.integer) and np.isfinite(places).all()):  # fmt: skip
        raise TautError(f"{what}: give vertices as rows of three numbers [m], and triangles as rows of three numbers "
                        "of vertices, counted from 0.")
    if faces.min() < 0 or faces.max() >= len(places):
        wrong = faces.min() if faces.min() < 0 else faces.max()
        raise TautError(f"{what}: its triangles name vertex {wrong}, but there are {len(places)}, counted from 0.")
    return places, faces.astype(np.int64)


def mesh_file(file: Any, scale: Any, what: str, color: str | None = None) -> list[tuple[str | None, Array, Array]]:
    """Color, vertices [m] and triangles of each part of a mesh file, along its own axes; scale: one number or three;
    color: of all, in place of the file's own."""
    if not isinstance(file, str | Path):
        raise TautError(f"{what}: its mesh is {shown(file)}; give the name of a file (.obj, .stl, .ply, .off).")
    path = Path(file)
    factors = checks.numbers(scale, f"{what}: scale")
    if len(factors) not in (1, 3) or not all(factors):
        raise TautError(f"{what}: scale is {shown(scale)}; give one number or three, none of them 0.")
    limits.check("mesh_bytes", limits.regular_size(path, f"mesh file of {what}"), f"mesh file '{path}'")
    if color is None:
        parts = mesh_by_color(path, what)
    else:
        mesh = read_mesh(path, what)
        parts = [(color, np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64))]
    # A reflection turns triangles inside out.
    order = -1 if np.prod(factors) * (1 if len(factors) == 3 else factors[0] ** 2) < 0 else 1
    found = []
    for own, vertices, triangles in parts:
        places, faces = _arrays(vertices * np.array(factors), triangles[:, ::order], f"{what}: mesh '{path}'")
        found.append((own, *creased(places, faces)))
    return found


def creased(vertices: Array, triangles: Array) -> Mesh:
    """The same triangles, with vertices shared where the surface is smooth and repeated at its edges.

    Corners of triangles are one vertex where the triangles share an edge there and bend by less than CREASE.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    _, same = np.unique(vertices, axis=0, return_inverse=True)
    joined = same.reshape(-1)[triangles]
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    flat = np.cross(b - a, c - a)
    normals = flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-300)
    # An edge is two corners, of which the first has the smaller vertex.
    corners = np.arange(3 * len(triangles)).reshape(-1, 3)[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    ends = joined.reshape(-1)[corners]
    corners = np.where((ends[:, 0] > ends[:, 1])[:, None], corners[:, ::-1], corners)
    ends = np.sort(ends, axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    first, second = order[:-1], order[1:]
    one, other = corners[first], corners[second]
    smooth = (ends[first] == ends[second]).all(axis=1)
    smooth &= np.einsum("ei,ei->e", normals[one[:, 0] // 3], normals[other[:, 0] // 3]) > CREASE
    rows, columns, count = one[smooth].reshape(-1), other[smooth].reshape(-1), 3 * len(triangles)
    graph = coo_array((np.ones(len(rows), bool), (rows, columns)), (count, count))
    found, label = connected_components(graph, directed=False)
    places = np.empty((found, 3))
    places[label] = vertices[triangles.reshape(-1)]
    return places, label.reshape(-1, 3).astype(np.int64)


def fused(visuals: Iterable[Visual]) -> Iterator[tuple[str | None, Array, Array]]:
    """The visuals of a body as one mesh for each colour: color, vertices in the body's frame and triangles."""
    alike: dict[str | None, list[Mesh]] = {}
    for visual in visuals:
        alike.setdefault(visual.color, []).append(visual.mesh())
    for color, meshes in alike.items():
        yield (color, *joined(meshes))
