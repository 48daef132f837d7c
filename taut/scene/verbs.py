"""One method of Scene per registered kind of constraint and force, and how they read points.

A point is a body, its name, `body.at((x, y, z))` on a rigid body, or three numbers: a place in the world.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..constraints import KINDS as CONSTRAINTS
from ..constraints import Kind
from ..errors import TautError, unknown
from ..forces import KINDS as FORCES
from ..forces import ForceKind
from . import checks
from .places import labels, places
from .specs import BodyRef, Constraint, Force, Point, Ref

if TYPE_CHECKING:
    from .scene import Scene

_PLACES = (tuple, list, np.ndarray)


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
    verb.__doc__ = "\n".join(lines).rstrip()
    verb.__signature__ = _signature(kind)  # type: ignore[attr-defined]
    return verb


def _signature(kind: Kind | ForceKind) -> inspect.Signature:
    Parameter = inspect.Parameter
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    if kind.points is None:
        parameters.append(Parameter("points", Parameter.VAR_POSITIONAL))
    else:
        needed = len(kind.points) - getattr(kind, "points_optional", 0)
        for i, point in enumerate(kind.points):
            default = Parameter.empty if i < needed else None
            parameters.append(Parameter(point, Parameter.POSITIONAL_OR_KEYWORD, default=default))
    for argument in kind.arguments:
        default = Parameter.empty if argument.required else argument.default
        parameters.append(Parameter(argument.name, Parameter.KEYWORD_ONLY, default=default))
    parameters.append(Parameter("name", Parameter.KEYWORD_ONLY, default=None))
    return inspect.Signature(parameters)


def add(
    scene: Scene, kind: Kind | ForceKind, points: Sequence[Any], arguments: dict[str, Any], name: str | None
) -> Ref:
    """Check a constraint or force and add it to the scene."""
    name = scene._new_name(name, kind.name, scene._constraints, scene._forces)
    what = f"{kind.name} '{name}'"
    if kind.points is not None and not arguments.keys().isdisjoint(kind.points):
        arguments = dict(arguments)
        points = [*points, *(arguments.pop(p) for p in kind.points[len(points):] if p in arguments)]
    read = read_points(scene, what, points)
    _check_points(scene, kind, what, read)
    values = read_arguments(kind, what, arguments)
    start = places(read, scene._bodies)
    # Only a kind with any number of points lets formulas call them by name.
    named = {"labels": labels(read, scene._bodies)} if kind.points is None else {}
    try:
        kind.lay_out(start, values | named)
    except (ValueError, TautError) as mistake:
        raise TautError(f"{what} on {', '.join(map(spoken, read)) or 'all bodies'}: {mistake}") from None
    if isinstance(kind, Kind):
        _check_possible(scene, kind, what, read, start, values)
        return scene._add(Constraint(kind.name, name, read, values, scene._where))
    return scene._add(Force(kind.name, name, read, values, scene._where))


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
    else:
        raise TautError(f"{what}: {given!r} is not a point; give a body, its name, body.at((x, y, z)), "
                        "or three numbers.")
    whole = scene._whole.get(name)
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
    values = {}
    for argument in kind.arguments:
        value = given.get(argument.name)
        value = argument.default if value is None else value
        if value is None and argument.required:
            raise TautError(f"{what} has no {argument.name}; give it: {argument.doc}.")
        reader = checks.READERS[argument.type]
        values[argument.name] = None if value is None else reader(value, f"{what}: {argument.name}")
    if not given.keys() <= values.keys():
        extra = next(key for key in given if key not in values)
        raise TautError(f"{what}: {unknown('argument', extra, [*values, 'name'])}")
    return values


def spoken(point: Point) -> str:
    """A point in a message."""
    if point.body is None:
        return f"the place {point.offset}"
    return f"'{point.body}' at {point.offset}" if any(point.offset) else f"'{point.body}'"


def _check_points(scene: Scene, kind: Kind | ForceKind, what: str, points: tuple[Point, ...]) -> None:
    if kind.points is None:
        if isinstance(kind, Kind) and not points:
            raise TautError(f"{what} names no point; give at least one.")
        return
    most = len(kind.points)
    fewest = most - getattr(kind, "points_optional", 0)
    if not fewest <= len(points) <= most:
        wanted = f"{most}" if fewest == most else f"{fewest} or {most}"
        raise TautError(f"{what} has {len(points)} points; it needs {wanted} ({', '.join(kind.points)}).")
    # Two edges (four points) may share a node; anything else would compare a point with itself.
    pairs = ((0, 1), (1, 2), (0, 2)) if len(points) < 4 else ((0, 1), (2, 3))
    for i, j in pairs:
        if j < len(points) and points[i].body == points[j].body and points[i] == points[j]:
            raise TautError(f"{what} names {spoken(points[i])} twice; give different points.")
    scalars = getattr(kind, "coordinates", ())
    turning = getattr(kind, "turning", False)
    for role, point in zip(kind.points, points):
        found = "place" if point.body is None else scene._bodies[point.body].kind
        # A force on a scalar coordinate is a generalized force, in its first component.
        if isinstance(kind, Kind) and (role in scalars) != (found == "coordinate"):
            wanted = "a scalar coordinate" if role in scalars else "a particle, a rigid body or a place"
            raise TautError(f"{what}: point {role} is {spoken(point)}; it must be {wanted}.")
        if turning and (found != "rigid" or any(point.offset)):
            raise TautError(f"{what} acts on {spoken(point)}; only a rigid body as a whole can be turned.")


def _check_possible(
    scene: Scene, kind: Kind, what: str, points: tuple[Point, ...], start: np.ndarray, values: dict[str, Any]
) -> None:
    """Refuse a length or a meeting between points that can not move."""
    for point in points:
        if point.body is not None and scene._bodies[point.body].motion != "fixed":
            return
    if kind.name == "distance":
        length = values["length"]
        wanted = None if length is None or not length.is_constant else length.value
    elif kind.name == "ball":
        wanted = 0.0
    else:
        return
    apart = float(np.linalg.norm(start[0] - start[1]))
    if wanted is not None and abs(apart - wanted) > 1e-9 * max(1.0, apart):
        a, b = map(spoken, points)
        raise TautError(f"{what}: {a} and {b} are fixed {apart:g} m apart and "
                        f"can not be {wanted:g} m apart; free one of them or change the length.")


