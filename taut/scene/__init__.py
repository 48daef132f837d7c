"""What the user says: a scene of bodies, constraints and forces, in Python or as a file.

    q, v at t = 0      specs.Body.position, .orientation, .velocity, .angular_velocity
    M                  Body.mass [kg], Body.inertia [kg m²]
    Φ, f               specs.Constraint, specs.Force: kind, points and arguments; the kinds know the formulas
    x(θ, t)            specs.ReducedMap: positions as formulas of reduced coordinates (reduction.py)
    g                  Scene.gravity [m/s²]; SI units, y is up

    specs.py      the frozen records of a scene; the model is built from them
    scene.py      Scene: what users call; bodies.py, shapes.py and checks.py read what was written
    scene_records.py  SceneRecords: the records by name and in order; names of new ones
    verbs.py      one method of Scene per kind of constraint and force, from the registries;  joints.py
    switches.py   when constraints, forces and contacts are on
    groups.py     obstacles, groups of balls and the pairs that they stand for;  planes.py  bodies kept in planes
    deformables.py  cloth and solids as nodes, springs and edges; materials.py, meshes.py, solids.py, pins.py
    visuals.py    visuals of bodies and of the world, without effect on motion: shapes, meshes;  mesh_colors.py
    places.py     where points are at t = 0, what formulas call them, and the balls about them
    load.py       scene files: document.py, entries.py read YAML, format.py and schema.py judge it, tables.py arrays
    save.py       writes them, exactly and at once;  open.py  a scene by gallery name or file;  parameters.py
    gallery/, robots/   scenes that come with taut; scenes from URDF and MJCF
"""

from __future__ import annotations

from .gallery import SCENES, gallery
from .load import load
from .open import load_python, open_scene
from .parameters import parse_parameters
from .scene import Scene
from .schema import schema
from .specs import Body, BodyRef, Constraint, Deformable, Force, Group, Obstacle, Point, ReducedMap, Ref

__all__ = [
    "SCENES",
    "Body",
    "BodyRef",
    "Constraint",
    "Deformable",
    "Force",
    "Group",
    "Obstacle",
    "Point",
    "ReducedMap",
    "Ref",
    "Scene",
    "gallery",
    "load",
    "load_python",
    "open_scene",
    "parse_parameters",
    "schema",
]
