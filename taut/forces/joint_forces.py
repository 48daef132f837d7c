"""What forces on the coordinates of joints have in common.

A coordinate q of a joint is a function of three points (joints/coordinates.py); a generalized force Q on it acts on
them with Q ∂q/∂x and has the power Q q̇. The kernels find the four points of a coordinate (the last is its counter)
first among their own.
"""

from __future__ import annotations

from typing import Any

from ..constraints.base import Argument, Coordinate
from ..joints.coordinates import TYPES
from ..joints.selection import COORDINATE, coordinate_of
from .base import ForceKind

JOINT = Argument("joint", "joint", "the joint that it acts on", required=True)
SIZES = (
    Argument("torque", "number", "on a joint that turns [N m]"),
    Argument("force", "number", "on a joint that slides [N]"),
)


def acted_on(arguments: dict[str, Any]) -> tuple[Coordinate, Any]:
    """The coordinate, and the torque or force on it if one is given: torques act on angles, forces on displacements."""
    given = [name for name in ("torque", "force") if arguments.get(name) is not None]
    if len(given) == 2:
        raise ValueError("it has a torque and a force; give the one that belongs to its joint")
    wanted = {"torque": "angle", "force": "displacement"}[given[0]] if given else None
    coordinate = coordinate_of(arguments, "joint", wanted)
    if wanted is not None and coordinate.quantity != wanted:
        right = "torque" if coordinate.turns else "force"
        raise ValueError(f"its {given[0]} is given, but '{coordinate.name}' of joint '{arguments['joint']}' is "
                         f"{'an angle' if right == 'torque' else 'a displacement'}; give {right}")
    return coordinate, arguments[given[0]] if given else None


def not_negative(arguments: dict[str, Any], *names: str) -> None:
    """Refuse negative constants."""
    for name in names:
        value = arguments[name]
        size = value if isinstance(value, float | int | None) else value.value if value.is_constant else 0.0
        if size is not None and size < 0:
            raise ValueError(f"its {name} is {size:g}; it must not be negative")


def code(coordinate: Coordinate) -> int:
    """The number of its type in kernels."""
    return TYPES[coordinate.type]


def joint_force(name: str, doc: str, arguments: tuple[Argument, ...], **others: Any) -> ForceKind:
    """The kind of a force on a joint's coordinate; others: as of ForceKind."""
    return ForceKind(
        name=name, doc=doc, points=(), arguments=(JOINT, *arguments, COORDINATE), joints=("joint",), **others
    )
