"""Other words of the field for what a scene has: who writes `scene.revolute` or `kind: revolute` is told of 'hinge'.

Kinds declare their own (`synonyms` of Kind and ForceKind); OTHERS are those of what is no kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..constraints import KINDS as CONSTRAINTS
from ..forces import KINDS as FORCES

OTHERS = {
    "rigid": ("rigid_body", "body", "part", "multibody"),
    "particle": ("point_mass", "mass_point", "node"),
    "coordinate": ("generalized_coordinate", "generalised_coordinate", "dof"),
    "cloth": ("fabric", "membrane"),
    "solid": ("soft_body", "finite_elements"),
    "contacts": ("contact", "collision", "collisions"),
    "obstacle": ("collider", "geom"),
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
