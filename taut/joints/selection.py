"""Which coordinate of a joint is meant, and its target."""

from __future__ import annotations

from typing import Any

from ..constraints.base import Argument, Coordinate

COORDINATE = Argument("coordinate", "text", "which coordinate of the joint, such as angle_1; default: its first")
TARGETS = (
    Argument("angle", "number", "of a joint that turns: its angle [rad], a function of time"),
    Argument("displacement", "number", "of a joint that slides: its displacement [m], a function of time"),
    Argument("value", "number", "of any coordinate: its value [rad or m], a function of time"),
)


def coordinate_of(arguments: dict[str, Any], joint: str = "joint", type_: str | None = None) -> Coordinate:
    """The coordinate that the user names, or the joint's first (of a type)."""
    known = arguments["joints"][joint]
    name = arguments.get("coordinate" if joint in ("joint", "first") else f"coordinate_{joint}")
    shown = ", ".join(coordinate.name for coordinate in known)
    if name is not None:
        for coordinate in known:
            if coordinate.name == name:
                return coordinate
        raise ValueError(f"joint '{arguments[joint]}' has no coordinate '{name}'; it has {shown}")
    for coordinate in known:
        if type_ is None or coordinate.quantity == type_:
            return coordinate
    raise ValueError(f"joint '{arguments[joint]}' has no {type_}; it has {shown}")


def chosen_target(arguments: dict[str, Any], what: str) -> tuple[Coordinate, Any]:
    """The coordinate and what it shall be, of exactly one of angle, displacement and value."""
    given = [name for name in ("angle", "displacement", "value") if arguments[name] is not None]
    if len(given) != 1:
        raise ValueError(f"it has {' and '.join(given) if given else 'no target'}; give one of angle, displacement or "
                         f"value for its joint to {'follow' if what == 'drive' else 'be held at'}")
    type_ = None if given[0] == "value" else given[0]
    coordinate = coordinate_of(arguments, "joint", type_)
    if type_ is not None and coordinate.quantity != type_:
        raise ValueError(f"its {type_} is given, but '{coordinate.name}' of joint '{arguments['joint']}' is "
                         f"{'an angle' if coordinate.turns else 'a displacement'}; give value")
    return coordinate, arguments[given[0]]
