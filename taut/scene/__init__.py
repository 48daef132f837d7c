"""What the user says: a scene of bodies, constraints and forces, in Python or as a file.

    specs.py      the frozen records that a scene holds; the model is built from them
    scene.py      Scene: adds bodies; bodies.py, shapes.py and checks.py read what was written
    verbs.py      one method of Scene per kind of constraint and force, from the registries
    planes.py     bodies kept in planes;  reduction.py  positions as formulas of reduced coordinates θ: x(θ, t)
    groups.py     obstacles, groups of balls and the pairs that they stand for
    deformables.py  cloth and solids as nodes, springs and edges; materials.py has their options, meshes.py
                  their shapes, pins.py what holds their nodes
    places.py     where points are at t = 0, what formulas call them, and the balls about them
    load.py       scene files: document.py reads YAML, format.py judges its shape, tables.py the arrays
    save.py       writes them, exactly and at once
    open.py       a scene by gallery name, .yaml or .py file; parameters.py reads its parameters
    gallery/      scenes that come with taut
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
