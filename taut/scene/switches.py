"""When a constraint or force is on: by time, by a condition, or from a moment on that a condition chooses.

    on = from_ <= t < until  and  active(q, v, t)  and  (when(q, v, t) was true at some time)          (1)

All that is left out counts as true. Conditions are comparisons of formulas (expressions/condition.py) of t and of
bodies: b.x, b.y, b.z, b.vx, b.vy, b.vz of a particle or of the centre of a rigid body, s and s.v of a coordinate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import TautError, unknown
from ..expressions import check_condition, names_in
from ..expressions.formula import CONSTANTS
from ..forces.custom_force import variables
from . import checks
from .specs import Body, Switch

if TYPE_CHECKING:
    from .scene import Scene

# What every constraint and force takes besides its kind's arguments: reader, meaning.
SWITCH: dict[str, tuple[Callable[[Any, str], Any], str]] = {
    "from_": (checks.number, "on from this time on [s]"),
    "until": (checks.number, "off from this time on [s]"),
    "active": (checks.text, "on while this condition holds, such as 't > 2 and tip.y < 0'"),
    "when": (checks.text, "on from the moment on at which this condition first holds"),
    "ease": (checks.positive, "of a constraint: time over which it is taken over when switched on [s]; default 0.1"),
}
OF_FORCES = ("from_", "until", "active", "when")


def keys(is_force: bool) -> tuple[str, ...]:
    """The words of SWITCH that a constraint or a force takes."""
    return OF_FORCES if is_force else tuple(SWITCH)


def take_switch(scene: Scene, what: str, arguments: dict[str, Any], is_force: bool) -> Switch | None:
    """What switches a constraint or force, taken out of its arguments; None: it is always on."""
    if arguments.keys().isdisjoint(SWITCH):
        return None
    given = {key: arguments.pop(key, None) for key in keys(is_force)}
    read = {key: SWITCH[key][0](value, f"{what}: {written(key)}") for key, value in given.items() if value is not None}
    if not read:
        return None
    if read.keys() == {"ease"}:
        raise TautError(f"{what}: ease is {read['ease']:g} s, but nothing switches it; leave it out, or give from, "
                        "until, active or when.")
    switch = Switch(**read)
    if switch.from_ is not None and switch.until is not None and switch.from_ >= switch.until:
        raise TautError(f"{what}: it is on from {switch.from_:g} s until {switch.until:g} s, which is never; let until "
                        "be later than from.")
    for key in ("active", "when"):
        if key in read:
            try:
                points, names = symbols(read[key], scene._bodies)
                check_condition(read[key], [*names, "t"])
            except TautError as mistake:
                raise TautError(f"{what}: {key}: {mistake}") from None
    return switch


def symbols(condition: str, bodies: Mapping[str, Body]) -> tuple[list[str], list[str]]:
    """The bodies that a condition names, and what it may say of them: places first, then as many velocities."""
    own = [name for name in names_in(condition) if name != "t" and (name in bodies or name not in CONSTANTS)]
    for name in own:
        if name not in bodies:
            known = [body for body in bodies if body.isidentifier()]
            raise TautError(f"{unknown('body', name, known)}")
    return own, variables([(name, bodies[name].kind == "coordinate") for name in own])


def written(key: str) -> str:
    """The word of a scene file, in which `from` needs no underscore."""
    return key.rstrip("_")


def plain(switch: Switch | None) -> dict[str, Any]:
    """The keys of a scene file."""
    if switch is None:
        return {}
    given = {written(key): getattr(switch, key) for key in SWITCH}
    return {key: value for key, value in given.items() if value is not None}
