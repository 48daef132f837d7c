"""The mesh of a cloth or a solid: its nodes, their masses, and which of them springs join."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import geometry, limits

Array = np.ndarray


class Shape(NamedTuple):
    x: Array  # (n, 3) places of the nodes [m]
    masses: Array  # (n,) [kg]
    triangles: Array  # (m, 3); of a solid its surface
    families: dict[str, Array]  # pairs of nodes, the smaller first
    edges: Array  # (e, 2) all edges of the mesh
    cells: tuple[int, int] | None = None  # (nx, ny) of a grid


def read_shape(kind: str, name: str, values: dict[str, Any]) -> Shape:
    """The shape that a deformable's options describe."""
    found = (_cloth if kind == "cloth" else _solid)(name, values)
    limits.check("nodes", len(found.x), f"{kind} '{name}'")
    return found


def _cloth(name: str, values: dict[str, Any]) -> Shape:
    if values["grid"] is not None:
        nx, ny = values["grid"]
        u, v = values["u"] or (1.0, 0.0, 0.0), values["v"] or (0.0, 0.0, 1.0)
        mesh = geometry.grid(nx, ny, values["size"] or (1.0, 1.0), values["origin"], u, v, name=name)
        x = mesh.vertices
    else:
        is_file = values["mesh"] is not None
        mesh = (geometry.read_mesh(values["mesh"]) if is_file
                else geometry.Mesh(values["vertices"], values["triangles"], name))  # fmt: skip
        x = mesh.vertices + np.array(values["origin"])
    joined = (geometry.structural, geometry.shear, geometry.bending)
    families = {pairs.__name__: pairs(mesh) for pairs in joined}
    return Shape(x, mesh.masses(values["density"]), mesh.triangles, families, mesh.edges, mesh.cells)


def _solid(name: str, values: dict[str, Any]) -> Shape:
    if values["box"] is not None:
        nx, ny, nz = values["box"]
        solid = geometry.box(nx, ny, nz, values["size"] or (1.0, 1.0, 1.0), values["origin"], name=name)
        x = solid.vertices
    else:
        is_file = values["mesh"] is not None
        solid = (geometry.read_solid(values["mesh"]) if is_file
                 else geometry.Solid(values["vertices"], values["tetrahedra"], name))  # fmt: skip
        x = solid.vertices + np.array(values["origin"])
    families = {"structural": geometry.structural(solid)}
    return Shape(x, solid.masses(values["density"]), solid.surface, families, solid.edges)
