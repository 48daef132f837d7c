"""The gallery: every scene builds, keeps its conditions at the start, and survives its own file."""

from __future__ import annotations

import inspect
from math import cos, pi, sin

import numpy as np
import pytest

from taut.errors import TautError
from taut.scene import SCENES, Scene, gallery, load
from taut.scene.places import places

# Scenes without formulas of a few coordinates: loops, rigid bodies, a start that breaks the conditions.
MAXIMAL = {"ten_link_sawtooth", "bead_on_curve", "car_axis", "four_bar", "inconsistent_start"}
CONSISTENT = [name for name in SCENES if name != "inconsistent_start"]


@pytest.fixture(scope="module")
def scenes() -> dict[str, Scene]:
    return {name: gallery(name) for name in SCENES}


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_survives_its_own_file(name, scenes, tmp_path):
    assert load(scenes[name].save(tmp_path / "scene.yaml")) == scenes[name]


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_explains_itself_and_suggests_a_run(name, scenes):
    entry = SCENES[name]
    assert scenes[name].name == name
    assert {"dt", "duration"} <= scenes[name].suggested.keys()
    assert entry.doc.endswith((".", ":")) or entry.doc[-1].isalnum(), entry.doc
    for parameter in inspect.signature(entry.function).parameters:
        assert parameter in entry.function.__doc__, f"{name}: parameter {parameter} is not explained"


@pytest.mark.parametrize("name", CONSISTENT)
def test_lengths_and_joints_hold_at_the_start(name, scenes):
    scene = scenes[name]
    worst = 0.0
    for constraint in scene.constraints.values():
        at = places(constraint.points, scene.bodies)
        if constraint.kind == "distance":
            worst = max(worst, abs(np.linalg.norm(at[0] - at[1]) - constraint.arguments["length"].at(0.0)[0]))
        elif constraint.kind == "ball":
            worst = max(worst, np.linalg.norm(at[0] - at[1]))
    assert worst < 1e-14, f"off by {worst:g} m"


@pytest.mark.parametrize("name", [name for name in SCENES if name not in MAXIMAL])
def test_reduced_coordinates_describe_the_same_start(name, scenes):
    """Positions and velocities from the formulas equal those of the bodies."""
    scene = scenes[name]
    known = {"sin": np.sin, "cos": np.cos, "__builtins__": {}}
    h = 1e-6

    def at(time, body):
        values = {n: value + rate * time for n, value, rate in scene.reduced_map.coordinates}
        texts = scene.reduced_map.positions[body]
        return np.array([eval(text, known, {**values, "t": time}) for text in texts])

    free = {body.name for body in scene.bodies.values() if body.motion == "free"}
    assert set(scene.reduced_map.positions) == free
    for body in free:
        speed = (at(h, body) - at(-h, body)) / (2 * h)
        assert np.allclose(at(0.0, body), scene.bodies[body].position, atol=1e-12), body
        assert np.allclose(speed, scene.bodies[body].velocity, atol=1e-8), f"{body}: {speed}"


def test_a_hanging_chain_reaches_both_pins_with_every_link_at_length():
    for n, length, span in ((5, 0.4, 1.2), (2, 1.0, 1.9), (40, 0.1, 0.5)):
        scene = gallery("chain", n=n, length=length, span=span, mass=0.2, drag=1.0)
        at = np.array([body.position for body in scene.bodies.values()])
        worst = abs(np.linalg.norm(np.diff(at, axis=0), axis=1) - length).max()
        assert worst < 1e-14, f"n = {n}: a link is off by {worst:g} m"
        assert tuple(at[-1]) == (span, 0, 0) and at[1, 1] < 0, "it must hang between the pins"
        assert scene.bodies["end"].motion == "fixed" and list(scene.forces) == ["drag"]


def test_four_bars_share_their_joints_and_move_together():
    scene = gallery("four_bar", n=2)
    assert len(scene.bodies) == 5 and len(scene.constraints) == 3 + 4
    for constraint in scene.constraints.values():
        speeds = []
        for point, place in zip(constraint.points, places(constraint.points, scene.bodies)):
            body = scene.bodies.get(point.body)
            if body is None:
                speeds.append(np.zeros(3))
            else:
                arm = place - np.array(body.position)
                speeds.append(body.velocity + np.cross(body.angular_velocity, arm))
        assert np.allclose(speeds[0], speeds[1], atol=1e-15), f"{constraint.name}: {speeds}"
    assert scene.bodies["upright_0"].inertia[2][2] == pytest.approx(1 / 12, abs=1e-16)


def test_inconsistent_start_has_the_errors_it_names():
    scene = gallery("inconsistent_start", stretch=0.25, rate=-0.5)
    bodies = [scene.bodies[name] for name in ("anchor", "middle", "tip")]
    for a, b in zip(bodies, bodies[1:]):
        assert b.position[0] - a.position[0] - 10 == pytest.approx(0.25, abs=1e-14)
        assert b.velocity[0] - a.velocity[0] == -0.5


def test_the_bead_starts_on_its_turning_hoop():
    scene = gallery("bead_on_hoop")
    bead, turning = scene.bodies["bead"], scene.constraints["turning"]
    (n, dn, _), (_, _, _), (m, dm, _) = (signal.at(0.0) for signal in turning.arguments["normal"])
    rate = dn * bead.position[0] + dm * bead.position[2] + n * bead.velocity[0] + m * bead.velocity[2]
    assert abs(rate) < 1e-15, f"the condition's rate is {rate:g}"
    assert bead.position == pytest.approx((sin(0.1), -cos(0.1), 0))


@pytest.mark.parametrize("name, parameters, words", [
    ("chain", {"n": 0}, "parameter n is 0"),
    ("chain", {"n": 3, "span": 3.0}, "reach only 3 m"),
    ("pendulum", {"length": -1}, "parameter length is -1"),
    ("angle_hold", {"angle": pi}, "parameter angle"),
    ("ten_link_sawtooth", {"tooth": 2}, "parameter tooth is 2"),
    ("car_axis", {"n": 2}, "has no parameter 'n'. It has no parameters."),
    ("pendulm", {}, "Did you mean 'pendulum'"),
])  # fmt: skip
def test_mistaken_parameters_are_refused(name, parameters, words):
    with pytest.raises(TautError) as told:
        gallery(name, **parameters)
    assert words in str(told.value), f"said: {told.value}"


def test_car_axis_is_the_published_problem(scenes):
    """Test set for IVP solvers, problem caraxis: M = 10, eps = 0.01, L = 1, L0 = 0.5, r = 0.1, omega = 10."""
    scene = scenes["car_axis"]
    left, right, road = (scene.bodies[name] for name in ("left", "right", "road"))
    assert (left.position, right.position) == ((0, 0.5, 0), (1, 0.5, 0))
    assert left.velocity == right.velocity == (-0.5, 0, 0)
    assert left.mass == right.mass == 10 * 0.01**2 / 2 and scene.gravity == (0, -1, 0)
    t = 0.3
    x, y = road.path[0].at(t)[0], road.path[1].at(t)[0]
    assert y == pytest.approx(0.1 * sin(10 * t), rel=1e-15) and x * x + y * y == pytest.approx(1, rel=1e-15)
