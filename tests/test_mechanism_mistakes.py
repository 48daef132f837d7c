"""Mistakes of a first user with joints, motors, velocity conditions and what is asked of a run: each is one message."""

from __future__ import annotations

import copy
import math
import sys
from functools import cache
from math import nan
from types import FunctionType

import pytest

import taut
from taut.analysis.mechanics.doctor import examine
from taut.cli import main
from taut.errors import TautError, TautWarning
from taut.expressions.inspection import name_of, plain
from taut.scene.gallery import SCENES

Z = (0, 0, 1)


def pendulum() -> taut.Scene:
    scene = taut.Scene(name="pendulum")
    bar = scene.rigid((0.5, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1), name="bar")
    scene.hinge(bar.at((-0.5, 0, 0)), (0, 0, 0), axis=Z, name="pin")
    return scene


def bench() -> taut.Scene:
    """Two bodies on two joints, a particle and a coordinate."""
    scene = pendulum()
    sled = scene.rigid((2, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1), name="sled")
    scene.slider(sled, (2, 0, 0), axis=(1, 0, 0), name="guide")
    scene.particle((0, 2, 0), name="ball")
    scene.coordinate(0.0, name="s")
    return scene


def pd(t, q, rate):
    return -5.0 * q - rate


@cache
def swing() -> taut.Run:
    return taut.simulate(pendulum(), method="rattle", dt=0.01, duration=0.05, progress=False)


def refused(ask, *words: str) -> str:
    """The one message, which has the words and stays readable."""
    with pytest.raises((TautError, AttributeError)) as told:
        ask()
    text = str(told.value)
    assert all(word in text for word in words), text
    assert len(text) < 1200, text
    return text


@pytest.mark.parametrize("ask, words", [
    (lambda s: s.controller("pin", pd, rate=100), ("it takes joint", "function=pd")),
    (lambda s: s.drive("pin", "2*t"), ("it takes joint", "by name: angle=, displacement=, value=")),
    (lambda s: s.gear("pin", "guide", 2.0), ("it takes first, second", "ratio=")),
    (lambda s: s.hinge("bar", "sled", Z), ("3 points", "by name: axis=")),
    (lambda s: s.hinge("bar", a="sled", axis=Z), ("a is given twice",)),
    (lambda s: s.hinge("bar", "sled", axis_a=Z), ("axis_a but no axis_b",)),
    (lambda s: s.hinge("bar", "sled", axis=Z, axis_a=Z, axis_b=Z), ("either axis",)),
    (lambda s: s.hinge("bar", "sled", axis=Z, sense=">="), ("always as equalities", "joint_limit")),
    (lambda s: s.hinge("pin", "sled", axis=Z), ("unknown body 'pin'",)),
    (lambda s: s.hinge(taut.scene.specs.Ref("pin"), "sled", axis=Z), ("'pin' is a hinge, not a point",)),
    (lambda s: s.motor(taut.scene.specs.BodyRef("bar", "rigid"), torque=1), ("'bar', a body; give a joint",)),
    (lambda s: s.motor("bar", torque=1), ("unknown joint 'bar'", "it is a body")),
    (lambda s: s.point_on_line("bar", "sled", direction=Z), ("unknown argument 'direction'; here it is 'axis'",)),
    (lambda s: s.screw("bar", "sled", axis=Z, lead=0.1), ("here it is 'pitch'",)),
    (lambda s: s.motor("pin", target=1, kp=3), ("here it is 'stiffness'",)),
    (lambda s: s.joint_limit("pin", minimum=-1), ("here it is 'lower'",)),
    (lambda s: s.limit("s", lower=-1), ("here it is 'minimum'",)),
    (lambda s: s.spring("bar", "sled", stiffness=1, rest=1), ("here it is 'length'",)),
    (lambda s: s.spring("bar", "sled", stiffness=1, length=-1), ("its length is -1",)),
    (lambda s: s.force((0, 0, 0), value=(0, 0, 1)), ("places in the world alone", "give a body")),
    (lambda s: s.spring((0, 0, 0), (1, 0, 0), stiffness=1), ("places in the world alone",)),
    (lambda s: s.spring_on("pin"), ("neither stiffness nor damping",)),
    (lambda s: s.rolling("bar", (0.5, -1, 0), radius=1, tube=0.2), ("without an axis it is a ball",)),
    (lambda s: s.custom("bar", formula="bar.vx"), ("'bar.vx' is a velocity", "velocity=")),
    (lambda s: s.custom("bar", function=lambda q, t: q[0, 0], rows=0), ("rows is 0",)),
    (lambda s: s.custom("bar", function=lambda q, t: q[0, 0], rows=1.5), ("rows is 1.5",)),
    (lambda s: s.box((0, 0, 0)), ("here it is called 'rigid'",)),
])  # fmt: skip
def test_a_mistake_at_a_joint_says_what_to_write(ask, words):
    scene = bench()
    before = repr(scene)
    refused(lambda: ask(scene), *words)
    assert repr(scene) == before  # nothing half added


@pytest.mark.parametrize("kind, arguments", [
    ("weld", {}), ("ball", {}), ("hinge", {"axis": Z}), ("slider", {"axis": Z}), ("screw", {"axis": Z, "pitch": 0.1}),
    ("distance", {}), ("max_distance", {}), ("spring", {"stiffness": 1.0}), ("rolling", {"radius": 1.0}),
])  # fmt: skip
def test_a_body_joined_with_itself_is_refused(kind, arguments):
    scene = bench()
    bar = taut.scene.specs.BodyRef("bar", "rigid")
    refused(lambda: getattr(scene, kind)(bar.at((0.5, 0, 0)), bar, **arguments), kind, "joins 'bar' with itself")
    if kind in ("weld", "ball", "hinge", "slider"):
        refused(lambda: getattr(scene, kind)((0, 0, 0), (1, 0, 0), **arguments), kind)


def test_a_body_of_another_scene_is_refused_also_by_its_places():
    mine, other = bench(), pendulum()
    pin = mine.rigid((0, 5, 0), mass=1, inertia=1, name="mine")
    bar = other.rigid((0, 5, 0), mass=1, inertia=1, name="mine")
    for there in (bar, bar.at((0.1, 0, 0))):
        refused(lambda there=there: mine.ball(there, "sled"), "'mine' belongs to another scene", "'pendulum'")
    copy.deepcopy(mine).ball(pin, "sled")  # a copy has the same bodies


@pytest.mark.parametrize("kind, axis, words", [
    ("hinge", (1, 0, 0), "turn about z alone; give axis=(0, 0, 1)"), ("slider", (0, 0, 1), "give an axis across z"),
])  # fmt: skip
def test_a_joint_out_of_the_plane_of_its_bodies_is_refused(kind, axis, words):
    scene = taut.Scene()
    flat = scene.rigid((0, 0, 0), mass=1.0, inertia=1.0, planar=True, name="flat")
    other = scene.rigid((0, 0, 0), mass=1.0, inertia=1.0, planar=True, name="other")
    free = scene.rigid((0, 0, 0), mass=1.0, inertia=1.0, name="free")
    for beside in (other, (0, 0, 0)):
        refused(lambda beside=beside: getattr(scene, kind)(flat, beside, axis=axis), kind, "'flat'", words)
    getattr(scene, kind)(flat, free, axis=axis)  # one that is free to turn follows
    getattr(scene, kind)(flat, other, axis=(0, 0, -1) if kind == "hinge" else (1, 2, 0))


@pytest.mark.parametrize("function, words", [
    (lambda: 2.0, ("takes ()", "it is called with t [s]")),
    (lambda t, x: 2.0, ("takes (t, x)", "it is called with t [s]")),
    (lambda t: None, ("returned None", "return one number")),
    (lambda t: "a", ("returned 'a'",)),
    (lambda t: (t, t), ("returned (0.0, 0.0)",)),
    (lambda t: [][3], ("raised IndexError", "mend it there", "test_mechanism_mistakes.py")),
])  # fmt: skip
def test_a_function_of_time_is_judged_where_it_is_given(function, words):
    refused(lambda: bench().drive("pin", angle=function, name="motor"), "drive 'motor': angle", *words)


def test_what_is_called_like_a_function_becomes_one():
    sine, other = plain(math.sin, 1), plain(math.atan2, 2)  # numba compiles nothing but what `def` and `lambda` make
    assert isinstance(sine, FunctionType) and sine(0.3) == math.sin(0.3) and other(1.0, 2.0) == math.atan2(1.0, 2.0)
    assert plain(math.sin, 1) is sine and "'sin'" in name_of(sine)  # compiled once; told by its own name


@pytest.mark.parametrize("function, words", [
    (lambda q, t: None, ("returned None", "one number")),
    (lambda q, t: q, ("return one number",)),
    (lambda q: 0.0, ("takes (q)", "q and t")),
    (lambda q, t: q[7, 0], ("raised IndexError", "mend it there")),
])  # fmt: skip
def test_a_custom_function_is_told_by_its_constraint(function, words):
    scene = pendulum()
    scene.custom("bar", function=function, name="mine")
    refused(lambda: taut.build(scene), "custom 'mine'", *words)


def test_what_ends_a_program_is_not_lost_in_a_controller():
    def stop(t, q, rate):
        if t > 0.02:
            raise KeyboardInterrupt
        return 0.0

    def leave(t, q, rate):
        raise SystemExit(3)

    scene = pendulum()
    scene.controller("pin", function=stop)
    run = taut.simulate(scene, method="rattle", dt=0.01, duration=0.05, progress=False)
    assert run.status == "interrupted" and 0.0 < run.records.time[-1] < 0.05
    scene = pendulum()
    scene.controller("pin", function=leave)
    with pytest.raises(SystemExit):
        taut.simulate(scene, method="rattle", dt=0.01, duration=0.05, progress=False)


@pytest.mark.parametrize("analysis", [taut.equilibrium, taut.linearise])
def test_an_analysis_names_the_force_that_is_no_number(analysis):
    scene = pendulum()
    scene.motor("pin", torque="1/t", name="torque")
    refused(lambda: analysis(scene), "force 'torque'", "'1/t' is not a number at t = 0 s")
    scene = pendulum()
    scene.controller("pin", function=lambda t, q, rate: nan, name="mad")
    refused(lambda: analysis(scene), "controller 'mad' of joint 'pin'", "returned nan")
    taut.equilibrium(pendulum())  # nothing is left over for the next one


@pytest.mark.parametrize("ask, words", [
    (lambda: taut.equilibrium(), ("equilibrium", "scene")),
    (lambda: taut.equilibrium(3), ("equilibrium: scene is 3",)),
    (lambda: taut.equilibrium(pendulum(), tolerance=nan), ("tolerance is nan",)),
    (lambda: taut.equilibrium(pendulum(), tolerance=0), ("tolerance is 0",)),
    (lambda: taut.linearise(), ("linearise", "what")),
    (lambda: taut.linearise(swing()), ("run.at(t)",)),
    (lambda: taut.linearize, ("did you mean 'linearise'?",)),
    (lambda: swing().at(5.0), ("time is 5 s", "from 0 to 0.05 s")),
    (lambda: swing().at(nan), ("time is nan",)),
    (lambda: swing().at("end"), ("time is 'end'",)),
    (lambda: swing().save(3), ("save: path is 3",)),
    (lambda: swing().crossings("pin"), ("the quantity is 'pin'", "run[\"pin\"].angle")),
    (lambda: swing().crossings(swing()["pin"].angle, "up"), ("level is 'up'",)),
    (lambda: swing().extremes(lambda: 1), ("raised TypeError",)),
    (lambda: swing()["pin"].angel, ("hinge 'pin' has no 'angel'; did you mean 'angle'?",)),
    (lambda: swing()["bar"].velocty, ("body 'bar' has no 'velocty'; did you mean 'velocity'?",)),
    (lambda: swing()["bar"].at((0.5, 0, 0)).speed, ("a place on a body has no 'speed'",)),
    (lambda: swing().note, ("did you mean 'notes'?",)),
    (lambda: taut.Scene(grav=(0, 0, 0)), ("argument of Scene 'grav'", "'gravity'")),
    (lambda: taut.simulate(pendulum(), methd="rattle"), ("did you mean 'method'?",)),
    (lambda: taut.simulate(pendulum(), method=""), ("unknown method ''",)),
    (lambda: taut.simulate(pendulum(), method="rattle", dt=1, active_set="exact"), ("inequalities", "has none")),
])  # fmt: skip
def test_what_is_asked_of_runs_and_analyses_is_judged(ask, words):
    refused(ask, *words)


def test_a_driver_without_bounds_ends_the_kinematics(monkeypatch):
    scene = pendulum()
    scene.drive("pin", angle="1/(t - 0.5) + 2")
    with monkeypatch.context() as fewer:
        fewer.setattr(sys.modules["taut.analysis.mechanics.kinematics"], "MOST_STEPS", 50)
        refused(lambda: taut.kinematics(scene, [0.0, 0.5]), "moves too fast", "driver")
    scene = pendulum()
    scene.drive("pin", angle="sqrt(0.2 - t) - sqrt(0.2)", name="root")
    refused(lambda: taut.kinematics(scene, [0.0, 0.3]), "constraint 'root'", "not a number")


def test_limits_of_angles_that_the_start_breaks_are_not_told_in_metres():
    scene = pendulum()
    scene.joint_limit("pin", lower=0.5, upper=1.0, name="stop")
    refused(lambda: taut.simulate(scene, dt=0.01, duration=0.1, progress=False), "'stop[0]'", "at worst by 0.5;")


@pytest.mark.parametrize("method", ["rattle", "reference"])
def test_dry_friction_below_zero_counts_as_none(method):
    with_friction, without = pendulum(), pendulum()
    with_friction.joint_friction("pin", torque="-t")
    ends = [float(taut.simulate(scene, method=method, dt=0.01, duration=0.3, progress=False)["pin"].angle[-1])
            for scene in (with_friction, without)]  # fmt: skip
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_suggestions_that_no_method_takes_are_told():
    scene = pendulum()
    scene.suggest(dt=0.01, duration=0.02, method="rattle", newtn="full")
    with pytest.warns(TautWarning, match=r"suggests 'newtn', which no method takes.*did you mean 'newton'\?"):
        taut.simulate(scene, progress=False)


# On the command line and in files

SCENE = """taut: 1
bodies:
  - {kind: rigid, name: bar, position: [0.5, 0, 0], mass: 1, inertia: [0.1, 0.1, 0.1]}
"""
PIN = "  - {kind: hinge, name: pin, points: [{body: bar, offset: [-0.5, 0, 0]}, [0, 0, 0]], axis: [0, 0, 1]}\n"


@pytest.mark.parametrize("text, words", [
    ("constraints:\n  - {kind: motor, joint: pin}\n", ("5:12", "'motor' does not belong here; put it under forces:")),
    ("constraints:\n  - {kind: drive, joint: pin, angle: t}\n" + PIN, ("5:5", "A joint comes before")),
    ("constraints:\n" + PIN + "forces:\n  - {kind: controller, joint: pin, function: f}\n", ("7:36", "no file holds")),
    ("constraints:\n" + PIN + "  - {kind: joint_limit, joint: pin, min: -1}\n", ("6:37", "here it is 'lower'")),
    ("\tconstraints: []\n", ("4:1", "Indent with spaces")),
])  # fmt: skip
def test_scene_files_say_where_and_what_instead(tmp_path, text, words):
    path = tmp_path / "scene.yaml"
    path.write_text(SCENE + text)
    refused(lambda: taut.load(path), f"{path}:{words[0]}", *words[1:])


LINK = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>\n'
HINGE = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>\n'
ROBOT = f'<robot name="r">\n{LINK.format("a")}{LINK.format("b")}{HINGE}</robot>'


@pytest.mark.parametrize("text, words", [
    ("", ("it holds keys, which are positions",)),
    ("positions: {k: 1}\n", (":1:13: positions.k", "unknown joint 'k'")),
    ("base: fixed\npositions: {j: far}\n", (":2:16", "is 'far'; give a number")),
    ("jonts: []\n", (":1:1: jonts", "Did you mean 'joints'")),
    ("joints: 3\n", (":1:9", "give a list")),
    ("joints:\n  - {kind: hing}\n", (":2:12", "Did you mean 'hinge'")),
    ("joints:\n  - {kind: ball, points: [b, c]}\n", (":2:5", "unknown link 'c'")),
    ("joints:\n  - {kind: hinge, axis: x, points: [a, b]}\n", (":2:25: joints[0].axis", "is 'x'; give three numbers")),
])  # fmt: skip
def test_files_of_loops_say_where(tmp_path, text, words):
    (tmp_path / "arm.urdf").write_text(ROBOT)
    (tmp_path / "arm.loops.yaml").write_text(text)
    refused(lambda: taut.load(tmp_path / "arm.urdf"), f"{tmp_path / 'arm.loops.yaml'}", *words)


def test_a_robot_with_two_roots_and_one_of_macros_are_refused(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ROBOT.replace("</robot>", LINK.format("c") + "</robot>"))
    refused(lambda: taut.load(path), "arm.urdf:5", "'a', 'c' have no parent")
    path.write_text('<robot name="r" xmlns:xacro="x"><xacro:include filename="f"/></robot>')
    refused(lambda: taut.load(path), "arm.urdf:1", "xacro")
    path.write_text(ROBOT)
    refused(lambda: taut.open_scene(str(path), limits="maybe"), "limits is 'maybe'")


@pytest.mark.parametrize("command, words", [
    (["doctor", "slider_crank", "--dt", "0"], "dt is 0"),
    (["doctor", "slider_crank", "--dt", "nan"], "dt is nan"),
    (["run", "slider_crank", "--record-every", "1.5"], '"1.5" is not a whole number'),
])  # fmt: skip
def test_commands_answer_with_one_line(command, words, capsys):
    assert main(command) == 2
    told = capsys.readouterr().err
    assert words in told and "Traceback" not in told and len(told.splitlines()) == 1, told


def test_the_doctor_tells_a_start_that_a_run_refuses():
    scene = pendulum()
    scene.drive("pin", angle="0.5 + t", name="motor")
    start = next(one for one in examine(scene, 0.01) if one.topic == "start")
    assert start.is_warning and "'motor' by -0.5 rad" in start.reason


def test_the_doctor_lets_stiff_forces_not_dictate_the_step():
    scene = taut.gallery("flyball_governor")
    for name in ("method", "dt"):
        scene.suggested.pop(name, None)
    told = {one.topic: one.value for one in examine(scene)}
    assert told["method"] == "generalized_alpha" and float(told["dt"].split()[0]) > 1e-3  # stiff: 4e-6


@pytest.mark.parametrize("name, freedoms, redundant", [
    ("bead_on_curve", 1, ()), ("slider_crank", 0, ()), ("four_bar_rigid", 1, ()), ("heavy_top", 3, ()),
    ("door_on_two_hinges", 1, ("lower, upper",)), ("chaplygin_sleigh", 2, ()), ("bicycle", 3, ()),
])  # fmt: skip
def test_the_doctor_counts_freedoms_as_one_does_by_hand(name, freedoms, redundant):
    assert name in SCENES
    found = examine(taut.gallery(name))
    assert int(next(one.value for one in found if one.topic == "degrees of freedom")) == freedoms
    assert {one.value for one in found if one.topic == "redundant"} == set(redundant)
    assert {"method", "dt"} <= {one.topic for one in found} and not any(one.topic == "start" for one in found)


MUJOCO = """<mujoco>
<worldbody><body name="b"><joint name="j"{}/><geom size="0.1" mass="1"/></body></worldbody>
<actuator>
<{} name="m" joint="j"/></actuator></mujoco>"""


@pytest.mark.parametrize("joint, actuator, controls, words", [
    ("", "motor", "m = 2*sin(t", ("arm.xml: the control of actuator 'm'", "column 6")),
    ("", "motor", "m = 1; m = 2", ("arm.xml: controls give actuator 'm' twice",)),
    ("", 'position kp="-5"', "", ("arm.xml:4: actuator 'm'", "stiffness is -5")),
    (' damping="-1"', "motor", "", ("arm.xml:2: joint 'j'", "damping is -1")),
])  # fmt: skip
def test_actuators_and_joints_of_mjcf_are_told_with_their_line(tmp_path, joint, actuator, controls, words):
    pytest.importorskip("mujoco")
    (tmp_path / "arm.xml").write_text(MUJOCO.format(joint, actuator))
    refused(lambda: taut.open_scene(str(tmp_path / "arm.xml"), controls=controls), *words)


def test_equalities_inside_one_body_are_dropped_with_a_word(tmp_path):
    pytest.importorskip("mujoco")
    inner = '<joint name="j"/><geom size="0.1" mass="1"/><body name="c" pos="1 0 0"><geom size="0.1" mass="1"/></body>'
    (tmp_path / "arm.xml").write_text(f"""<mujoco><worldbody><body name="b">{inner}</body></worldbody>
<equality><connect name="tie" body1="b" body2="c" anchor="0.5 0 0"/></equality></mujoco>""")
    with pytest.warns(TautWarning, match=r"'tie' of bodies that never move against each other \(line 2\)"):
        scene = taut.load(tmp_path / "arm.xml")
    assert list(scene.constraints) == ["j"]


def test_places_beyond_a_float_and_times_before_a_run_are_refused():
    scene = pendulum()
    refused(lambda: scene.rigid((1e200, 0, 0), mass=1.0, inertia=1.0), "position is", "a float can hold")
    refused(lambda: scene.motor("pin", torque=1.0, until=-1.0), "until -1 s", "never")
    turning = {"mass": 1.0, "inertia": 1.0, "rotation": (Z, "1/t")}
    refused(lambda: scene.rigid((0, 0, 0), **turning), "rotation angle at t = 0 is inf")
