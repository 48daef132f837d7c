"""When a constraint or force is on: by time, by a condition, or from a moment on that a condition chooses.

    on = from_ <= t < until  and  active(q, v, t)  and  (when(q, v, t) was true at some time)          (1)

All that is left out counts as true. Conditions are comparisons of formulas (expressions/condition.py) of t and of
bodies: b.x, b.y, b.z, b.vx, b.vy, b.vz of a particle or of the centre of a rigid body, s and s.v of a coordinate; and
of joints: pin.angle, guide.displacement and what else their coordinates are called, with pin.angle_rate (or pin.rate
where there is one coordinate).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import TautError, unknown
from ..expressions import check_condition, names_in
from ..expressions.formula import CONSTANTS
from ..forces.custom_force import variables
from . import checks
from .joints import coordinates_of, joints
from .specs import Switch

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
    values = {key: arguments.pop(key, None) for key in keys(is_force)}
    read = {key: SWITCH[key][0](value, f"{what}: {written(key)}") for key, value in values.items() if value is not None}
    if not read:
        return None
    if read.keys() == {"ease"}:
        raise TautError(f"{what}: ease is {read['ease']:g} s, but nothing switches it; leave it out, or give from, "
                        "until, active or when.")
    switch = Switch(**read)
    if switch.until is not None and switch.until <= 0.0:
        raise TautError(f"{what}: it is on until {switch.until:g} s, before a run begins, which is never; let until be "
                        "later than 0.")
    if switch.from_ is not None and switch.until is not None and switch.from_ >= switch.until:
        raise TautError(f"{what}: it is on from {switch.from_:g} s until {switch.until:g} s, which is never; let until "
                        "be later than from.")
    for key in ("active", "when"):
        if key in read:
            try:
                _, names = symbols(read[key], scene)
                check_condition(read[key], [*names, "t"])
            except TautError as mistake:
                raise TautError(f"{what}: {key}: {mistake}") from None
    return switch


def both(one: Switch | None, other: Switch | None, what: str) -> Switch | None:
    """On where both are: a contact of a group with an obstacle."""
    if one is None or other is None:
        return one or other
    if one.when and other.when:
        raise TautError(f"{what}: the group and the obstacle both have a condition `when`; leave it to one of them.")
    actives = [switch.active for switch in (one, other) if switch.active]
    return Switch(
        max((s.from_ for s in (one, other) if s.from_ is not None), default=None),
        min((s.until for s in (one, other) if s.until is not None), default=None),
        " and ".join(f"({text})" for text in actives) if len(actives) > 1 else one.active or other.active,
        one.when or other.when, one.ease or other.ease, f"{one.name}|{other.name}",
    )  # fmt: skip


def symbols(condition: str, scene: Scene) -> tuple[list[str], list[str]]:
    """The bodies and joints that a condition names, and what it may say of them: three places each, then rates."""
    bodies = scene._bodies
    places: list[str] = []
    rates: list[str] = []
    own = [name for name in names_in(condition) if name != "t" and (name in bodies or name not in CONSTANTS)]
    for name in own:
        if name in bodies:
            names = variables([(name, bodies[name].kind == "coordinate")])
        elif name in scene._constraints:
            names = _of_joint(name, [coordinate.name for coordinate in coordinates_of(scene, name)])
        else:
            known = [known for known in (*bodies, *joints(scene)) if known.isidentifier()]
            raise TautError(f"{unknown('body or joint', name, known)}")
        places, rates = places + names[:3], rates + names[3:]
    return own, places + rates


def _of_joint(joint: str, coordinates: list[str]) -> list[str]:
    """Three places and three rates: of the coordinates, and one that is alone has its rate twice."""
    spare = [f"unused_{k}" for k in range(len(coordinates), 3)]
    rates = [f"{name}_rate" for name in coordinates] + (["rate", "unused_rate"] if len(coordinates) == 1 else spare)
    return [f"{joint}.{name}" for name in (*coordinates, *spare, *rates)]


def written(key: str) -> str:
    """The word of a scene file, in which `from` needs no underscore."""
    return key.rstrip("_")


def plain(switch: Switch | None) -> dict[str, Any]:
    """The keys of a scene file."""
    if switch is None:
        return {}
    given = {written(key): getattr(switch, key) for key in SWITCH}
    return {key: value for key, value in given.items() if value is not None}
