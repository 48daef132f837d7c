"""Several joints of one MJCF body as one of taut's: they act one after the other, with nothing of mass between them.

    slides that are perpendicular, then up to three hinges through one point     serial_joint
    two hinges with axes that do not meet                                        double_hinge
    three slides and three hinges                                                a free body

Two hinges may stand at any angle; of three the second is across the others. A hinge may come before a slide along it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import TautError
from .pose import Array
from .tree import Joint

if TYPE_CHECKING:
    from .mjcf import _Reader

SLIDE, HINGE = 2, 3  # mjtJoint
MEET = 1e-9  # m: lines so close meet


def several(reader: _Reader, found: Joint, joints: list[int]) -> None:
    """Make `found`, whose frame is known, of the joints of these numbers."""
    m = reader.model
    types = [int(m.jnt_type[j]) for j in joints]
    slides, hinges = ([j for j, type_ in zip(joints, types) if type_ == kind] for kind in (SLIDE, HINGE))
    axes = {j: np.array(m.jnt_axis[j]) for j in joints}
    one_line = len(slides) == len(hinges) == 1 and np.linalg.norm(np.cross(axes[slides[0]], axes[hinges[0]])) < 1e-9
    places = [np.array(m.jnt_pos[j]) for j in hinges]
    directions = [axes[j] for j in hinges]
    in_turn = set(types) <= {SLIDE, HINGE} and (joints == slides + hinges or one_line)
    if in_turn and len(slides) == len(hinges) == 3:
        found.kind = "free"
        reader.check_plain(joints)
        return
    across = all(abs(float(axes[i] @ axes[j])) < 1e-9 for i in slides for j in slides if i < j)
    ends = _ends(places, directions) if in_turn and across else None
    if ends is None or (slides and len(ends) == 2):
        raise TautError(_refusal(reader, joints))
    found.kind = "serial_joint" if len(ends) == 1 else "double_hinge"
    found.anchor, found.anchor_on_parent = ends[-1], ends[0]
    numbered = [("slide", "displacement", j, k) for k, j in enumerate(slides, 1)]
    numbered += [("hinge", "angle", j, k) for k, j in enumerate(hinges, 1)]
    for which, coordinate, j, k in numbered:
        found.axes[f"{which}_{k}"] = np.array(reader.data.xaxis[j])
        one = Joint(reader.joint(j), str(reader.path), "hinge" if which == "hinge" else "slider", found.parent,
                    found.child)  # fmt: skip
        one.coordinate = f"{coordinate}_{k}"
        reader.take_coordinate(one, j)
        found.along.append(one)
        if one.name != found.name:
            reader.drop(f"name of joint '{one.name}', which is {one.coordinate} of '{found.name}'", "joint", j)


def _ends(places: list[Array], axes: list[Array]) -> list[Array] | None:
    """Where hinges meet; of two that do not, where each is nearest to the other; else None."""
    if len(places) < 2:
        return places or [np.zeros(3)]
    normal = np.cross(axes[0], axes[1])
    if not np.linalg.norm(normal) > 1e-9:
        return None
    along = np.linalg.solve(np.array([axes[0], -axes[1], normal]).T, places[1] - places[0])
    first, second = places[0] + along[0] * axes[0], places[1] + along[1] * axes[1]
    if np.linalg.norm(first - second) > MEET:
        return [first, second] if len(places) == 2 else None
    if len(places) == 3:
        off = np.linalg.norm(np.cross(first - places[2], axes[2]))
        if off > MEET or max(abs(float(axes[1] @ axes[k])) for k in (0, 2)) > 1e-9 or abs(axes[0] @ axes[2]) > 0.999:
            return None
    return [first]


def _refusal(reader: Any, joints: list[int]) -> str:
    m = reader.model
    shown = ", ".join(f"'{reader.joint(j)}'" for j in joints)
    number = int(m.jnt_bodyid[joints[0]])
    element = reader.features.body(number, m.body(number).name, m.nbody)
    where = reader.path if element is None else element.where
    return (f"{where}: body '{reader.body(number)}' has the joints {shown}, which no joint of taut says at once; put a "
            "body between them.")
