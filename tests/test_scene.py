"""Scenes: what they hold, their names, points, paths and shapes, and which pairs a group stands for."""

from __future__ import annotations

import inspect
import warnings
from math import cos, pi, sin

import numpy as np
import pytest
from words_scene import NAN, contents, three

from taut.constraints import KINDS as CONSTRAINTS
from taut.errors import TautError, TautWarning
from taut.expressions import Signal
from taut.forces import KINDS as FORCES
from taut.scene import Point, Scene
from taut.scene.groups import expand, pair_count
from taut.scene.places import labels, places, radii
from taut.scene.shapes import solid

# What a scene holds


def test_each_kind_is_a_method_with_its_own_signature_and_doc():
    for kind in (*CONSTRAINTS.values(), *FORCES.values()):
        method = getattr(Scene, kind.name)
        names = list(inspect.signature(method).parameters)
        both = ["from_", "until", "active", "when"]
        if kind.name in CONSTRAINTS:
            both = ["sense", "restitution", "friction", *both, "ease"]
        points = ["points"] if kind.points is None else kind.points
        wanted = ["self", *points, *(a.name for a in kind.arguments), *both, "name"]
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
