"""Scenes: what they hold, what they refuse, and that files keep them exactly."""

from __future__ import annotations

import inspect
import json
import os
import re
import time
import warnings
from math import cos, pi, sin
from pathlib import Path

import numpy as np
import pytest

from taut.constraints import KINDS as CONSTRAINTS
from taut.errors import TautError, TautWarning
from taut.expressions import Signal
from taut.forces import KINDS as FORCES
from taut.scene import Point, Scene, load, load_python, open_scene, parse_parameters, schema
from taut.scene.groups import expand, obstacle_kinds, pair_count
from taut.scene.places import labels, places, radii
from taut.scene.shapes import solid

NAN = float("nan")


def three() -> tuple[Scene, list]:
    scene = Scene()
    bodies = [scene.particle((0, 0, 0), fixed=True, name="anchor"), scene.particle((3, 0, 0), name="b"),
              scene.particle((3, 4, 0), name="c")]
    return scene, bodies


def everything() -> Scene:
    """One of each thing that a file can hold, with numbers that are hard to keep."""
    scene = Scene(gravity=(0.1, -9.81, 1 / 3), name="every: thing")
    a = scene.particle((0, 0, 0), fixed=True, name="anchor")
    b = scene.particle((1 / 3, 0.1, -0.0), mass=5e-324, velocity=(1e-300, -0.0, 1.7e308), name="yes")
    c = scene.particle((3, 1e-5, 1e22), name="1e3")
    frames = {"times": [0, 1, 3], "values": [0, 1, 1 / 3]}
    road = scene.particle(path=("0.1*sin(10*t)", 0, frames), name="road")
    box = scene.rigid((1, 2, 3), shape={"box": (1, 2, 3)}, density=7.0, orientation=((1, 2, 3), 0.7),
                      velocity=(1, 2, 3), angular_velocity=(0.1, 0.2, 0.3), name="box")
    tilted = scene.rigid((0, 0, 5), mass=2, inertia=((2, 0.1, 0), (0.1, 2, 0.3), (0, 0.3, 3)))
    door = scene.rigid((0, 0, 9), rotation=("y", "2*t"), orientation=("x", 0.3), name="door")
    s = scene.coordinate(0.3, inertia=0.01, rate=-1e-17, name="s")
    wheel = scene.coordinate(path="t**2", name="wheel")
    scene.distance(a, b, length="2 +  sin(t)", name="null")
    scene.distance(a, c)
    scene.ball(box.at((0.5, 0, 0)), tilted.at((0.1, 0.2, 0.3)))
    scene.ball(door, (0, 0, 9))
    scene.on_plane(c, point=(0, "t", 0), normal=(0, 1, 0))
    scene.on_curve(b, s, curve=("cos(s)", 0, "s + t"))
    scene.linear(s, wheel, coefficients=(1, -1 / 3))
    scene.custom(b, c, formula=("yes.x - p1.x", "yes.y*t"), name="own")
    scene.planar(box)
    scene.distance(a, c, length=1e30, sense="<=", restitution=1 / 3, friction=0.1)
    scene.distance(b, c, sense="<=", restitution=1 / 3, friction=0.1)
    scene.distance(b, road, sense=">=")
    scene.custom(b, formula="yes.x", sense=">=", name="above")
    scene.limit(s, minimum="0.1*t", maximum=7, restitution=0.5)
    scene.limit(box.at((0, 0.1, 0)), component="y", minimum=-3)
    scene.outside_box(c, center=(0, "t", 0), half=(1, 2, 1 / 3), orientation=("x", 0.3), ball=0.2, friction=0.7)
    scene.inside_capsule(a, start=(0, 0, 0), end=("1 + t", 0, 0), radius=4)
    balls = [scene.particle((i, 5, 1 / 3), radius=0.1 + 0.1 * i) for i in range(3)]
    marble = scene.rigid((0, 9, 0), shape={"sphere": 1 / 3}, density=2000, name="marble")
    hoop = scene.rigid((0, 9, 9), mass=1, inertia=(1, 1, 1), radius=0.2, name="hoop")
    floor = scene.obstacle("half_space", point=(0, "-1 - t", 0), normal=(0, 1, 0), name="floor")
    pole = scene.obstacle("outside_cylinder", point=(9, 0, 0), direction=(0, 1, 1 / 3), radius=0.1)
    scene.contacts(balls, restitution=0.9, name="balls")
    scene.contacts([*balls, marble], [hoop, floor, pole], friction=1 / 3)
    scene.spring(a, c, stiffness=1e4)
    scene.drag(coefficient=0.1)
    scene.torque(box, value=(0, "sin(t)", 0))
    scene.force(road, value=(0, 0, 1))
    scene.reduced({"q": (0.1, 0.2), "r": 1}, {"yes": ("q", "r*sin(q)", 0)})
    scene.suggest(dt=0.1, duration=3, method="rattle", tolerance=1e-9, rounds=3, quiet=True)
    return scene


def contents(scene: Scene) -> str:
    """All that a scene holds, to the last bit, without the places where it was written."""
    records = [*scene.bodies.values(), *scene.constraints.values(), *scene.forces.values(),
               *scene.obstacles.values(), *scene.groups.values()]
    shown = [{key: value for key, value in vars(record).items() if key != "where"} for record in records]
    return repr((scene.name, scene.gravity, scene.suggested, scene.reduced_map, shown))


# What a scene holds


def test_each_kind_is_a_method_with_its_own_signature_and_doc():
    for kind in (*CONSTRAINTS.values(), *FORCES.values()):
        method = getattr(Scene, kind.name)
        names = list(inspect.signature(method).parameters)
        both = ["sense", "restitution", "friction"] if kind.name in CONSTRAINTS else []
        wanted = ["self", *(kind.points or ["points"]), *(a.name for a in kind.arguments), *both, "name"]
        assert names == wanted, f"{kind.name}: {names}"
        assert method.__doc__.startswith(kind.doc)


def test_unnamed_things_are_named_by_their_count():
    scene, (a, b, c) = three()
    scene.particle((1, 1, 1))
    scene.distance(a, b, name="distance_1")
    second, third = scene.distance(b, c), scene.distance(a, c)
    assert list(scene.bodies) == ["anchor", "b", "c", "particle_3"]
    assert (second.name, third.name) == ("distance_2", "distance_3"), "a taken name was not skipped"


def test_a_refused_call_leaves_the_scene_unchanged():
    scene, (a, b, _) = three()
    before = contents(scene)
    with pytest.raises(TautError):
        scene.distance(a, b, length=-1)
    with pytest.raises(TautError):
        scene.particle((0, 0, NAN))
    assert contents(scene) == before
    assert scene.distance(a, b).name == "distance_0"


def test_points_may_be_written_in_every_form():
    scene, (_, b, _) = three()
    box = scene.rigid((0, 0, 1), mass=1, inertia=(1, 1, 1), orientation=("z", pi / 2))
    found = scene.constraints[scene.custom("c", b, box.at((1, 0, 0)), Point("b"), np.array([1.0, 2, 3]),
                                           formula="c.x").name].points
    assert found == (Point("c"), Point("b"), Point(box.name, (1, 0, 0)), Point("b"), Point(None, (1, 2, 3)))
    seen = places(found, scene.bodies)
    assert np.allclose(seen[2], (0, 1, 1), atol=1e-15), f"a place on a turned body is at {seen[2]}"
    named = [name for name, _ in labels(found, scene.bodies)]
    assert named == ["c", "p1", box.name, "p3", "p4"], f"a shared name is ambiguous in formulas: {named}"


def test_forces_act_on_scalar_coordinates_too():
    scene = Scene()
    s = scene.coordinate(0.5, name="s")
    scene.force(s, value=("cos(t)", 0, 0), name="motor")
    assert scene.forces["motor"].points == (Point("s"),)


def test_a_driven_body_starts_on_its_path():
    scene = Scene()
    scene.particle(path=("2 + sin(3*t)", 1, 0), name="p")
    scene.rigid((0, 0, 0), rotation=((0, 0, 2), "0.5 + 4*t"), name="r")
    p, r = scene.bodies["p"], scene.bodies["r"]
    assert (p.motion, p.position, p.velocity) == ("driven", (2, 1, 0), (3, 0, 0))
    assert r.motion == "driven" and r.angular_velocity == (0, 0, 4), r.angular_velocity
    at = places([Point("r", (1, 0, 0))], scene.bodies)[0]
    assert np.allclose(at, (cos(0.5), sin(0.5), 0), atol=1e-15), f"the turned place is at {at}"


@pytest.mark.filterwarnings("ignore::taut.errors.TautWarning")  # that the function is interpreted
def test_keyframes_and_functions_are_paths():
    scene = Scene()
    frames = {"times": [0, 1], "values": [[1, 2, 3], [4, 5, 6]]}
    scene.particle(path=frames, name="frames")
    assert scene.bodies["frames"].position == (1, 2, 3)
    assert scene.bodies["frames"].path[2] == Signal.of({"times": [0, 1], "values": [3, 6]})

    def around(t):
        return t, 2.0, 3.0

    scene.particle(path=around, name="function")
    assert scene.bodies["function"].position == (0, 2, 3)


def test_planar_holds_a_rigid_body_at_three_places_in_its_plane():
    scene = Scene()
    box = scene.rigid((0, 0, 1), mass=1, inertia=(1, 1, 1), orientation=((1, 1, 0), 0.4))
    refs = scene.planar(box)
    at = places([scene.constraints[ref.name].points[0] for ref in refs], scene.bodies)
    area = np.linalg.norm(np.cross(at[1] - at[0], at[2] - at[0]))
    assert np.allclose(at[:, 2], 1, atol=1e-15) and area > 0.9, f"places {at}"


@pytest.mark.parametrize("shape, inside, extent", [
    ({"box": (1, 2, 3)}, lambda x, y, z: (abs(x) < 0.5) & (abs(y) < 1) & (abs(z) < 1.5), (0.5, 1, 1.5)),
    ({"sphere": 1}, lambda x, y, z: x * x + y * y + z * z < 1, (1, 1, 1)),
    ({"cylinder": (1, 3)}, lambda x, y, z: (abs(x) < 1.5) & (y * y + z * z < 1), (1.5, 1, 1)),
    ({"capsule": (1, 2)}, lambda x, y, z: np.maximum(abs(x) - 1, 0) ** 2 + y * y + z * z < 1, (2, 1, 1)),
])  # fmt: skip
def test_inertia_of_a_shape_is_the_integral_over_it(shape, inside, extent):
    axes = [np.linspace(-e, e, 121)[:-1] + e / 120 for e in extent]
    x, y, z = np.meshgrid(*axes, indexing="ij")
    cell = np.prod([2 * e / 120 for e in extent])
    full = inside(x, y, z)
    volume = full.sum() * cell
    wanted = [((b * b + c * c) * full).sum() * cell for b, c in ((y, z), (x, z), (x, y))]
    mass, moments = solid(shape, None, 1.0, "it")
    error = np.abs(np.array([mass, *moments]) / [volume, *wanted] - 1).max()
    assert error < 5e-3, f"relative error {error:g}: {mass, moments} against {volume, wanted}"


# Inequalities


def test_any_equality_can_be_turned_into_an_inequality():
    scene, (a, b, c) = three()
    for sense in ("==", ">=", "<="):
        scene.distance(b, c, sense=sense, name=f"d{sense}")
    scene.on_plane(b, normal=(0, 1, 0), sense=">=", restitution=0.5, friction=0.3, name="p")
    scene.half_space(b, point=(0, -1, 0), normal=(0, 1, 0), name="h")
    found = {name: (k.sense, k.restitution, k.friction) for name, k in scene.constraints.items()}
    assert found == {"d==": ("==", 0, 0), "d>=": (">=", 0, 0), "d<=": ("<=", 0, 0), "p": (">=", 0.5, 0.3),
                     "h": (">=", 0, 0)}, found


def test_a_ball_has_the_radius_that_was_given_or_that_of_its_sphere():
    scene = Scene()
    scene.particle((0, 0, 0), radius=0.3, name="p")
    scene.rigid((0, 0, 0), mass=1, shape={"sphere": 0.2}, name="sphere")
    scene.rigid((0, 0, 0), mass=1, shape={"sphere": 0.2}, radius=0, name="thin")
    scene.rigid((0, 0, 0), mass=1, shape={"box": (1, 1, 1)}, name="box")
    found = {name: body.radius for name, body in scene.bodies.items()}
    assert found == {"p": 0.3, "sphere": 0.2, "thin": 0.0, "box": 0.0}, found
    points = (Point("sphere"), Point("sphere", (0.1, 0, 0)), Point(None), Point("p"))
    assert radii(points, scene.bodies) == [0.2, 0.0, 0.0, 0.3], "a place off the centre is no ball"


def test_groups_stand_for_each_pair_once():
    """Against a plain double loop, for groups that overlap, with bodies that can not move."""
    random = np.random.default_rng(4)
    for _ in range(60):
        scene = Scene()
        for i in range(7):
            scene.particle((i, 0, 0), radius=0.1, fixed=bool(random.random() < 0.4), name=f"b{i}")
        walls = [scene.obstacle("half_space", point=(0, 0, 0), normal=(1, i, 0), name=f"w{i}") for i in range(2)]
        first = [f"b{i}" for i in random.permutation(7)[: random.integers(1, 8)]]
        second = [f"b{i}" for i in random.permutation(7)[: random.integers(0, 8)]]
        second = None if random.random() < 0.3 else second + [wall.name for wall in walls[: random.integers(0, 3)]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TautWarning)
            group = scene.groups[scene.contacts(first, second, restitution=0.5).name]
        free = {name: body.motion == "free" for name, body in scene.bodies.items()} | {"w0": False, "w1": False}
        others = first if second is None else second
        wanted = {frozenset((x, y)) for x in first for y in others if x != y and (free[x] or free[y])}
        pairs = list(expand(scene, group))
        found = [frozenset(pair.name.split("|")) for pair in pairs]
        assert len(found) == len(set(found)) == pair_count(scene, group), f"{first} with {second}: {found}"
        assert set(found) == wanted, f"{first} with {second}: {found}"
        assert all((pair.sense, pair.restitution) == (">=", 0.5) for pair in pairs)


def test_pairs_are_constraints_of_their_own_kinds():
    scene = Scene()
    a, b = (scene.particle((i, 0, 0), radius=0.1, name=name) for i, name in enumerate("ab"))
    floor = scene.obstacle("half_space", point=(0, -1, 0), normal=(0, 1, 0), name="floor")
    scene.contacts(a, [b, floor], friction=0.2, name="all")
    ball, wall = expand(scene, scene.groups["all"])
    assert (ball.kind, ball.name, ball.points) == ("ball_contact", "a|b", (Point("a"), Point("b")))
    assert (wall.kind, wall.name, wall.points) == ("half_space", "a|floor", (Point("a"),))
    assert wall.arguments == scene.obstacles["floor"].arguments and wall.friction == ball.friction == 0.2


def test_an_empty_group_is_a_warning():
    scene = Scene()
    lone = scene.particle((0, 0, 0), radius=0.1, name="lone")
    for first, second in ((lone, None), ([], None), (lone, [])):
        with pytest.warns(TautWarning, match="has no pair that can move"):
            scene.contacts(first, second)
    assert list(scene.groups) == ["contacts_0", "contacts_1", "contacts_2"]


# What a scene refuses


@pytest.mark.parametrize("words, mistake", [
    ("mass is 0; it must be greater", lambda s, a, b, c: s.particle((0, 0, 0), mass=0)),
    ("mass is nan", lambda s, a, b, c: s.particle((0, 0, 0), mass=NAN)),
    ("mass is 'heavy'; give a number", lambda s, a, b, c: s.particle((0, 0, 0), mass="heavy")),
    ("has 2 entries", lambda s, a, b, c: s.particle((0, 0))),
    ("has no position", lambda s, a, b, c: s.particle()),
    ("velocity is inf", lambda s, a, b, c: s.particle((0, 0, 0), velocity=(0, 0, float("inf")))),
    ("'b': the name is taken", lambda s, a, b, c: s.particle((0, 0, 0), name="b")),
    ("is fixed and has a path", lambda s, a, b, c: s.particle(path=(0, 0, 0), fixed=True)),
    ("its path starts with", lambda s, a, b, c: s.particle((1, 0, 0), path=("t", 0, 0))),
    ("but it is fixed", lambda s, a, b, c: s.particle((0, 0, 0), velocity=(1, 0, 0), fixed=True)),
    ("unknown symbol 'q'", lambda s, a, b, c: s.particle(path=("q", 0, 0))),
    ("no body has one above the sum", lambda s, a, b, c: s.rigid((0, 0, 0), mass=1, inertia=(1, 1, 3))),
    ("all must be positive", lambda s, a, b, c: s.rigid((0, 0, 0), mass=1, inertia=(1, 1, 0))),
    ("not symmetric", lambda s, a, b, c: s.rigid((0, 0, 0), mass=1, inertia=np.triu(np.ones((3, 3))))),
    ("has no inertia", lambda s, a, b, c: s.rigid((0, 0, 0), mass=1)),
    ("Did you mean 'sphere'", lambda s, a, b, c: s.rigid((0, 0, 0), mass=1, shape={"spere": 1})),
    ("either a mass", lambda s, a, b, c: s.rigid((0, 0, 0), shape={"sphere": 1})),
    ("quaternion of length 0", lambda s, a, b, c: s.rigid((0, 0, 0), fixed=True, orientation=(0, 0, 0, 0))),
    ("Did you mean 'anchor'", lambda s, a, b, c: s.distance("ancor", b)),
    ("names 'b' twice", lambda s, a, b, c: s.distance(b, b)),
    ("names 'b' twice", lambda s, a, b, c: s.angle(b, c, b)),
    ("distance 'd' on 'b', the place (3.0, 0.0, 0.0): its two points coincide",
     lambda s, a, b, c: s.distance(b, (3, 0, 0), name="d")),
    ("length is -1", lambda s, a, b, c: s.distance(a, b, length=-1)),
    ("fixed 1 m apart and can not be 2 m", lambda s, a, b, c: s.distance(a, (0, 0, 1), length=2)),
    ("can not be 0 m apart", lambda s, a, b, c: s.ball(a, (0, 0, 1))),
    ("Did you mean 'length'", lambda s, a, b, c: s.distance(a, b, lenght=1)),
    ("has 3 points; it needs 2 (a, b)", lambda s, a, b, c: s.distance(a, b, c)),
    ("start parallel", lambda s, a, b, c: s.angle(a, b, (9, 0, 0))),
    ("has no center", lambda s, a, b, c: s.on_sphere(b)),
    ("has no places on it", lambda s, a, b, c: s.ball(b.at((1, 0, 0)), a)),
    ("it must be a scalar coordinate", lambda s, a, b, c: s.on_curve(b, c, curve=("s", "0", "0"))),
    ("it must be a particle", lambda s, a, b, c: s.distance(a, s.coordinate())),
    ("only a rigid body", lambda s, a, b, c: s.torque(b, value=(0, 0, 1))),
    ("Did you mean 'b.x'", lambda s, a, b, c: s.custom(b, formula="bb.x")),
    ("names no point", lambda s, a, b, c: s.linear(coefficients=(1,))),
    ("is not a point", lambda s, a, b, c: s.distance(a, 3)),
    ("unknown body in reduced", lambda s, a, b, c: s.reduced({"q": 0}, {"d": ("q", "0", "0")})),
    ("unknown symbol 'w'", lambda s, a, b, c: s.reduced({"q": 0}, {"b": ("w", "0", "0")})),
    ("dt is -1", lambda s, a, b, c: s.suggest(dt=-1)),
    ("sense is '>'; choose", lambda s, a, b, c: s.distance(a, b, sense=">")),
    ("restitution is 1.5; it must lie between 0 and 1",
     lambda s, a, b, c: s.distance(a, b, sense="<=", restitution=1.5)),
    ("friction is -1; it can not be negative", lambda s, a, b, c: s.distance(a, b, sense="<=", friction=-1)),
    ("restitution is 0.5, but it is an equality", lambda s, a, b, c: s.distance(a, b, restitution=0.5)),
    ("friction is 0.5, but it is an equality", lambda s, a, b, c: s.on_plane(b, normal=(0, 1, 0), friction=0.5)),
    ("half_space always means '>='",
     lambda s, a, b, c: s.half_space(b, point=(0, 0, 0), normal=(0, 1, 0), sense="<=")),
    ("use angle instead", lambda s, a, b, c: s.parallel(a, b, c, (0, 1, 1), sense=">=")),
    ("leave it out, or use one of", lambda s, a, b, c: s.linear(b, coefficients=(1, 0, 0), sense=">=", friction=1)),
    ("radius is -1; it can not be negative", lambda s, a, b, c: s.particle((0, 0, 0), radius=-1)),
    ("has no normal; give it", lambda s, a, b, c: s.half_space(b, point=(0, 0, 0))),
    ("its normal has no direction", lambda s, a, b, c: s.half_space(b, point=(0, 0, 0), normal=(0, 0, 0))),
    ("ball has the radius -1", lambda s, a, b, c: s.half_space(b, point=(0, 0, 0), normal=(0, 1, 0), ball=-1)),
    ("starts in the very middle", lambda s, a, b, c: s.outside_sphere(b, center=(3, 0, 0), radius=1)),
    ("starts in the very middle",
     lambda s, a, b, c: s.outside_cylinder(b, point=(3, 9, 0), direction=(0, 2, 0), radius=1)),
    ("starts in the very middle", lambda s, a, b, c: s.outside_capsule(b, start=(0, 0, 0), end=(4, 0, 0), radius=1)),
    ("give two different ends", lambda s, a, b, c: s.inside_capsule(b, start=(1, 0, 0), end=(1, 0, 0), radius=1)),
    ("its direction has no length",
     lambda s, a, b, c: s.inside_cylinder(b, point=(1, 0, 0), direction=(0, 0, 0), radius=1)),
    ("a radius must be positive", lambda s, a, b, c: s.inside_sphere(b, center=(0, 0, 0), radius=-2)),
    ("too small for a ball", lambda s, a, b, c: s.inside_sphere(b, center=(0, 0, 0), radius=1, ball=2)),
    ("too small for a ball", lambda s, a, b, c: s.inside_box(b, center=(0, 0, 0), half=(1, 3, 3), ball=2)),
    ("all must be positive", lambda s, a, b, c: s.outside_box(b, center=(0, 0, 0), half=(1, 0, 3))),
    ("both its points have no radius", lambda s, a, b, c: s.ball_contact(b, c)),
    ("its two balls have the same centre",
     lambda s, a, b, c: s.ball_contact(b, s.particle((3, 0, 0), radius=1))),
    ("it has no limit", lambda s, a, b, c: s.limit(b, component="x")),
    ("choose 'x', 'y' or 'z'", lambda s, a, b, c: s.limit(b, minimum=1)),
    ("a coordinate is one number", lambda s, a, b, c: s.limit(s.coordinate(), component="x", minimum=1)),
    ("minimum 2 is above its maximum 1", lambda s, a, b, c: s.limit(b, component="x", minimum=2, maximum=1)),
    ("the sign | stands between", lambda s, a, b, c: s.distance(a, b, name="a|b")),
    ("Did you mean 'half_space'", lambda s, a, b, c: s.obstacle("halfspace", point=(0, 0, 0))),
    ("obstacle 'w': its normal has no direction",
     lambda s, a, b, c: s.obstacle("half_space", point=(0, 0, 0), normal=(0, 0, 0), name="w")),
    ("the name is taken", lambda s, a, b, c: s.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0), name="b")),
    ("'b' and 'c' have no radius, and two points never touch", lambda s, a, b, c: s.contacts([b, c])),
    ("first names 'b' twice", lambda s, a, b, c: s.contacts([b, "b"])),
    ("unknown body or obstacle 'flor'", lambda s, a, b, c: s.contacts(b, "flor")),
    ("is a coordinate, which touches nothing", lambda s, a, b, c: s.contacts(b, s.coordinate())),
    ("is an obstacle; name bodies first", lambda s, a, b, c: s.contacts(_floor(s), b)),
    ("first holds 3", lambda s, a, b, c: s.contacts(3)),
    ("the pair of 'b' and 'floor' is in contacts 'contacts_0' already",
     lambda s, a, b, c: s.contacts([b, c], [_floor(s)]) and s.contacts(b, "floor")),
    ("restitution is 2; it must", lambda s, a, b, c: s.contacts(b, _floor(s), restitution=2)),
    ("limit is not the contact of a surface",
     lambda s, a, b, c: s.contacts(b, s.obstacle("limit", component="y", minimum=-1), friction=1)),
    ("'b' with 'outside_sphere_0': its point starts in the very middle",
     lambda s, a, b, c: s.contacts([c, b], s.obstacle("outside_sphere", center=(3, 0, 0), radius=1))),
    ("gravity is nan", lambda s, a, b, c: Scene(gravity=(0, NAN, 0))),
])  # fmt: skip
def test_mistakes_are_told_with_name_value_and_remedy(words, mistake):
    scene, bodies = three()
    with pytest.raises(TautError) as told:
        mistake(scene, *bodies)
    assert words in str(told.value), f"said: {told.value}"


def _floor(scene: Scene):
    return scene.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0), name="floor")


# Files


@pytest.mark.parametrize("arrays", ["auto", True])
def test_a_file_keeps_a_scene_to_the_last_bit(tmp_path, arrays):
    scene = everything()
    path = scene.save(tmp_path / "scene.yaml", arrays=arrays)
    back = load(path)
    assert contents(back) == contents(scene)
    assert back == scene
    assert path.with_suffix(".npz").exists() == (arrays is True)
    assert back.bodies["box"].where.startswith(f"{path}:"), back.bodies["box"].where


def test_twenty_thousand_constraints_load_within_a_second(tmp_path):
    n = 20_000
    scene = Scene()
    rng = np.random.default_rng(1)
    for i in range(n // 2 + 1):
        scene.particle(rng.normal(size=3), mass=float(rng.uniform(1, 2)), fixed=i == 0)
    for i in range(n):
        scene.distance(f"particle_{i // 2}", f"particle_{i // 2 + 1}", length=None if i % 3 else 1 / (i + 1))
    path = scene.save(tmp_path / "cloth.yaml")
    best = np.inf
    for _ in range(2):
        start = time.process_time()  # other work on the machine must not fail this
        back = load(path)
        best = min(best, time.process_time() - start)
    assert contents(back) == contents(scene)
    assert path.stat().st_size < 2000, f"{path.stat().st_size} bytes of YAML: the arrays were not used"
    assert best < 1.0, f"loading took {best:.2f} s"


def test_tables_may_be_written_by_hand(tmp_path):
    np.savez(tmp_path / "net.npz", p=np.eye(3), edges=np.array([[0, 1], [1, 2]]), l=np.array([2.0, NAN]))
    (tmp_path / "net.yaml").write_text("""taut: 1
arrays: net.npz
bodies: [{kind: particle, many: {prefix: node, position: "array:p", mass: 1e-3}}]
constraints: [{kind: distance, many: {points: "array:edges", length: "array:l"}}]
""")
    scene = load(tmp_path / "net.yaml")
    assert list(scene.bodies) == ["node_0", "node_1", "node_2"]
    assert scene.bodies["node_2"].mass == 1e-3
    lengths = [constraint.arguments["length"] for constraint in scene.constraints.values()]
    assert lengths == [Signal(2.0), None], "NaN must leave the length to taut"


@pytest.mark.parametrize("table, words", [
    ('{position: "array:q"}', "unknown array 'q'. Known: p."),
    ('{position: "array:p", mass: "array:p"}', "its array has the shape (3, 3); it must be (3,)"),
    ('{mass: 1}', "have no position"),
    ('{position: "array:p", path: [0, 0, 0]}', "unknown key 'path'"),
])  # fmt: skip
def test_mistaken_tables_are_refused(tmp_path, table, words):
    np.savez(tmp_path / "a.npz", p=np.eye(3))
    (tmp_path / "a.yaml").write_text(f"taut: 1\narrays: a.npz\nbodies: [{{kind: particle, many: {table}}}]\n")
    with pytest.raises(TautError) as told:
        load(tmp_path / "a.yaml")
    assert words in str(told.value), f"said: {told.value}"


MISTAKEN = """taut: 1
gravity: [0, -9.81]
bodies:
  - {kind: particle, name: a, position: [0, 0, 0], fixed: true}
  - {kind: partcle, name: b, position: [0, 0, 0]}
  - kind: particle
    postion: [0, 1, 2]
    mass: -1e-3
constraints:
  - {kind: distance, points: [a, c], length: sin(q)}
  - {kind: distance, length: 1}
  - {kind: custom, points: [a], function: foo}
  - {kind: distance, points: [a, c], sense: "=>"}
obstacles:
  - {kind: floor, point: [0, 0, 0]}
  - {kind: half_space, point: [0, 0, 0]}
contacts:
  - {frist: [a], restitution: 3}
suggested: {dt: 0}
"""


def test_all_mistakes_of_a_file_are_told_with_line_and_column(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(MISTAKEN)
    with pytest.raises(TautError) as told:
        load(path)
    for place, words in (
        ("2:10: gravity", "has 2 entries"),
        ("5:12: bodies[1].kind", "Did you mean 'particle'"),
        ("7:5: bodies[2].postion", "Did you mean 'position'"),
        ("8:11: bodies[2].mass", "value is -0.001"),
        ("10:46: constraints[0].length", "unknown symbol 'q'"),
        ("11:5: constraints[1]", "missing key 'points'"),
        ("12:33: constraints[2].function", "unknown key 'function'"),
        ("13:45: constraints[3].sense", "choose '==', '>=' or '<='"),
        ("15:12: obstacles[0].kind", "unknown kind 'floor'"),
        ("16:5: obstacles[1]", "missing key 'normal'"),
        ("18:6: contacts[0].frist", "Did you mean 'first'"),
        ("18:31: contacts[0].restitution", "it must lie between 0 and 1"),
        ("18:5: contacts[0]", "missing key 'first'"),
        ("19:17: suggested.dt", "value is 0"),
    ):
        line = next((x for x in str(told.value).splitlines() if f"{path}:{place}" in x), None)
        assert line is not None and words in line, f"{place} not told well in:\n{told.value}"
    assert "14 mistakes" in str(told.value), told.value


@pytest.mark.parametrize("text, words", [
    ("", "is empty"),
    ("- 1\n- 2\n", "holds a list"),
    ("just words", "holds a single value"),
    ("a: [1,\nb", "2:2: this is not YAML"),
    ("taut: 1\ntaut: 1\n", "2:1: this is not YAML: found duplicate key"),
    ("name: x\n", "missing key 'taut'; begin with 'taut: 1'"),
    ("taut: 2\n", "1:7: taut: value is 2; this taut reads the format 1"),
    ("taut: 1\nbodies: 3\n", "2:9: bodies: value is 3; give a list"),
    ("taut: 1\nbodies: &a [*a]\n", "bodies[0]"),
    ("taut: 1\nconstraints:\n  - {kind: distance, points: [x, y]}\n",
     "3:5: constraints[0]: distance 'distance_0': unknown body 'x'"),
    ("taut: 1\ncontacts:\n  - {first: [x]}\n", "3:5: contacts[0]: contacts 'contacts_0': unknown body or obstacle 'x'"),
    ("taut: 1\nobstacles:\n  - {kind: half_space, point: [0, 0, 0], normal: [0, 0, 0]}\n",
     "3:5: obstacles[0]: obstacle 'half_space_0': its normal has no direction"),
    ("taut: 1\nbodies: [{kind: particle, many: {position: 'array:p'}}]\n", "missing key arrays"),
    ("taut: 1\narrays: no.npz\nbodies: [{kind: particle, many: {position: 'array:p'}}]\n", "no array file"),
])  # fmt: skip
def test_what_is_not_a_scene_file_gets_one_message(tmp_path, text, words):
    path = tmp_path / "scene.yaml"
    path.write_text(text)
    with pytest.raises(TautError) as told:
        load(path)
    assert words in str(told.value), f"said: {told.value}"


def test_saving_never_leaves_half_a_file(tmp_path, monkeypatch):
    scene = everything()
    path = scene.save(tmp_path / "scene.yaml")
    before = path.read_bytes()
    with pytest.raises(TautError, match="exists; choose another name or pass overwrite=True"):
        scene.save(path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TautError, match="can not be written: No space left"):
        scene.save(path, arrays=True, overwrite=True)
    assert os.listdir(tmp_path) == ["scene.yaml"], os.listdir(tmp_path)
    assert path.read_bytes() == before


def test_the_contacts_of_the_manual_load(tmp_path):
    manual = (Path(__file__).parent.parent / "docs" / "scenes.md").read_text()
    (text,) = (block for block in re.findall(r"```yaml\n(.*?)```", manual, re.S) if "contacts:" in block)
    (tmp_path / "balls.yaml").write_text("taut: 1\n" + text)
    scene = load(tmp_path / "balls.yaml")
    names = [pair.name for group in scene.groups.values() for pair in expand(scene, group)]
    assert names == ["ball_0|ball_1", "ball_0|floor", "ball_1|floor"], names


def test_python_functions_are_not_written(tmp_path):
    scene, (_, b, _) = three()
    scene.custom(b, function=lambda q, t: q[0, 0], name="own")
    with pytest.raises(TautError, match="custom 'own': a Python function can not be written"):
        scene.save(tmp_path / "scene.yaml")
    assert not os.listdir(tmp_path)


def test_the_schema_lists_every_kind_and_is_json():
    found = json.loads(json.dumps(schema()))
    for section, kinds in (("constraints", CONSTRAINTS), ("forces", FORCES)):
        parts = found["properties"][section]["items"]["anyOf"]
        assert {part["properties"]["kind"]["const"] for part in parts} == set(kinds)
    things = found["properties"]["obstacles"]["items"]["anyOf"]
    assert {thing["properties"]["kind"]["const"] for thing in things} == set(obstacle_kinds())
    assert set(found["properties"]["contacts"]["items"]["properties"]) == \
        {"name", "first", "second", "restitution", "friction"}
    assert found["additionalProperties"] is False and "taut" in found["required"]


@pytest.mark.parametrize("text, words", [
    ("x = 1", "has no function build()"),
    ("def build(:", "scene.py:1: SyntaxError"),
    ("def build():\n    return 3", "returned int"),
    ("def build():\n    x = 1\n    return x / 0", "scene.py:3: ZeroDivisionError"),
    ("import taut.scene\ndef build():\n    taut.scene.Scene().particle((0, 0))", "scene.py:3: particle"),
    ("def build(n=3): pass", "has no parameter 'm'. Parameters: n=3."),
])  # fmt: skip
def test_mistakes_in_python_scenes_name_the_users_line(tmp_path, text, words):
    path = tmp_path / "scene.py"
    path.write_text(text)
    parameters = {"m": 1} if "n=3" in text else {}
    with pytest.raises(TautError) as told:
        load_python(path, **parameters)
    assert words in str(told.value), f"said: {told.value}"


def test_scenes_open_by_gallery_name_and_by_file(tmp_path):
    scene = open_scene("chain", n=4)
    path = scene.save(tmp_path / "chain.yaml")
    code = "from taut.scene import gallery\ndef build(n): return gallery('chain', n=n)"
    (tmp_path / "chain.py").write_text(code)
    assert open_scene(str(path)) == scene == open_scene(str(tmp_path / "chain.py"), n=4)
    for what, parameters, words in (
        ("chian", {}, "Did you mean 'chain'"),
        ("chain", {"m": 3}, "has no parameter 'm'"),
        ("chain", {"n": 2.5}, "parameter n is 2.5; give a whole number"),
        (str(path), {"n": 3}, "takes no parameters"),
        (str(tmp_path / "no.yaml"), {}, "there is no scene file"),
    ):
        with pytest.raises(TautError) as told:
            open_scene(what, **parameters)
        assert words in str(told.value), f"{what}: said {told.value}"


def test_parameters_are_read_from_text():
    read = parse_parameters(["n=100", "length = 1e-3", "span=none", "flag=true", "word=abc"])
    assert repr(read) == "{'n': 100, 'length': 0.001, 'span': None, 'flag': True, 'word': 'abc'}", read
    for text in ("n", "=3", "n=", "a b=3"):
        with pytest.raises(TautError, match="not of the form NAME=VALUE"):
            parse_parameters([text])


def test_a_path_given_as_one_function_is_compiled_and_differentiated():
    import math
    import warnings

    def path(t):
        return math.sin(2.0 * t), 0.3 * t * t, 1.0

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # running in the interpreter would be a warning
        found = [signal.at(0.7) for signal in _driven(path)]
    wanted = [
        (math.sin(1.4), 2.0 * math.cos(1.4), -4.0 * math.sin(1.4)),
        (0.3 * 0.49, 0.6 * 0.7, 0.6),
        (1.0, 0.0, 0.0),
    ]
    worst = max(abs(a - b) for one, other in zip(found, wanted) for a, b in zip(one, other))
    assert worst < 1e-8, f"value or derivatives off by {worst:.3g}"


def _driven(path):
    scene = Scene()
    scene.particle(path=path, name="a")
    return scene.bodies["a"].path
