"""Meshes and proximity: positions x [m] of shape (n, 3) and index arrays. This package knows no scenes.

    r = Σ a_k x_k,  d = |r|,  n = r/d      closest_points.py: gap and normal of node-triangle and edge-edge, weights a_k
    d(x(t)) ≥ η d(x₀)  for 0 ≤ t ≤ 1       ccd.py (one pair), ccd_filter.py: the fraction φ of a move that is safe
    cell = ⌊x / size⌋                      spatial_hash.py: the one broad phase behind all searches

    mesh.py, solid.py   Mesh: triangles; Solid: tetrahedra; checked, with edges, areas, volumes, node masses
    mesh_generators.py  grid(...) and box(...);  mesh_files.py, meshio_files.py  reading files
    topology.py         edges, neighbours, orientation, connected parts;  spring_pairs.py  which nodes springs join

    swept_pairs.py      broad phase of moving elements: boxes around their paths;  ball_pairs.py  of balls
    proximity.py        contact rows of surfaces as they stand, each contact once
    intersections.py    which triangles intersect

Import compiled modules (closest points, hash, pairs, CCD, proximity, intersections) by name: they load numba.
"""

from __future__ import annotations

from .mesh import Mesh
from .mesh_files import read_mesh, read_solid
from .mesh_generators import box, grid
from .solid import Solid
from .spring_pairs import bending, shear, structural

__all__ = ["Mesh", "Solid", "bending", "box", "grid", "read_mesh", "read_solid", "shear", "structural"]
