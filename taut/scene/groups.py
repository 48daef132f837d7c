"""Who touches whom: obstacles in the world, groups of balls, and the pairs that they stand for.

A group is kept as it was written, since n balls make n (n - 1) / 2 pairs; `expand` gives the pairs one by one,
and `pair_count` counts them without making them. A pair that can not move, since both of its bodies are fixed
or driven, is left out. Cloths and solids stay whole: model/deformables.py and model/node_contacts.py say what
becomes of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..constraints import KINDS, Kind
from ..errors import TautError, chosen, shown, unknown, warn
from ..shapes import SHAPES
from . import checks
from .deformables import DeformableRef, check_thickness
from .places import place
from .specs import BodyRef, Constraint, Group, Obstacle, Point, Ref, Switch
from .switches import SWITCH, both, take_switch
from .verbs import check_friction, read_arguments, try_pack

if TYPE_CHECKING:
    from .scene import Scene
    from .scene_records import SceneRecords

# Where a ball is imagined to judge an obstacle by itself; nobody centres an obstacle there.
_SOMEWHERE = np.array([0.7548776662466927, 0.5698402909980532, 0.4301597090019468])


def obstacle_kinds() -> list[str]:
    """The kinds that can be a thing in the world: inequalities of one point."""
    return [kind.name for kind in KINDS.values() if kind.sense == ">=" and kind.points and len(kind.points) == 1]


def read_obstacle(scene: Scene, kind: str, name: str, arguments: dict[str, Any]) -> Obstacle:
    """A checked obstacle."""
    switch = _switch(scene, what := f"obstacle '{name}'", name, arguments)
    values = read_arguments(_obstacle_kind(kind), what, arguments)
    _try_pack(KINDS[kind], what, _SOMEWHERE, values, 0.0)
    return Obstacle(kind, name, values, scene._where, switch)


def _switch(scene: Scene, what: str, name: str, arguments: dict[str, Any]) -> Switch | None:
    """When an obstacle is there, or a group can touch, taken out of the arguments."""
    switch = take_switch(scene, what, arguments, is_force=False)
    return None if switch is None else replace(switch, name=name)


def _obstacle_kind(kind: str) -> Kind:
    return chosen("kind of obstacle", kind, {name: KINDS[name] for name in obstacle_kinds()})


def _try_pack(kind: Kind, what: str, at: np.ndarray, values: dict[str, Any], radius: float) -> None:
    try_pack(kind, what, at[np.newaxis], values | {"labels": [("p0", False)], "radii": [radius]})


def read_group(scene: Scene, name: str, first: Any, second: Any, surface: tuple[Any, Any], arguments: dict) -> Group:
    """A checked group; one without a pair is a warning. surface: restitution and friction; arguments: what switches."""
    what = f"contacts '{name}'"
    switch = _switch(scene, what, name, arguments)
    for key in arguments:
        raise unknown(f"argument of {what}", key, ["first", "second", "restitution", "friction", "name", *SWITCH])
    restitution, friction = surface
    bodies, things, deformables = _names(scene, what, "first", first)
    if things:
        raise TautError(f"{what}: '{things[0]}' is an obstacle; name bodies first, and obstacles second.")
    others, obstacles, other_deformables = (None, (), ()) if second is None else _names(scene, what, "second", second)
    group = Group(
        name, bodies, others, obstacles, checks.fraction(restitution, f"{what}: restitution"),
        checks.not_negative(friction, f"{what}: friction"), scene._where, deformables, other_deformables,
        switch,
    )  # fmt: skip
    _check_shapes(scene, what, group)
    _check_deformables(scene, what, group)
    _check_radii(scene, what, group)
    _check_obstacles(scene, what, group)
    for other in scene._groups.values():
        _check_apart(scene, what, group, other)
    if not can_touch(scene, group):
        warn(f"{what} has no pair that can move, so nothing touches; name more bodies, or remove it")
    return group


def _names(scene: Scene, what: str, role: str, given: Any) -> tuple[tuple[str, ...], ...]:
    """Names of bodies, of obstacles and of deformables from one thing or a list of them."""
    alone = isinstance(given, str | bytes | dict | type) or not hasattr(given, "__iter__") or getattr(given, "ndim",
        1) == 0
    listed = [given] if alone else list(given)
    bodies: dict[str, None] = {}
    obstacles: dict[str, None] = {}
    deformables: dict[str, None] = {}
    for thing in listed:
        if not isinstance(thing, str | BodyRef | Ref | DeformableRef):
            raise TautError(f"{what}: {role} holds {shown(thing)}; give bodies and obstacles, or their names.")
        name = thing if isinstance(thing, str) else thing.name
        if name in bodies or name in obstacles or name in deformables:
            raise TautError(f"{what}: {role} names '{name}' twice; name it once.")
        if name in scene._obstacles:
            obstacles[name] = None
        elif name in scene._deformables:
            deformables[name] = None
        elif name not in scene._bodies:
            known = [*scene._bodies, *scene._obstacles, *scene._deformables]
            raise TautError(f"{what}: {unknown('body or obstacle', name, known)}")
        elif scene._bodies[name].kind == "coordinate":
            raise TautError(f"{what}: '{name}' is a coordinate, which touches nothing; use limit for it.")
        else:
            bodies[name] = None
    return tuple(bodies), tuple(obstacles), tuple(deformables)


def _check_deformables(scene: Scene, what: str, group: Group) -> None:
    """A cloth takes part as a whole, has a thickness where cloth meets cloth, and does not bounce."""
    deformables = (*group.deformables, *group.other_deformables)
    if deformables and group.restitution:
        raise TautError(f"{what}: restitution is {group.restitution:g}, but '{deformables[0]}' takes part, and what "
                        "touches cloth does not bounce; leave it out.")
    meets_bodies = group.bodies is None or group.bodies or group.other_deformables
    for node in (*(group.first if meets_bodies else ()), *(group.bodies or ())):
        owner = scene._bodies[node].owner
        if owner is not None:
            raise TautError(f"{what}: '{node}' is a node of '{owner}', and alone it can touch obstacles only; "
                            f"name '{owner}' to let it touch bodies.")
    switched = next((n for n in group.obstacles if scene._obstacles[n].switch), group.name if group.switch else None)
    if switched is not None and deformables:
        raise TautError(f"{what}: '{switched}' is switched, and what touches '{deformables[0]}' is not; leave its "
                        "switch out.")
    deep = {name: scene._deformables[name].thickness for name in deformables}
    for a, b in pairs_of_deformables(group):
        if a == b:
            check_thickness(f"{what}: {scene._deformables[a].kind} '{a}'", scene._deformables[a])
    deep |= {name: scene._bodies[name].radius for name in (*group.first, *(group.bodies or ()))}
    for a, b in (*pairs_of_deformables(group), *balls_on_deformables(group)):
        if deep[a] == deep[b] == 0.0:
            raise TautError(f"{what}: neither '{a}' nor '{b}' has a thickness or a radius, so they never touch; "
                            f"give '{b}' a thickness, such as 0.01 m.")


def _check_shapes(scene: Scene, what: str, group: Group) -> None:
    """Shapes do not collide yet: a box would be the point at its centre, and nobody who gave its sizes means that."""
    for name in (*group.first, *(group.bodies or ())):
        body = scene._bodies[name]
        if body.shape is not None and body.radius == 0.0 and not SHAPES[body.shape[0]].ball(*body.shape[1]):
            kind = body.shape[0]
            solid = SHAPES[kind].sides[0].kind if SHAPES[kind].sides else "outside_capsule"
            raise TautError(f"{what}: rigid '{name}' has the shape of a {kind}, and in contacts only spheres have a "
                            f"shape as yet; it would be a point. Let others touch scene.obstacle('{solid}', ...) "
                            f"instead, or constrain places on it, such as its corners, with body.at((x, y, z)); give "
                            f"'{name}' a radius if a ball about its centre is meant.")


def _check_radii(scene: Scene, what: str, group: Group) -> None:
    """Two points never touch: of each pair one must be a ball."""
    def small(names: tuple[str, ...]) -> list[str]:
        return [name for name in names if scene._bodies[name].radius == 0.0]

    others = group.first if group.bodies is None else group.bodies
    for a in small(group.first)[:2]:
        for b in small(others):
            if a != b:
                raise TautError(f"{what}: '{a}' and '{b}' have no radius, and two points never touch; "
                                f"give body '{a}' a radius.")


def _check_obstacles(scene: Scene, what: str, group: Group) -> None:
    for name in group.obstacles:
        obstacle = scene._obstacles[name]
        both(group.switch, obstacle.switch, f"{what} with '{name}'")
        kind = KINDS[obstacle.kind]
        if group.friction:
            check_friction(kind, f"{what} with '{name}'", group.friction)
        nodes = [scene._deformables[one].node(0) for one in group.deformables]  # all nodes have one radius
        for own in (*group.first, *nodes):
            body = scene._bodies[own]
            at = np.array(place(Point(own), scene._bodies))
            _try_pack(kind, f"{what}: '{own}' with '{name}'", at, obstacle.arguments, body.radius)


def _check_apart(scene: Scene, what: str, group: Group, other: Group) -> None:
    """No pair may be in two groups: it would be pushed twice."""
    def shared(one: set[str], two: set[str]) -> set[str]:
        """What is in both; a node is in its cloth too."""
        owned = {n for n in one ^ two if n in scene._bodies and scene._bodies[n].owner in (two if n in one else one)}
        return (one & two) | owned

    a, c = {*group.first, *group.deformables}, {*other.first, *other.deformables}
    b = a if group.bodies is None else {*group.bodies, *group.other_deformables}
    d = c if other.bodies is None else {*other.bodies, *other.other_deformables}
    things = set(group.obstacles) & set(other.obstacles)
    for one, two in ((shared(a, c), shared(b, d)), (shared(a, d), shared(b, c)), (shared(a, c), things)):
        itself = set(scene._deformables)  # only a cloth or a solid can run into itself
        pair = next(((x, y) for x in sorted(one) for y in sorted(two) if x != y or x in itself), None)
        if pair is not None:
            raise TautError(f"{what}: the pair of '{pair[0]}' and '{pair[1]}' is in contacts '{other.name}' already; "
                            "leave it in one of them.")


def can_touch(scene: SceneRecords, group: Group) -> bool:
    """Whether a group has a pair that can move."""
    on_obstacles = itertools.product(group.deformables, group.obstacles)
    met = (balls_on_deformables(group), pairs_of_deformables(group), on_obstacles)
    return any(True for _ in itertools.chain(*met)) or pair_count(scene, group) > 0


def balls_on_deformables(group: Group) -> Iterator[tuple[str, str]]:
    """Each ball of a group with each cloth or solid that it meets."""
    yield from itertools.product(group.first, group.deformables if group.bodies is None else group.other_deformables)
    yield from itertools.product(group.bodies or (), group.deformables)


def pairs_of_deformables(group: Group) -> list[tuple[str, str]]:
    """Cloths and solids of a group that meet, each pair once; twice the same name: it runs into itself."""
    others = group.deformables if group.bodies is None else group.other_deformables
    return list({tuple(sorted(pair)): pair for pair in itertools.product(group.deformables, others)}.values())


def pair_count(scene: SceneRecords, group: Group) -> int:
    """How many pairs `expand` gives, without making them."""
    first = set(group.first)
    others = first if group.bodies is None else set(group.bodies)

    def pairs(a: set[str], b: set[str]) -> int:
        both = len(a & b)  # neither with itself, nor the same two twice
        return len(a) * len(b) - both - both * (both - 1) // 2

    held = {name for name in first | others if scene.bodies[name].motion != "free"}
    return pairs(first, others) - pairs(first & held, others & held) + len(first - held) * len(group.obstacles)


def expand(scene: Scene, group: Group) -> Iterator[Constraint]:
    """The pairs of a group as constraints: "a|b" of kind ball_contact, then "a|floor" of the obstacle's kind."""
    others = group.first if group.bodies is None else group.bodies
    free = {name: scene.bodies[name].motion == "free" for name in (*group.first, *others)}
    members = set(others)
    met: set[str] = set()  # those who have met all others
    for a in group.first:
        for b in others:
            again = b in met and a in members
            if a != b and not again and (free[a] or free[b]):
                yield _contact(group, "ball_contact", (a, b), {}, f"{a}|{b}", group.switch)
        met.add(a)
    for a in group.first:
        for name in group.obstacles if free[a] else ():
            obstacle = scene.obstacles[name]
            switch = both(group.switch, obstacle.switch, f"contacts '{group.name}' with '{name}'")
            yield _contact(group, obstacle.kind, (a,), obstacle.arguments, f"{a}|{name}", switch)


def _contact(
    group: Group, kind: str, bodies: tuple[str, ...], arguments: dict[str, Any], name: str, switch: Switch | None
) -> Constraint:
    points = tuple(Point(body) for body in bodies)
    surface = group.restitution, group.friction
    return Constraint(kind, name, points, arguments, ">=", *surface, group.where, switch=switch)
