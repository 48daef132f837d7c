"""Several joints of one MJCF body, which act one after the other, as one of taut's (series.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import TautError
from .series import Step, in_series
from .tree import Joint

if TYPE_CHECKING:
    from .mjcf import _Reader

SLIDE, HINGE = 2, 3  # mjtJoint
KINDS = {SLIDE: "slider", HINGE: "hinge"}


def several(reader: _Reader, found: Joint, joints: list[int]) -> None:
    """Make `found`, whose frame is known, of the joints of these numbers."""
    m, steps = reader.model, []
    for j in joints:
        kind = KINDS.get(int(m.jnt_type[j]), "ball")
        one = Joint(reader.joint(j), str(reader.path), kind, found.parent, found.child)
        if kind in KINDS.values():
            reader.take_coordinate(one, j)
        steps.append(Step(one, m.jnt_axis[j].copy(), m.jnt_pos[j].copy(), reader.data.xaxis[j].copy()))
    if not in_series(found, steps):
        shown = ", ".join(f"'{reader.joint(j)}'" for j in joints)
        number = int(m.jnt_bodyid[joints[0]])
        element = reader.features.body(number, m.body(number).name, m.nbody)
        where = reader.path if element is None else element.where
        raise TautError(f"{where}: body '{reader.body(number)}' has the joints {shown}, which no joint of taut says at "
                        "once; put a body between them.")
    if not found.along:
        reader.check_plain(joints)
    for j, one in zip(joints[1:], (step.joint for step in steps[1:])):
        is_one = f", which is {one.coordinate} of '{found.name}'" if one.coordinate else ""
        reader.drop(f"name of joint '{one.name}'{is_one}", "joint", j)
