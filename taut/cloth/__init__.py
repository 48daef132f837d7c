"""Deformable sheets and solids as arrays: meshes, springs, the known ways to step them, and collisions.

    mesh.py       Mesh: triangles, checked; edges, areas, node masses
    solid.py      Solid: tetrahedra, checked; edges, volumes, node masses, surface
    shapes.py     grid(...) and box(...)
    files.py      read_mesh: .obj and .ply; read_solid: .msh, .vtk and what else meshio reads
    topology.py   edges, neighbours, orientation, connected parts; no knowledge of meshes
    pairs.py      which nodes structural, shear and bending springs join

    springs.py    Springs: arrays of springs, and their two-phase force            ┐ compiled;
    explicit.py   springs alone: symplectic Euler, Adams-Bashforth 2               │ import these
    provot.py     springs, then over-long ones cut back by moving nodes            │ modules by
    xpbd.py       springs as compliant position constraints                        │ name: they
    implicit.py   one linear system for all springs (Baraff-Witkin)                │ load numba
    closest.py    closest points of node and triangle, edge and edge               │
    boxes.py      which of them come near during a step                            │
    ccd.py        when they first touch                                            │
    proximity.py  rows of contact: what is near now, each contact once             │
    safe.py       how far each node may go so that nothing passes through          │
    crossings.py  which triangles cross                                            ┘

Everything works on positions x [m] and velocities v [m/s], shape (n, 3), and inverse masses w [1/kg],
shape (n,), where 0 means that nothing but its own velocity moves a node. Scenes are not known here.
"""

from __future__ import annotations

from .files import read_mesh, read_solid
from .mesh import Mesh
from .pairs import bending, shear, structural
from .shapes import box, grid
from .solid import Solid

__all__ = ["Mesh", "Solid", "bending", "box", "grid", "read_mesh", "read_solid", "shear", "structural"]
