"""Unusual combinations of joints, drivers and rolling, each beside equations of motion in coordinates of its own.

What the second formulation knows are places and turns of bodies as functions of its coordinates (words_minimal.py); the
forces of joints and drivers follow from what each body needs.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy import array, sin
from words_minimal import SKEW, Minimal, turn

import taut

CLOSE = 2e-8  # of what reference and a motion of rtol 1e-11 may differ by


def told(run, name):
    """λ over time of a row."""
    return run[name].multiplier.values.ravel()


def over(motion, value):
    return array([value(at) for at in motion])


ARM = array([0.1, -0.3, 0.05])


def hung(q, t):
    R = turn("z", q[0]) @ turn("x", -0.7 * sin(3 * t))
    return {"rod": (R @ ARM, R)}


CROSS = Minimal({"rod": (1.2, SKEW)}, hung)
CROSS_START = CROSS.start([0.3], [1.0])


def cross() -> taut.Scene:
    """The second angle of a universal joint is driven: the turn of the cross's axis on b about the one on a."""
    scene = taut.Scene()
    rod = CROSS.add(scene, "rod", CROSS_START)
    scene.universal(rod.at(tuple(-ARM)), (0, 0, 0), axis=CROSS_START.rod.R[:, 0], axis_2=(0, 0, 1), angle_1=0.3,
                    name="cross")  # fmt: skip
    scene.drive("cross", value="0.7*sin(3*t)", coordinate="angle_2", name="motor")
    return scene


def test_the_second_angle_of_a_universal_joint_is_driven_with_the_torque_that_the_rod_needs(simulate):
    motion, run = CROSS.solve(np.linspace(0.0, 1.0, 11), CROSS_START), simulate(cross(), "reference", 0.1, 1.0)
    assert CROSS.worst(run, motion) < CLOSE
    torque = over(motion, lambda at: -(at.rod.torque + np.cross(at.rod.x, at.rod.force)) @ at.rod.R[:, 0])
    assert np.abs(told(run, "motor") - torque).max() < CLOSE
    assert np.abs(run["cross"].angle_1.values - over(motion, lambda at: at.q[0])).max() < CLOSE


@pytest.mark.parametrize("method, expected", [("rattle", 2), ("generalized_alpha", 2), ("implicit_second", 2),
                                              ("lagrange", 4)])  # fmt: skip
def test_methods_drive_a_second_angle_with_their_order(method, expected, simulate):
    motion = CROSS.solve(np.linspace(0.0, 0.4, 5), CROSS_START)
    errors = [CROSS.worst(simulate(cross(), method, h, 0.4, record_every=round(0.1 / h)), motion, accelerations=False)
              for h in (0.005, 0.0025)]  # fmt: skip
    assert abs(np.log2(errors[0] / errors[1]) - expected) < 0.2, f"errors {errors}"


def assert_rolls(simulate, system, scene, start):
    """The motion, and the force of the ground."""
    motion, run = system.solve(np.linspace(0.0, 0.6, 7), start), simulate(scene, "reference", 0.1, 0.6)
    assert system.worst(run, motion) < CLOSE
    push = run["ground"].force.sel(body="ball").values
    assert np.abs(push - over(motion, lambda at: at.ball.force)).max() < CLOSE * np.abs(push).max()


def euler(a, b, c):
    return turn("y", a) @ turn("x", b) @ turn("z", c)


def test_a_ball_rolls_on_a_plane_that_is_shaken_and_tilted(simulate):
    r = 0.15

    def plane(t):
        return array([0.2 * sin(3 * t), 0.1 * sin(t), 0 * t]), turn((0.4, 0.2, 1.0), 0.3 * sin(2 * t))

    def stand(q, t):
        origin, tilt = plane(t)
        return {"ball": (origin + tilt @ [q[0], r, q[1]], euler(*q[2:]))}

    moving = Minimal({"plane": (1.0, np.ones(3))}, lambda q, t: {"plane": plane(t)})  # for its velocities

    def slip(at):
        ground = moving.look(np.zeros(0), np.zeros(0), at.t).plane
        up = ground.R[:, 1]
        of_ground = ground.v + np.cross(ground.w, at.ball.x - r * up - ground.x)
        return (at.ball.v - np.cross(at.ball.w, r * up) - of_ground * at.rate) @ ground.R[:, [0, 2]]

    system = Minimal({"ball": (0.7, (0.006, 0.006, 0.009))}, stand, conditions=slip)
    start, scene = system.start([0.1, 0.2, 0.3, 0.5, -0.2], [0.3, -0.2, 1.0, 0, 0]), taut.Scene()
    table = scene.rigid(path=("0.2*sin(3*t)", "0.1*sin(t)", 0), rotation=((0.4, 0.2, 1.0), "0.3*sin(2*t)"))
    scene.rolling(system.add(scene, "ball", start, radius=r), table, name="ground")
    assert_rolls(simulate, system, scene, start)


def test_a_ball_rolls_on_a_seesaw_that_gives_way(simulate):
    r, half = 0.1, 0.05

    def stand(q, t):
        plank = turn("z", q[0])
        return {"plank": (plank @ [0.02, -0.03, 0], plank), "ball": (plank @ [q[1], half + r, q[2]], euler(*q[3:]))}

    def slip(at):
        lowest = at.ball.x - r * at.plank.R[:, 1]
        of_ball = at.ball.v + np.cross(at.ball.w, lowest - at.ball.x)
        return (of_ball - np.cross(at.plank.w, lowest)) @ at.plank.R[:, [0, 2]]

    bodies = {"plank": (4.0, (0.1, 0.5, 0.45)), "ball": (0.5, (0.002,) * 3)}
    system = Minimal(bodies, stand, lambda q, u, t: [-10 * q[0], 0, 0, 0, 0, 0], slip)
    start, scene = system.start([0.1, 0.2, 0.1, 0.3, 0.2, 0.1], [0, 0.3, 0.4, 2, 0, 0]), taut.Scene()
    plank, ball = (system.add(scene, name, start) for name in bodies)
    scene.hinge(plank.at((-0.02, 0.03, 0)), (0, 0, 0), axis=(0, 0, 1), angle=0.1, name="pin")
    scene.spring_on("pin", stiffness=10.0)
    scene.rolling(ball, plank.at((-0.02, 0.03 + half, 0)), normal=start.plank.R[:, 1], radius=r, name="ground")
    assert_rolls(simulate, system, scene, start)


def test_a_ball_whose_weight_lies_beside_its_middle_rolls(simulate):
    r, off = 0.2, array([0.01, 0.03, -0.02])  # from the centre of mass to the middle

    def stand(q, t):
        R = euler(*q[2:])
        return {"ball": ([q[0], r, q[1]] - R @ off, R)}

    def slip(at):
        return (at.ball.v + np.cross(at.ball.w, at.ball.R @ off - [0, r, 0]))[[0, 2]]

    system = Minimal({"ball": (1.1, 0.6 * SKEW)}, stand, conditions=slip)
    start, scene = system.start([0, 0, 0.3, 0.4, 0.2], [0, 0, 5, 2, -3]), taut.Scene()
    scene.rolling(system.add(scene, "ball", start).at(tuple(off)), (0, 0, 0), radius=r, name="ground")
    assert_rolls(simulate, system, scene, start)


def test_a_door_on_two_hinges_swings_on_a_sleigh(simulate):
    """Redundant rows beside a condition on velocities: the edge's force and the sum of the hinges' are decided."""

    def stand(q, t):
        sled, door = turn("y", q[2]), turn("y", q[2] + q[3])
        return {"sled": (array([q[0], 0, q[1]]), sled),
                "door": ([q[0], 0, q[1]] + sled @ [0.3, 0.1, 0.05] + door @ [0.4, 0.05, 0], door)}  # fmt: skip

    def slip(at):
        return [(at.sled.v + np.cross(at.sled.w, at.sled.R @ [-0.5, 0, 0])) @ at.sled.R[:, 2]]

    bodies = {"sled": (3.0, (0.1, 0.3, 0.2)), "door": (1.0, (0.05, 0.08, 0.06))}
    system = Minimal(bodies, stand, lambda q, u, t: [0, 0, 0, -2 * (q[3] - 0.5) - 0.1 * u[3]], slip)
    start, scene = system.start([0, 0, 0, 0], [1.0, -0.4, 0.8, -2.0]), taut.Scene()
    sled, door = (system.add(scene, name, start) for name in bodies)
    scene.planar_joint(sled, (0, 0, 0), axis=(0, 1, 0), name="ice")
    scene.skate(sled.at((-0.5, 0, 0)), direction=(1, 0, 0), name="edge")
    for k, y in enumerate((-0.2, 0.3)):
        scene.hinge(door.at((-0.4, y - 0.05, 0)), sled.at((0.3, y + 0.1, 0.05)), axis=(0, 1, 0), name=f"hinge{k}")
    scene.spring_on("hinge0", stiffness=2.0, damping=0.1, rest=0.5)
    motion, run = system.solve(np.linspace(0.0, 1.0, 11), start), simulate(scene, "reference", 0.1, 1.0)
    assert system.worst(run, motion) < CLOSE
    hinges = sum(run[f"hinge{k}"].force.sel(body="door").values for k in (0, 1))
    assert np.abs(hinges - over(motion, lambda at: at.door.force)).max() < CLOSE
    assert np.abs(np.abs(told(run, "edge")) - np.abs(over(motion, lambda at: at.μ[0]))).max() < CLOSE


def test_a_snakeboard_is_driven_by_its_feet_and_a_rotor(simulate):
    """Two skates that steer against each other and a rotor, all prescribed: their torques, and where it goes."""
    feet = {"front": 0.5, "rear": -0.5}

    def stand(q, t):
        at, board, steer = array([q[0], 0, q[1]]), turn("y", q[2]), 0.3 + 0.6 * sin(2 * t)
        return {"board": (at, board), "front": (at + board @ [0.5, 0, 0], turn("y", q[2] + steer)),
                "rear": (at - board @ [0.5, 0, 0], turn("y", q[2] - steer)),
                "rotor": (at, turn("y", q[2] + 0.9 * sin(2 * t)))}  # fmt: skip

    def slip(at):
        return [getattr(at, foot).v @ getattr(at, foot).R[:, 2] for foot in feet]

    bodies = {"board": (3.0, (0.15, 0.3, 0.16)), "front": (0.5, (0.01, 0.02, 0.01)), "rear": (0.5, (0.01, 0.02, 0.01)),
              "rotor": (1.0, (0.2, 0.4, 0.21))}  # fmt: skip
    system = Minimal(bodies, stand, conditions=slip)
    start, scene = system.start(np.zeros(3), np.zeros(3)), taut.Scene()
    board = system.add(scene, "board", start)
    scene.planar_joint(board, (0, 0, 0), axis=(0, 1, 0))
    ways = {"front": "0.6*sin(2*t)", "rear": "-0.6*sin(2*t)", "rotor": "0.9*sin(2*t)"}
    for name, way in ways.items():
        part = system.add(scene, name, start)
        scene.hinge(part, board.at((feet.get(name, 0.0), 0, 0)), axis=(0, 1, 0), name=f"pin_{name}")
        scene.drive(f"pin_{name}", angle=way, name=f"drive_{name}")
        if name in feet:
            scene.skate(part, direction=getattr(start, name).R[:, 0])
    motion, run = system.solve(np.linspace(0.0, 2.0, 6), start), simulate(scene, "reference", 0.4, 2.0)
    assert system.worst(run, motion) < CLOSE and np.abs(motion[-1].q).max() > 0.02
    for name in ways:
        torque = over(motion, lambda at, name=name: getattr(at, name).torque[1])
        assert np.abs(told(run, f"drive_{name}") - torque).max() < CLOSE, name


def test_all_three_coordinates_of_a_planar_joint_are_driven_on_a_swinging_host(simulate):
    pin, arm, seat = array([0.2, 0.1, 1.0]), array([0.3, -0.1, 0.05]), array([0.1, 0.2, -0.05])
    off, x, z = array([0.05, 0.02, -0.04]), array([2.0, 1.0, -2.0]) / 3.0, array([1.0, 2.0, 2.0]) / 3.0
    y = np.cross(z, x)

    def stand(q, t):
        host, along = turn(pin, q[0]), 0.1 * sin(3 * t) * x + 0.05 * t**2 * y
        plate = host @ turn(z, 0.4 * sin(2 * t))
        return {"host": (host @ arm, host), "plate": (host @ (arm + seat + along) + plate @ off, plate)}

    bodies = {"host": (2.0, 3 * SKEW), "plate": (1.0, SKEW)}
    system = Minimal(bodies, stand)
    start, scene = system.start([0.0], [1.0]), taut.Scene()
    host, plate = (system.add(scene, name, start) for name in bodies)
    scene.hinge(host.at(tuple(-arm)), (0, 0, 0), axis=pin, name="pin")
    scene.planar_joint(plate.at(tuple(-off)), host.at(tuple(seat)), axis=z, direction=x, name="plane")
    for name, way in {"displacement_x": "0.1*sin(3*t)", "displacement_y": "0.05*t**2", "angle": "0.4*sin(2*t)"}.items():
        scene.drive("plane", value=way, coordinate=name, name=name)
    motion, run = system.solve(np.linspace(0.0, 1.0, 6), start), simulate(scene, "reference", 0.2, 1.0)
    assert system.worst(run, motion) < CLOSE

    def needed(at):
        turning = at.plate.torque + np.cross(at.plate.R @ off, at.plate.force)
        return [at.host.R @ x @ at.plate.force, at.host.R @ y @ at.plate.force, at.host.R @ z @ turning]

    found = np.stack([told(run, name) for name in ("displacement_x", "displacement_y", "angle")], axis=1)
    assert np.abs(found - over(motion, needed)).max() < CLOSE
