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
