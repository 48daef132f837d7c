"""Other words of the field for what a scene has: who writes `scene.revolute` or `kind: revolute` is told of 'hinge'.

Kinds declare their own (`synonyms` of Kind and ForceKind); OTHERS are those of what is no kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..constraints import KINDS as CONSTRAINTS
from ..errors import TautError, shown, unknown
from ..forces import KINDS as FORCES

OTHERS = {
    "rigid": ("rigid_body", "body", "part", "multibody", "box", "sphere", "cylinder", "capsule", "rigid_box"),
    "particle": ("point_mass", "mass_point", "node"),
    "coordinate": ("generalized_coordinate", "generalised_coordinate", "dof"),
    "cloth": ("fabric", "membrane"),
    "solid": ("soft_body", "finite_elements"),
    "contacts": ("contact", "collision", "collisions"),
    "obstacle": ("collider", "geom"),
}

# Other words for arguments; of the names beside a word, the first that the kind has is meant.
ARGUMENTS = {
    "axis": ("axis", "normal", "direction"),
    "direction": ("direction", "axis", "normal"),
    "normal": ("normal", "axis"),
    "heading": ("direction",),
    "axis1": ("axis",),
    "axis2": ("axis_2", "axis_b"),
    "lead": ("pitch",),
    "min": ("minimum", "lower"),
    "minimum": ("minimum", "lower"),
    "lower": ("lower", "minimum"),
    "max": ("maximum", "upper"),
    "maximum": ("maximum", "upper"),
    "upper": ("upper", "maximum"),
    "k": ("stiffness",),
    "kp": ("stiffness",),
    "kd": ("damping",),
    "c": ("damping",),
    "kv": ("gain",),
    "rest": ("rest", "length"),
    "restlength": ("length", "rest"),
    "length": ("length", "rest"),
    "r": ("radius",),
    "frequency": ("rate",),
    "hz": ("rate",),
    "controller": ("function",),
    "speed": ("velocity", "rate"),
    "omega": ("angular_velocity", "velocity", "rate"),
    "position": ("position", "target"),
    "effort": ("limit", "torque"),
    "n": ("ratio",),
    "start": ("from_", "from"),
    "end": ("until",),
}


def synonyms() -> dict[str, tuple[str, ...]]:
    """Of each name of a scene's method or kind its other words."""
    of_constraints = {kind.name: kind.synonyms for kind in CONSTRAINTS.values()}
    return of_constraints | {kind.name: kind.synonyms for kind in FORCES.values()} | OTHERS


def plain(word: str) -> str:
    """A word without what libraries put around it: AddRevoluteJoint, joint_revolute and revolute are one."""
    bare = re.sub(r"[^a-z0-9]", "", word.lower()).removeprefix("add").removeprefix("create")
    for around in ("joint", "constraint"):
        bare = bare.removesuffix(around).removeprefix(around) or bare
    return bare


def meant(word: str, known: Iterable[str] | None = None) -> str | None:
    """The name that is meant by a word; known: the names that may be meant, default: all."""
    allowed = None if known is None else set(known)
    for name, words in synonyms().items():
        if (allowed is None or name in allowed) and plain(word) in map(plain, (name, *words)):
            return name
    return None


def unknown_argument(word: str, known: Iterable[str], what: str = "argument") -> TautError:
    """The error for an argument that a kind does not have, with the name that is meant where that is known."""
    allowed = sorted(known)
    named = ARGUMENTS.get(re.sub(r"[^a-z0-9]", "", word.lower()), ()) if isinstance(word, str) else ()
    name = next((name for name in named if name in allowed), None)
    if name is None or name == word:
        return unknown(what, word, allowed)
    return TautError(f"unknown {what} '{shown(word)[1:-1]}'; here it is '{name}'. Known: {', '.join(allowed)}.")
