"""Joints in series, with nothing of mass between them, as one of taut's.

    slides that are perpendicular, then up to three hinges through one point     serial_joint
    two hinges with axes that do not meet                                        double_hinge
    three slides and three hinges                                                a free body

Two hinges may stand at any angle; of three the second is across the others. A hinge may come before a slide along it.
Files round their angles: axes that miss each other by less than MEET meet, and axes across each other up to ACROSS are
made perpendicular.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .pose import Array
from .tree import Joint

MEET = 1e-5  # m
ACROSS = 1e-4  # of the product of two axes, or of their sine where they are parallel


class Step(NamedTuple):
    """One joint of a series: its axis and place in the last child's frame, while all of the series stand at zero."""

    joint: Joint  # of one coordinate
    axis: Array
    place: Array
    axis_now: Array  # in the file's world, at the start


def in_series(found: Joint, steps: list[Step]) -> bool:
    """Make `found`, whose origin is the last child's frame at zero, of these joints; whether one of taut's is that."""
    kinds = [step.joint.kind for step in steps]
    slides, hinges = ([step for step in steps if step.joint.kind == kind] for kind in ("slider", "hinge"))
    one_line = len(slides) == len(hinges) == 1 and np.linalg.norm(np.cross(slides[0].axis, hinges[0].axis)) < ACROSS
    if not set(kinds) <= {"slider", "hinge"} or not (kinds == sorted(kinds, reverse=True) or one_line):
        return False
    if any(abs(float(a.axis @ b.axis)) >= ACROSS for i, a in enumerate(slides) for b in slides[:i]):
        return False
    ends = _ends([step.place for step in hinges], [step.axis for step in hinges])
    if ends is None or len(slides) > 3 or len(hinges) > 3 or (slides and len(ends) == 2):
        return False
    if len(slides) == len(hinges) == 3:
        found.kind = "free"
        return True
    found.kind = "serial_joint" if len(ends) == 1 else "double_hinge"
    found.anchor, found.anchor_on_parent = ends[-1], ends[0]
    now = [_perpendicular([step.axis_now for step in slides]), _between([step.axis_now for step in hinges])]
    for which, coordinate, some, axes in (("slide", "displacement", slides, now[0]),
                                          ("hinge", "angle", hinges, now[1])):  # fmt: skip
        for k, (step, axis) in enumerate(zip(some, axes), 1):
            found.axes[f"{which}_{k}"] = axis
            step.joint.coordinate = f"{coordinate}_{k}"
            found.along.append(step.joint)
    return True


def _perpendicular(axes: list[Array]) -> list[Array]:
    found: list[Array] = []
    for axis in axes:
        rest = axis - sum((float(axis @ one) * one for one in found), np.zeros(3))
        found.append(rest / np.linalg.norm(rest))
    return found


def _between(axes: list[Array]) -> list[Array]:
    """Of three hinges, the second put across both others, which it is but for rounding."""
    if len(axes) < 3:
        return axes
    middle = np.cross(axes[2], axes[0])
    middle *= np.sign(middle @ axes[1]) / np.linalg.norm(middle)
    return [axes[0], middle, axes[2]]


def _ends(places: list[Array], axes: list[Array]) -> list[Array] | None:
    """Where hinges meet; of two that do not, where each is nearest to the other; else None."""
    if len(places) < 2:
        return places or [np.zeros(3)]
    normal = np.cross(axes[0], axes[1])
    if not np.linalg.norm(normal) > ACROSS:
        return None
    along = np.linalg.solve(np.array([axes[0], -axes[1], normal]).T, places[1] - places[0])
    first, second = places[0] + along[0] * axes[0], places[1] + along[1] * axes[1]
    if np.linalg.norm(first - second) > MEET:
        return [first, second] if len(places) == 2 else None
    if len(places) > 2:
        off = np.linalg.norm(np.cross(first - places[2], axes[2]))
        if off > MEET or max(abs(float(axes[1] @ axes[k])) for k in (0, 2)) > ACROSS or abs(axes[0] @ axes[2]) > 0.999:
            return None
    return [first]
