"""Meshes from files: .obj, .ply and .off are read here; tetrahedra and other formats through meshio (foreign.py).

Faces with more than three corners are cut into a fan from their first corner.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .. import limits
from ..errors import TautError, shown
from . import meshio_files as foreign
from .mesh import Mesh
from .solid import Solid

_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8",
}  # fmt: skip


def read_mesh(path: str | Path) -> Mesh:
    """A triangle mesh from a file."""
    path = _existing(path)
    readers = {".obj": _read_obj, ".ply": _read_ply, ".off": _read_off}
    if path.suffix.lower() not in readers:
        mesh = foreign.read(path)
        faces = [row for block in mesh.cells if block.type in ("triangle", "quad") for row in block.data]
        vertices = mesh.points
    else:
        try:
            vertices, faces = readers[path.suffix.lower()](limits.read_bytes(path, "mesh_bytes", "mesh file"))
        except (ValueError, IndexError, KeyError, OverflowError) as wrong:
            raise TautError(f"'{path}' could not be read as a mesh: {wrong}; export it again.") from None
    if not faces:
        raise TautError(f"'{path}' has no faces; a cloth is made of triangles or quads.")
    return Mesh(_three(vertices, path), _fan(faces, path), path.name)


def read_solid(path: str | Path) -> Solid:
    """A tetrahedral mesh from a file that meshio reads (.msh, .vtk, .vtu, .mesh, …)."""
    path = _existing(path)
    mesh = foreign.read(path)
    blocks = [block.data for block in mesh.cells if block.type == "tetra"]
    if not blocks:
        kinds = ", ".join(sorted({block.type for block in mesh.cells})) or "nothing"
        raise TautError(f"'{path}' has no tetrahedra (it has {kinds}): a shell has no volume; fill it in a mesher, "
                        "or use it as a cloth.")
    try:
        tetrahedra = np.concatenate(blocks).astype(np.int64)
        if tetrahedra.ndim != 2 or tetrahedra.shape[1] != 4:
            raise ValueError(f"its tetrahedra have the shape {tetrahedra.shape}")
    except (ValueError, TypeError, OverflowError) as wrong:
        raise TautError(f"'{path}' could not be read as a mesh: {wrong}; export it again.") from None
    points = _three(mesh.points, path)
    # meshers leave points of the geometry among the nodes
    used, compact = np.unique(tetrahedra, return_inverse=True)
    if used.size and not (0 <= used[0] and used[-1] < len(points)):
        named = used[0] if used[0] < 0 else used[-1]
        raise TautError(f"'{path}': a tetrahedron names vertex {named}; its {len(points)} vertices are counted from 0.")
    return Solid(points[used], compact.reshape(-1, 4), path.name)


def _existing(path: str | Path) -> Path:
    path = Path(path)
    limits.check("mesh_bytes", limits.regular_size(path, "mesh file"), f"mesh file '{path}'")
    return path


def _three(vertices: Any, path: Path) -> np.ndarray:
    """Three numbers for each vertex; where all have two, the third is 0."""
    try:
        found = np.asarray(vertices, float)
        if found.ndim != 2:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        widths = [len(row) if hasattr(row, "__len__") else 1 for row in vertices]
        odd = next((k for k, width in enumerate(widths) if width != 3), 0)
        said = f"vertex {odd} has {widths[odd]} numbers" if widths else "it has no vertices"
        raise TautError(f"'{path}': {said}; a mesh has vertices of three numbers each.") from None
    return np.column_stack([found, np.zeros(len(found))]) if found.shape[1] == 2 else found


def _fan(faces: list[Any], path: Path) -> np.ndarray:
    short = next((k for k, face in enumerate(faces) if len(face) < 3), None)
    if short is not None:
        raise TautError(f"'{path}': face {short} has {len(faces[short])} corners; a face needs three or more.")
    largest = max((abs(int(corner)) for face in faces for corner in face), default=0)
    if largest >= 2**63:
        raise TautError(f"'{path}': a face names vertex {shown(largest)}, which no mesh has; export it again.")
    return np.array([(f[0], f[i], f[i + 1]) for f in faces for i in range(1, len(f) - 1)], np.int64)


def _read_obj(data: bytes) -> tuple[list[Any], list[Any]]:
    vertices: list[list[float]] = []
    faces: list[list[int]] = []
    for number, line in enumerate(data.decode("utf-8", "replace").replace("\\\n", " ").splitlines(), 1):
        words = line.split("#", 1)[0].split()
        try:
            if words[:1] == ["v"]:
                vertices.append([float(word) for word in words[1:4]])
            elif words[:1] == ["f"]:
                corners = [int(word.split("/")[0]) for word in words[1:]]
                # files count from 1, and negative numbers count back from the last vertex read
                faces.append([c - 1 if c > 0 else len(vertices) + c for c in corners])
        except ValueError as wrong:
            raise ValueError(f"line {number}: {wrong}") from None
    return vertices, faces


def _read_off(data: bytes) -> tuple[Any, list[Any]]:
    lines = (line.split(b"#", 1)[0] for line in data.splitlines())
    words = b" ".join(lines).split()
    if words[:1] != [b"OFF"]:
        raise ValueError("it does not begin with OFF")
    points, polygons = int(words[1]), int(words[2])  # the third number counts edges, and nobody needs it
    at = 4 + 3 * points
    if points < 0 or polygons < 0 or at + polygons > len(words):
        raise ValueError(f"it has {shown(points)} vertices and {shown(polygons)} faces by its header, but not so many "
                         "by its size")
    vertices = [[float(word) for word in words[i : i + 3]] for i in range(4, at, 3)]
    faces = []
    for _ in range(polygons):
        corners = int(words[at])
        if not 0 <= corners < len(words) - at:
            raise ValueError(f"a face has {shown(corners)} corners")
        faces.append([int(word) for word in words[at + 1 : at + 1 + corners]])
        at += 1 + corners
    return vertices, faces


def _read_ply(data: bytes) -> tuple[Any, list[Any]]:
    head, separator, body = data.partition(b"end_header\n")
    if not separator:
        head, separator, body = data.partition(b"end_header\r\n")
    lines = head.decode("ascii", "replace").split("\n")
    if not separator or lines[0].strip() != "ply":
        raise ValueError("it does not begin with a PLY header")
    order, elements = _ply_header(lines)
    words = body.split() if order == "" else []
    at, vertices, faces = 0, [], []
    for name, count, properties in elements:
        # Every row takes a word, or a byte, for each of its properties, so that the file bounds the count.
        left = (len(words) if order == "" else len(body)) - at
        if count < 0 or count * max(1, len(properties)) > left:
            raise ValueError(f"it has {shown(count)} of '{name}' by its header, but ends too early for so many")
        rows = []
        for _ in range(count):
            row: dict[str, Any] = {}
            for label, count_type, kind in properties:
                amount, listed = 1, count_type is not None
                if count_type is not None:
                    (amount,), at = _ply_values(words, body, order, at, count_type, 1)
                if not 0 <= amount <= len(body):  # numpy takes -1 for "all there are"
                    raise ValueError(f"a list of '{name}' has the length {amount:g}")
                values, at = _ply_values(words, body, order, at, kind, int(amount))
                row[label] = values if listed else values[0]
            rows.append(row)
        if name == "vertex":
            vertices = [(row["x"], row["y"], row["z"]) for row in rows]
        elif name == "face":
            faces = [[int(c) for c in row.get("vertex_indices", row.get("vertex_index", ()))] for row in rows]
    return vertices, faces


def _ply_header(lines: list[str]) -> tuple[str, list[tuple[str, int, list[tuple[str, str | None, str]]]]]:
    """Byte order ("" for text) and, per element, its count and properties (name, type of a list's length, type)."""
    order = ""
    elements: list[tuple[str, int, list[tuple[str, str | None, str]]]] = []
    for line in lines:
        words = line.split()
        if words[:1] == ["format"]:
            order = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}[words[1]]
        elif words[:1] == ["element"]:
            elements.append((words[1], int(words[2]), []))
        elif words[:2] == ["property", "list"]:
            elements[-1][2].append((words[4], _TYPES[words[2]], _TYPES[words[3]]))
        elif words[:1] == ["property"]:
            elements[-1][2].append((words[2], None, _TYPES[words[1]]))
    return order, elements


def _ply_values(words: list[bytes], body: bytes, order: str, at: int, kind: str, count: int) -> tuple[Any, int]:
    """The next `count` numbers, and where reading goes on."""
    if order == "":
        if at + count > len(words):
            raise ValueError("it ends too early")
        return [float(word) for word in words[at : at + count]], at + count
    values = np.frombuffer(body, np.dtype(order + kind), count, at)
    return values, at + values.nbytes
