"""One method of Scene per registered kind of constraint and force, and how they read points.

A point is a body, its name, `body.at((x, y, z))` on a rigid body, or three numbers: a place in the world.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from ..constraints import KINDS as CONSTRAINTS
from ..constraints import Kind, Layout
from ..errors import TautError, shown, unknown, warn
from ..expressions import Signal
from ..forces import KINDS as FORCES
from ..forces import ForceKind
from . import checks
from .joints import about
from .places import places
from .specs import BodyRef, Constraint, Force, Point, Ref
from .switches import SWITCH, keys, take_switch
from .synonyms import unknown_argument

if TYPE_CHECKING:
    from .scene import Scene

_PLACES = (tuple, list, np.ndarray)
# What every constraint takes besides its kind's arguments: default, reader, meaning.
INEQUALITY: dict[str, tuple[Any, Callable[[Any, str], Any], str]] = {
    "sense": (None, checks.sense, "'==': Φ = 0, '>=': Φ ≥ 0, '<=': Φ ≤ 0"),
    "restitution": (0.0, checks.fraction, "of an inequality: speed after an impact over speed before, 0 to 1"),
    "friction": (0.0, checks.not_negative, "of a contact: Coulomb's coefficient"),
}


def add_verbs(scene_class: type) -> type:
    """Give the class a method for every registered kind."""
    kinds: list[Kind | ForceKind] = [*CONSTRAINTS.values(), *FORCES.values()]
    for kind in kinds:
        setattr(scene_class, kind.name, _verb(kind))
    return scene_class


def _verb(kind: Kind | ForceKind) -> Callable:
    def verb(self: Scene, *points: Any, name: str | None = None, **arguments: Any) -> Ref:
        return add(self, kind, points, arguments, name)

    verb.__name__ = kind.name
    verb.__qualname__ = f"Scene.{kind.name}"
    lines = [kind.doc, ""] + [f"{argument.name}: {argument.doc}" for argument in kind.arguments]
    if isinstance(kind, Kind):
        lines += [f"{name}: {doc}" for name, (_, _, doc) in INEQUALITY.items()]
    lines += [f"{name}: {SWITCH[name][1]}" for name in keys(isinstance(kind, ForceKind))]
    verb.__doc__ = "\n".join(lines).rstrip()
    verb.__signature__ = _signature(kind)  # type: ignore[attr-defined]
    return verb


def _signature(kind: Kind | ForceKind) -> inspect.Signature:
    Parameter = inspect.Parameter
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    if kind.points is None:
        parameters.append(Parameter("points", Parameter.VAR_POSITIONAL))
    elif kind.joints:
        parameters += [Parameter(which, Parameter.POSITIONAL_OR_KEYWORD) for which in kind.joints]
    else:
        needed = len(kind.points) - getattr(kind, "points_optional", 0)
        for i, point in enumerate(kind.points):
            default = Parameter.empty if i < needed else None
            parameters.append(Parameter(point, Parameter.POSITIONAL_OR_KEYWORD, default=default))
    for argument in kind.arguments:
        if argument.type == "joint":
            continue
        default = Parameter.empty if argument.required else argument.default
        parameters.append(Parameter(argument.name, Parameter.KEYWORD_ONLY, default=default))
    if isinstance(kind, Kind):
        for name, (usual, _, _) in INEQUALITY.items():
            usual = kind.sense if name == "sense" else usual
            parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=usual))
    for name in keys(isinstance(kind, ForceKind)):
        parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=None))
    parameters.append(Parameter("name", Parameter.KEYWORD_ONLY, default=None))
    return inspect.Signature(parameters)


def add(
    scene: Scene, kind: Kind | ForceKind, points: Sequence[Any], arguments: dict[str, Any], name: str | None
) -> Ref:
    """Check a constraint or force and add it to the scene."""
    name = scene._new_name(name, kind.name, scene._constraints, scene._forces)
    what = f"{kind.name} '{name}'"
    if kind.points is not None and not arguments.keys().isdisjoint(kind.points):
        _check_once(what, kind.points[: len(points)], arguments)
        arguments = dict(arguments)
        points = [*points, *(arguments.pop(p) for p in kind.points[len(points):] if p in arguments)]
    if kind.joints:
        arguments, points = _named_joints(kind, what, points, arguments), ()
    read = read_points(scene, what, points)
    _check_points(scene, kind, what, read)
    switch = take_switch(scene, what, arguments, isinstance(kind, ForceKind))
    inequality = _take_inequality(kind, what, arguments) if isinstance(kind, Kind) else None
    values = read_arguments(kind, what, arguments)
    start = places(read, scene._bodies)
    try:
        asked = about(scene, kind, name, read, values)
    except TautError as mistake:
        raise TautError(f"{what}: {mistake}") from None
    layout = try_pack(kind, what, start, asked, read)
    doubt = kind.doubt(asked) if isinstance(kind, Kind) and kind.doubt is not None else ""
    if doubt:
        warn(f"{what}: {doubt}")
    if isinstance(kind, Kind) and inequality is not None:
        if inequality[0] != "==" and (layout.level or kind.level) == "velocity":
            raise TautError(f"{what}: sense is '{inequality[0]}', but it is a condition on velocities, which is always "
                            "an equality; leave it out.")
        if inequality[0] == "==" and switch is None:
            _check_possible(scene, kind, what, read, start, values)
        return scene._add(Constraint(kind.name, name, read, values, *inequality, where=scene._where,
                                     switch=switch))
    return scene._add(Force(kind.name, name, read, values, scene._where, switch=switch))


def _named_joints(kind: Kind | ForceKind, what: str, given: Sequence[Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with the joints that were given by position."""
    if len(given) > len(kind.joints):
        raise TautError(f"{what} has {len(given)} arguments without a name; it takes {', '.join(kind.joints)}."
                        f"{_by_name(kind, given[len(kind.joints):])}")
    _check_once(what, kind.joints[: len(given)], arguments)
    return dict(zip(kind.joints, given)) | arguments


def _check_once(what: str, given: Sequence[str], arguments: dict[str, Any]) -> None:
    """Refuse what is given by its place and by its name."""
    if twice := next((which for which in given if which in arguments), None):
        raise TautError(f"{what}: {twice} is given twice, by its place and by its name; give it once.")


def _by_name(kind: Kind | ForceKind, extra: Sequence[Any]) -> str:
    """What to do with arguments beyond those that need no name."""
    names = [argument.name for argument in kind.arguments if argument.type != "joint"]
    functions = [argument.name for argument in kind.arguments if argument.type == "function"]
    if functions and callable(extra[0]):
        name = getattr(extra[0], "__name__", "")
        return f" Give the function by name: {functions[0]}={name if name.isidentifier() else '...'}."
    return f" Give all others by name: {'=, '.join(names)}=." if names else ""


def try_pack(
    kind: Kind | ForceKind, what: str, start: np.ndarray, values: dict[str, Any], points: Sequence[Point] = ()
) -> Layout:
    """Let the kind judge its arguments; numbers whose squares or products are beyond a float are refused."""
    try:
        found = kind.pack(start, values)
        parameters = [*found.parameters, *(p for part in getattr(found, "parts", ()) for p in part.parameters)]
        numbers = (p.source if isinstance(p, Signal) else p for p in parameters)
        never = isinstance(kind, ForceKind) and kind.may_be_infinite
        if not all(isfinite(p) or (never and p == inf) for p in numbers if isinstance(p, float | int)):
            raise OverflowError
        return found
    except (ValueError, TautError, ArithmeticError) as mistake:
        are_all = not (kind.points or kind.joints)
        where = f" on {', '.join(map(spoken, points)) or 'all bodies'}" if points or are_all else ""
        if isinstance(mistake, ArithmeticError):
            mistake = TautError("its numbers are too large or too small to compute with; give places and sizes "
                                "whose squares a float can hold")
        raise TautError(f"{what}{where}: {mistake}") from None


def _take_inequality(kind: Kind, what: str, arguments: dict[str, Any]) -> tuple[str, float, float]:
    """Sense, restitution and friction, taken out of the arguments."""
    if arguments.keys().isdisjoint(INEQUALITY):
        return kind.sense, 0.0, 0.0
    given = {name: arguments.pop(name, None) for name in INEQUALITY}
    sense, restitution, friction = (
        default if given[name] is None else reader(given[name], f"{what}: {name}")
        for name, (default, reader, _) in INEQUALITY.items()
    )
    sense = kind.sense if sense is None else sense
    if sense != "==" and kind.frames and kind.rows != 1 and kind.level == "position":
        raise TautError(f"{what}: sense is '{sense}', but a {kind.name} holds several rows together, always as "
                        "equalities; leave it out, and bound the joint's coordinate by joint_limit.")
    if kind.sense != "==" and sense != kind.sense:
        raise TautError(f"{what}: sense is '{sense}', but {kind.name} always means '{kind.sense}'; leave it out.")
    if kind.rechart is not None and sense != "==":
        raise TautError(f"{what}: sense is '{sense}', but the rows of {kind.name} change their meaning on the way; "
                        "use angle instead.")
    for name, value in (("restitution", restitution), ("friction", friction)):
        if sense == "==" and value:
            raise TautError(f"{what}: {name} is {value:g}, but it is an equality, which never meets or parts; "
                            "leave it out, or give sense '>=' or '<='.")
    if friction:
        check_friction(kind, what, friction)
    return sense, restitution, friction


def check_friction(kind: Kind, what: str, friction: float) -> None:
    """Friction needs a surface with a normal."""
    if not kind.contact:
        known = ", ".join(k.name for k in CONSTRAINTS.values() if k.contact)
        raise TautError(f"{what}: friction is {friction:g}, but {kind.name} is not the contact of a surface; "
                        f"leave it out, or use one of {known}.")


def read_points(scene: Scene, what: str, points: Sequence[Any]) -> tuple[Point, ...]:
    """Points from any of the forms that users may write."""
    return tuple([_read_point(scene, what, given) for given in points])


def _read_point(scene: Scene, what: str, given: Any) -> Point:
    if isinstance(given, _PLACES):
        return Point(None, checks.vector(given, f"{what}: place"))
    if isinstance(given, Point) and given.body is None:
        return Point(None, checks.vector(given.offset, f"{what}: place"))
    if isinstance(given, str):
        name = given
    elif isinstance(given, BodyRef):
        name = given.name
    elif isinstance(given, Point):
        name = str(given.body)
    elif isinstance(given, Ref):
        kind = (scene._constraints | scene._forces | scene._obstacles).get(given.name)
        what_it_is = f"a {kind.kind}, not a point" if kind is not None else "not a point"
        raise TautError(f"{what}: '{given.name}' is {what_it_is}; give a body, its name, body.at((x, y, z)), or "
                        "three numbers.")
    else:
        raise TautError(f"{what}: {shown(given)} is not a point; give a body, its name, body.at((x, y, z)), "
                        "or three numbers.")
    whole = scene._whole.get(name)
    maker = getattr(given, "scene", None)
    if maker is not None and maker != scene._number:
        here = ", or its name for the one of this scene" if whole is not None else ""
        raise TautError(f"{what}: body '{name}' belongs to another scene; give a body of scene '{scene.name}'{here}.")
    if whole is None:
        raise TautError(f"{what}: {unknown('body', name, scene._bodies)}")
    if not isinstance(given, Point):
        return whole
    offset = checks.vector(given.offset, f"{what}: offset")
    if not any(offset):
        return whole  # without a sign on its zeros, which no file would keep
    body = scene._bodies[name]
    if body.kind != "rigid":
        raise TautError(f"{what}: {body.kind} '{name}' has no places on it, but {offset} was given; "
                        "name it alone, or make it a rigid body.")
    return Point(name, offset)


def read_arguments(kind: Kind | ForceKind, what: str, given: dict[str, Any]) -> dict[str, Any]:
    """All arguments of a kind in the form that the model reads."""
    names = [argument.name for argument in kind.arguments]
    if extra := next((key for key in given if key not in names), None):  # before what is missing: it may be misspelt
        raise TautError(f"{what}: {unknown_argument(extra, _keywords(kind, names))}")
    values = {}
    for argument in kind.arguments:
        value = given.get(argument.name)
        value = argument.default if value is None else value
        if value is None and argument.required:
            raise TautError(f"{what} has no {argument.name}; give it: {argument.doc}.")
        reader = checks.READERS[argument.type]
        values[argument.name] = None if value is None else reader(value, f"{what}: {argument.name}")
    return values


def _keywords(kind: Kind | ForceKind, names: list[str]) -> list[str]:
    return [*names, *(INEQUALITY if isinstance(kind, Kind) else ()), *keys(isinstance(kind, ForceKind)), "name"]


def spoken(point: Point) -> str:
    """A point in a message."""
    if point.body is None:
        return f"the place {point.offset}"
    return f"'{point.body}' at {point.offset}" if any(point.offset) else f"'{point.body}'"


def _check_points(scene: Scene, kind: Kind | ForceKind, what: str, points: tuple[Point, ...]) -> None:
    if isinstance(kind, ForceKind) and points and all(point.body is None for point in points):
        raise TautError(f"{what} acts on places in the world alone, which nothing moves; give a body.")
    if kind.points is None:
        if isinstance(kind, Kind) and not points:
            raise TautError(f"{what} names no point; give at least one.")
        return
    most = len(kind.points)
    fewest = most - getattr(kind, "points_optional", 0)
    if not fewest <= len(points) <= most:
        wanted = f"{most}" if fewest == most else f"{fewest} or {most}"
        raise TautError(f"{what} has {len(points)} points; it needs {wanted} ({', '.join(kind.points)})."
                        f"{_by_name(kind, points[most:]) if len(points) > most else ''}")
    _check_different_bodies(kind, what, points)
    # Two edges (four points) may share a node; anything else would compare a point with itself.
    pairs = ((0, 1), (1, 2), (0, 2)) if len(points) < 4 else ((0, 1), (2, 3))
    for i, j in pairs:
        if j < len(points) and points[i].body == points[j].body and points[i] == points[j]:
            raise TautError(f"{what} names {spoken(points[i])} twice; give different points.")
    scalars, mixed = getattr(kind, "coordinates", ()), getattr(kind, "mixed", ())
    turning = getattr(kind, "turning", False)
    for role, point in zip(kind.points, points):
        found = "place" if point.body is None else scene._bodies[point.body].kind
        # A force on a scalar coordinate is a generalized force, in its first component.
        if isinstance(kind, Kind) and role not in mixed and (role in scalars) != (found == "coordinate"):
            wanted = "a scalar coordinate" if role in scalars else "a particle, a rigid body or a place"
            raise TautError(f"{what}: point {role} is {spoken(point)}; it must be {wanted}.")
        if turning and (found != "rigid" or any(point.offset)):
            remedy = "use force, whose first component acts on a coordinate" if found == "coordinate" else (
                "only a rigid body as a whole can be turned")
            raise TautError(f"{what} acts on {spoken(point)}; {remedy}.")


def _check_different_bodies(kind: Kind | ForceKind, what: str, points: tuple[Point, ...]) -> None:
    """Two places on one body never move against each other: a row between them is empty, and its force none."""
    if len(points) != 2 or points[0].body != points[1].body or points[0] == points[1]:
        return
    name = points[0].body
    if name is None and getattr(kind, "frames", False):
        raise TautError(f"{what} joins two places in the world, neither of which moves; let one be on a body.")
    if name is not None and kind.points is not None:
        raise TautError(f"{what} joins '{name}' with itself: {spoken(points[0])} and {spoken(points[1])} never move "
                        "against each other; give places on different bodies.")


def _check_possible(
    scene: Scene, kind: Kind, what: str, points: tuple[Point, ...], start: np.ndarray, values: dict[str, Any]
) -> None:
    """Refuse a length or a meeting between points that can not move."""
    for point in points:
        if point.body is not None and scene._bodies[point.body].motion != "fixed":
            return
    if kind.separation is None:
        return
    wanted = kind.separation(values)
    apart = float(np.linalg.norm(start[0] - start[1]))
    if wanted is not None and abs(apart - wanted) > 1e-9 * max(1.0, apart):
        a, b = map(spoken, points)
        raise TautError(f"{what}: {a} and {b} are fixed {apart:g} m apart and "
                        f"can not be {wanted:g} m apart; free one of them or change the length.")


