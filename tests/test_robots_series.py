"""Robots whose files have empty links between joints, and starts beyond their limits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from words_robots import beside

import taut

EMPTY = """<robot name="reach"><link name="base"/>{}</robot>"""
MASS = '<inertial><origin xyz="0.3 0.1 0.05"/><mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.15"/></inertial>'


def series(joints: list[tuple[str, str, str]], places: list[str]) -> str:
    """Joints (name, type, axis) one after the other, with empty links between them."""
    text, parent = "", "base"
    for k, ((name, kind, axis), place) in enumerate(zip(joints, places)):
        last = k == len(joints) - 1
        text += (f'<link name="l{k}">{MASS if last else ""}</link><joint name="{name}" type="{kind}"><parent '
                 f'link="{parent}"/><child link="l{k}"/><origin xyz="{place}" rpy="0 0 0"/><axis xyz="{axis}"/>'
                 '<limit lower="-3" upper="3" effort="9" velocity="9"/><dynamics damping="0.3"/></joint>')  # fmt: skip
        parent = f"l{k}"
    return EMPTY.format(text)


SERIES = {
    "a shoulder": ([("a", "revolute", "0 0 1"), ("b", "continuous", "1 0 0"), ("c", "revolute", "0 1 0")],
                   ["0.1 0 0.3", "0 0 0", "0 0 0"]),
    "a mobile base": ([("a", "prismatic", "1 0 0"), ("b", "prismatic", "0 1 0"), ("c", "continuous", "0 0 1")],
                      ["0 0 0.2", "0 0 0", "0.1 0 0"]),
    "a wrist whose axes do not meet": ([("a", "revolute", "0 0 1"), ("b", "revolute", "0 1 0")],
                                       ["0.1 0 0.3", "0.05 0 0.1"]),
}  # fmt: skip


@pytest.mark.parametrize("case", SERIES)
def test_empty_links_between_joints_make_them_one(tmp_path, case):
    """It moves as with light links there; limits, damping, positions, velocities and motors keep their joints."""
    joints, places = SERIES[case]
    effort = "force" if joints[1][1] == "prismatic" else "torque"
    loops = "positions: {a: 0.3, b: -0.4}\nvelocities: {b: 0.7}\nmotors: [{joint: b, " + effort + ": 0.8}]"
    text, found = series(joints, places), []
    light = ('<inertial><mass value="1e-6"/><inertia ixx="1e-7" iyy="1e-7" izz="1e-7"/></inertial></link>'
             "<joint")  # fmt: skip
    for here in (text, text.replace("</link><joint", light, len(joints) - 1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", taut.TautWarning)
            scene = taut.open_scene(beside(tmp_path, here, loops=loops))
            run = taut.simulate(scene, method="reference", dt=0.02, duration=0.4, progress=False)
        assert run.status == "finished", run.message
        found.append((scene, run, np.asarray(run[f"l{len(joints) - 1}"].position)))
    (one, run, exact), (many, other, near) = found
    assert len(one.bodies) == 1 and len(many.bodies) == len(joints)
    assert np.abs(near - exact).max() < 1e-4 and np.ptp(exact, axis=0).max() > 1e-2
    names = ["angle_1" if kind != "prismatic" else "displacement_1" for _, kind, _ in joints]
    names = [name[:-1] + str(1 + names[:k].count(name)) for k, name in enumerate(names)]
    for (name, _, _), coordinate in zip(joints, names):
        expected = other[name]
        here = np.asarray(getattr(run["a"], coordinate))
        assert np.abs(here - getattr(expected, expected.coordinates[0])).max() < 1e-3, name


THREE = [("a", "revolute", "0 0 1"), ("b", "prismatic", "0 0 1"), ("c", "revolute", "0 0 1")]

SIX = [(f"j{k}", "revolute" if k > 2 else "prismatic", ("1 0 0", "0 1 0", "0 0 1")[k % 3]) for k in range(6)]


def opened(folder, text, loops=""):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", taut.TautWarning)
        return taut.open_scene(beside(folder, text, loops=loops))


@pytest.mark.parametrize("joint, coordinate", [("a", "angle_1"), ("b", "displacement_1")])
def test_joints_of_the_file_beside_name_the_files_joints(tmp_path, joint, coordinate):
    """A slide behind a hinge: whatever coordinate the two have first here."""
    text = series(THREE[:2], ["0 0 1", "0 0 0"])
    loops = f"joints: [{{kind: drive, name: d, joint: {joint}, value: 0.1*t}}]"
    driven = opened(tmp_path, text, loops).constraints["d"]
    assert driven.arguments["joint"] == "a" and driven.arguments["coordinate"] == coordinate


@pytest.mark.parametrize("joints, places, loops, words", [
    (THREE, ["0 0 1", "0 0 0", "0 0 0"], "", "no joint of taut is a, b, c at once"),
    (SIX, ["0 0 0"] * 6,
     "motors: [{joint: j4, torque: 1}]", "no joint of taut is j0, j1, j2, j3, j4, j5 at once"),
    (THREE[:2], ["0 0 1", "0 0 0"], "joints: [{kind: ball, name: l, points: [{body: l0}, [0, 0, 0]]}]",
     "it is held by a joint of NAME.loops.yaml"),
    (THREE[:2], ["0 0 1", "0 0 0"], "joints: [{kind: gear, name: g, first: a, second: b, ratio: 2}]",
     "'a' is angle_1 of 'a' here, which gear can not name"),
])  # fmt: skip
def test_series_that_can_not_be_one_joint_are_refused_with_the_reason(tmp_path, joints, places, loops, words):
    with pytest.raises(taut.TautError, match=words):
        opened(tmp_path, series(joints, places), loops)


def test_angles_that_a_file_rounds_still_make_one_joint(tmp_path):
    """1.5708 for a right angle: axes that miss each other by micrometres meet, and moving it is no matter of method."""
    text = series([("a", "revolute", "0 0 1"), ("b", "revolute", "0 0 1"), ("c", "revolute", "0 0 1")], ["0 0 0"] * 3)
    for turn in ("1.5708 0 0", "0 1.5708 0"):
        at = text.rindex('rpy="0 0 0"') if turn.startswith("0") else text.index('rpy="0 0 0"', text.index('"b"'))
        text = text[:at] + text[at:].replace('rpy="0 0 0"', f'rpy="{turn}"', 1)
    assert opened(tmp_path, text).constraints["a"].kind == "serial_joint"
    two = series([("a", "revolute", "0 0 1"), ("b", "revolute", "0 0 1")], ["0 0 0", "0.2 0 0"])
    at = two.rindex('rpy="0 0 0"')
    two = two[:at] + two[at:].replace('rpy="0 0 0"', 'rpy="1.570796 0 1.570796"')
    scene = opened(tmp_path, two, "velocities: {a: 1}")
    ends = [taut.simulate(scene, method=method, dt=0.002, duration=0.5, progress=False)["l1"].position[-1].values
            for method in ("rattle", "generalized_alpha")]  # fmt: skip
    assert np.abs(ends[0] - ends[1]).max() < 1e-3


def test_joints_that_follow_one_start_with_it_at_its_limit(tmp_path):
    pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    body = '<geom type="box" size=".1 .1 .1" mass="1"/>'
    text = f"""<mujoco><compiler autolimits="true" angle="radian"/><option><flag contact="disable"/></option><worldbody>
        <body><joint name="h0" axis="1 0 0" range="0.2 1"/>{body}<body pos="0 0 .5"><joint name="h1" axis="1 0
        0"/>{body}</body></body></worldbody><equality><joint joint1="h1" joint2="h0" polycoef="0.1 -2 0 0 0"/>
        </equality></mujoco>"""
    with pytest.warns(taut.TautWarning, match="beyond the limits of 'h0', which start at the limit"):
        scene = taut.open_scene(beside(tmp_path, text, "robot.xml"))
    run = taut.simulate(scene, duration=0.02, progress=False)
    assert run.status == "finished" and float(run["h1"].angle[0]) == pytest.approx(0.1 - 2 * 0.2, abs=1e-12)


def test_an_empty_link_at_the_end_is_refused(tmp_path):
    text = series([("a", "revolute", "0 0 1")], ["0 0 1"]).replace("</robot>", """
        <link name="tip"/>
        <joint name="t" type="continuous"><parent link="l0"/><child link="tip"/></joint></robot>""")
    with pytest.raises(taut.TautError, match="arm.urdf:2: link 'tip' moves but has no mass; give .* or make its joint"):
        taut.open_scene(beside(tmp_path, text))


def test_a_robot_that_stands_beyond_its_limits_starts_at_them(tmp_path):
    text = series([("a", "revolute", "0 0 1")], ["0 0 1"]).replace('lower="-3"', 'lower="0.4"')
    with pytest.warns(taut.TautWarning, match="0 is beyond the limits of 'a', which start at the limit; say where"):
        scene = taut.open_scene(beside(tmp_path, text))
    run = taut.simulate(scene, duration=0.1, progress=False)
    assert run.status == "finished" and float(run["a"].angle[0]) == pytest.approx(0.4, abs=1e-12)
