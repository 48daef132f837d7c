"""Meshes and what is near what: positions x [m] of shape (n, 3) and index arrays; scenes are not known here.

    mesh.py             Mesh: triangles, checked; edges, areas, node masses
    solid.py            Solid: tetrahedra, checked; edges, volumes, node masses, surface
    mesh_generators.py  grid(...) and box(...)
    mesh_files.py       read_mesh: .obj, .ply, .off; read_solid: .msh, .vtk and what else meshio reads
    meshio_files.py     files that meshio reads, in a process of its own
    topology.py         edges, neighbours, orientation, connected parts; no knowledge of meshes
    spring_pairs.py     which nodes structural, shear and bending springs join

    closest_points.py   closest points of node and triangle, edge and edge         ┐ compiled;
    spatial_hash.py     cells of a grid without bounds, found through buckets      │ import these
    swept_pairs.py      broad phase of moving elements: boxes around their paths   │ modules by
    ball_pairs.py       broad phase of balls: pairs within reach                   │ name: they
    ccd.py              continuous collision detection of one pair                 │ load numba
    proximity.py        contact rows of surfaces as they stand, each contact once  │
    ccd_filter.py       step filter: how far each node may go without a collision  │
    intersections.py    which triangles intersect                                  ┘
"""

from __future__ import annotations

from .mesh import Mesh
from .mesh_files import read_mesh, read_solid
from .mesh_generators import box, grid
from .solid import Solid
from .spring_pairs import bending, shear, structural

__all__ = ["Mesh", "Solid", "bending", "box", "grid", "read_mesh", "read_solid", "shear", "structural"]
