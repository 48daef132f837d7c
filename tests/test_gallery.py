"""The gallery: every scene builds, keeps its conditions at the start, and survives its own file."""

from __future__ import annotations

import inspect
from math import cos, pi, sin

import numpy as np
import pytest

from taut.errors import TautError
from taut.scene import SCENES, Constraint, Scene, gallery, load
from taut.scene.groups import expand
from taut.scene.places import places, radii

# Scenes without formulas of a few coordinates: loops, rigid bodies, a start that breaks the conditions.
MAXIMAL = {"ten_link_sawtooth", "bead_on_curve", "car_axis", "four_bar", "bricard", "inconsistent_start"}
MAXIMAL |= {"double_pendulum_rigid", "slider_crank", "four_bar_rigid", "strandbeest_leg", "rigid_chain", "heavy_top",
            "andrews_squeezer", "spinning_t_handle", "gyroscope", "door_on_two_hinges", "universal_shaft",
            "stewart_platform", "flyball_governor", "robot_arm_6dof", "catch_and_throw"}  # fmt: skip
MAXIMAL |= {"cloth_hang", "cloth_ball", "cloth_posts", "cloth_drape", "cloth_fold", "flag_wind", "jelly_block"}
MAXIMAL |= {"goal_keyframes", "rolling_disc", "rolling_coin", "car_turning", "bicycle"}
# Scenes with inequalities.
UNILATERAL = {"acute_corner", "billiard", "newton_cradle", "bouncing_ball", "ball_pile", "slack_rope",
              "block_on_incline"}  # fmt: skip
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
        if constraint.switch is not None:
            continue  # it may begin later
        at = places(constraint.points, scene.bodies)
        if constraint.kind == "distance":
            worst = max(worst, abs(np.linalg.norm(at[0] - at[1]) - constraint.arguments["length"].at(0.0)[0]))
        elif constraint.kind == "ball":
            worst = max(worst, np.linalg.norm(at[0] - at[1]))
    assert worst < 1e-14, f"off by {worst:g} m"


@pytest.mark.parametrize("name", [name for name in SCENES if name not in MAXIMAL | UNILATERAL])
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


def contacts_of(scene: Scene) -> list[Constraint]:
    """All inequalities: those that were written, and the pairs of groups."""
    written = [constraint for constraint in scene.constraints.values() if constraint.sense != "=="]
    return written + [pair for group in scene.groups.values() for pair in expand(scene, group)]


def gap(scene: Scene, contact: Constraint) -> float:
    at = places(contact.points, scene.bodies)
    own = radii(contact.points, scene.bodies)
    if contact.kind == "half_space":
        point, normal = (np.array([s.value for s in contact.arguments[key]]) for key in ("point", "normal"))
        return float(normal @ (at[0] - point)) / np.linalg.norm(normal) - own[0]
    if contact.kind == "linear":
        return float(np.dot(contact.arguments["coefficients"], at[0]))
    apart = float(np.linalg.norm(at[0] - at[1]))
    return apart - sum(own) if contact.kind == "ball_contact" else contact.arguments["length"].value - apart


@pytest.mark.parametrize("name", sorted(UNILATERAL))
def test_nothing_overlaps_at_the_start(name, scenes):
    contacts = contacts_of(scenes[name])
    assert contacts, "it has no inequality"
    least, worst = min((gap(scenes[name], contact), contact.name) for contact in contacts)
    assert least > -1e-15, f"{worst} overlaps by {-least:g} m"


def test_the_billiard_has_its_77_inequalities_and_ten_balls_that_touch():
    scene = gallery("billiard", radius=0.05)
    contacts = contacts_of(scene)
    kinds = [contact.kind for contact in contacts]
    assert (kinds.count("half_space"), kinds.count("ball_contact"), len(kinds)) == (22, 55, 77)
    touching = [contact.name for contact in contacts if abs(gap(scene, contact)) < 1e-15]
    # 4 + 4 with the walls; in rows of 4, 3, 2, 1 there are 6 pairs side by side, and as many one above the other.
    assert sum("left" in name or "bottom" in name for name in touching) == 8, touching
    assert len(touching) == 8 + 12 and not any("cue" in name for name in touching), touching


def test_the_corner_has_the_published_rows(scenes):
    scene = scenes["acute_corner"]
    rows = {name: scene.constraints[name].arguments["coefficients"] for name in ("g1", "g2")}
    assert rows == {"g1": (1, -1, 0), "g2": (0, 1, 0)}, rows


def test_a_pile_is_the_same_for_the_same_seed():
    assert gallery("ball_pile", n=30, seed=3) == gallery("ball_pile", n=30, seed=3)
    assert gallery("ball_pile", n=30, seed=3) != gallery("ball_pile", n=30, seed=4)


def test_a_thousand_balls_are_written_as_a_table_and_read_back(tmp_path):
    scene = gallery("ball_pile", n=1000)
    assert load(scene.save(tmp_path / "pile.yaml")) == scene


def test_the_block_lies_on_its_corners_and_moves_along_the_slope():
    scene = gallery("block_on_incline", angle=0.3, speed=2.0)
    block = scene.bodies["block"]
    gaps = [gap(scene, contact) for contact in contacts_of(scene)]
    assert np.abs(gaps).max() < 1e-15, f"corners are {gaps} m above the slope"
    assert block.velocity == pytest.approx((2 * cos(0.3), -2 * sin(0.3), 0), abs=1e-15)


def test_lifted_balls_of_a_cradle_touch_each_other_and_leave_the_rest():
    scene = gallery("newton_cradle", n=5, lifted=2)
    gaps = {pair.name: gap(scene, pair) for pair in contacts_of(scene)}
    close = [name for name, width in gaps.items() if width < 1e-15]
    assert close == ["ball_0|ball_1", "ball_2|ball_3", "ball_3|ball_4"], gaps


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
    ("newton_cradle", {"lifted": 5}, "at most 4 can be lifted"),
    ("newton_cradle", {"angle": 2}, "parameter angle is 2 rad"),
    ("billiard", {"restitution": 1.2}, "restitution is 1.2"),
    ("bouncing_ball", {"restitution": -1}, "parameter restitution is -1"),
    ("slack_rope", {"span": 3}, "are slack only below 2 m"),
    ("block_on_incline", {"friction": -1}, "parameter friction is -1"),
    ("ball_pile", {"n": 0}, "parameter n is 0"),
    ("cloth_hang", {"n": 2}, "parameter n is 2"),
    ("cloth_ball", {"limit": -0.1}, "parameter limit is -0.1"),
    ("cloth_drape", {"over": "chair"}, "parameter over is 'chair'"),
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
