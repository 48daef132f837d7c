"""Robots from URDF: forward dynamics as Pinocchio has it, loops, and what is left out or wrong named with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from words_robots import beside, joint_accelerations

import taut
from taut.analysis.mechanics.perturbation import Perturbed
from taut.scene.gallery import robots

ARM = Path(robots.__file__).with_name("robot_arm_6dof.urdf")
AXES = {"waist": "turret", "shoulder": "upper_arm", "elbow": "forearm", "wrist_1": "wrist_roll",
        "wrist_2": "wrist_bend", "wrist_3": "flange"}  # fmt: skip


def test_the_arm_accelerates_as_pinocchio_says(tmp_path):
    pinocchio = pytest.importorskip("pinocchio", reason="the oracle is not installed (Linux only)")
    oracle = pinocchio.buildModelFromUrdf(str(ARM))
    data = oracle.createData()
    random = np.random.default_rng(6)
    worst = 0.0
    for _ in range(100):
        q, v = random.uniform(-2, 2, 6), random.uniform(-3, 3, 6)
        given = {"positions": q, "velocities": v}
        loops = "\n".join(f"{key}: {{" + ", ".join(f"{n}: {x!r}" for n, x in zip(AXES, values.tolist())) + "}"
                          for key, values in given.items())  # fmt: skip
        scene = taut.open_scene(beside(tmp_path, ARM.read_text(), loops=loops), limits=False)
        configuration = np.concatenate([[np.cos(x), np.sin(x)] if oracle.joints[i + 1].nq == 2 else [x]
                                        for i, x in enumerate(q)])  # fmt: skip
        damping = np.zeros(6)
        damping[5] = 0.02
        expected = pinocchio.aba(oracle, data, configuration, v, -damping * v)
        found = joint_accelerations(scene, AXES)
        worst = max(worst, np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))
    assert worst < 1e-8, f"joint accelerations differ by {worst:.2g}"


LINK = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>'
FOUR_BAR = f"""<robot name="four"><link name="ground"/><link name="crank">{LINK}</link><link name="rocker">{LINK}</link>
<link name="rod">{LINK}</link>
<joint name="j1" type="continuous"><parent link="ground"/><child link="crank"/><axis xyz="0 1 0"/></joint>
<joint name="j2" type="continuous"><parent link="ground"/><child link="rocker"/><origin xyz="1 0 0"/>
<axis xyz="0 1 0"/></joint>
<joint name="j3" type="continuous"><parent link="crank"/><child link="rod"/><origin xyz="0 0 1"/>
<axis xyz="0 1 0"/></joint>
</robot>"""
LOOP = """joints: [{kind: hinge, name: loop, axis: [0, 1, 0],
  points: [{body: rod, offset: [1, 0, 0]}, {body: rocker, offset: [0, 0, 1]}]}]"""


def test_a_loop_is_closed_by_the_file_beside(tmp_path):
    scene = taut.open_scene(beside(tmp_path, FOUR_BAR, loops=LOOP))
    run = taut.simulate(scene, method="rattle", dt=0.005, duration=1.0, progress=False)
    assert run.status == "finished" and run.worst_error().value < 1e-9
    assert np.allclose(run["j1"].angle, run["j2"].angle, atol=1e-9), "a parallelogram turns both cranks alike"


def test_a_robot_is_the_same_from_its_scene_file(tmp_path):
    scene = taut.open_scene(ARM, limits=False)
    scene.save(tmp_path / "arm.yaml")
    assert taut.load(tmp_path / "arm.yaml") == scene


def changed(old: str, new: str) -> str:
    assert old in FOUR_BAR
    return FOUR_BAR.replace(old, new)


@pytest.mark.parametrize("text, words", [
    (changed('<child link="rod"/>', '<child link="rood"/>'), r"arm.urdf:6: joint 'j3' names link 'rood'"),
    (changed('<parent link="ground"/><child link="crank"/>', '<parent link="rod"/><child link="crank"/>'), "cycle"),
    (changed('<axis xyz="0 1 0"/></joint>\n<joint name="j2"', '<axis xyz="0 0 0"/></joint>\n<joint name="j2"'),
     "arm.urdf:3: the axis of joint 'j1' has no length"),
    (changed('type="continuous"><parent link="crank"', 'type="screw"><parent link="crank"'), "unknown type 'screw'"),
    (changed('<mass value="1"/>', '<mass value="0"/>'), "moves but has no mass"),
    (changed('<mass value="1"/>', '<mass value="x"/>'), "value of <mass> is 'x'"),
    (changed('ixx="0.1"', 'ixx="9"'), "inertia"),
    (changed("</robot>", ""), "no XML"),
    ('<!DOCTYPE a [<!ENTITY b "c">]><robot name="x"/>', "DOCTYPE"),
    ("<sdf/>", "not <robot>"),
    (FOUR_BAR.replace("inertial", "inertal"),
     r"arm.urdf:1: link 'crank' moves but has no mass.*<inertal>, which URDF has not: did you mean inertial\? \("),
    (changed("</robot>", '<xacro:arm side="left"/></robot>'), r"arm.urdf:8: <xacro:arm> is xacro.*xacro arm.urdf >"),
    (changed('<axis xyz="0 1 0"/></joint>\n</robot>', '<mimic joint="j1"/><axis xyz="0 1 0"/></joint></robot>').replace(
        '<origin xyz="1 0 0"/>', '<origin xyz="1 0 0"/><mimic joint="j9"/>'), "arm.urdf:4: joint 'j2' mimics: unknown"),
    (changed('<origin xyz="1 0 0"/>', '<mimic joint="j3"/>').replace('<origin xyz="0 0 1"/>', '<mimic joint="j2"/>'),
     "arm.urdf:6: the joints j2, j3 mimic each other in a circle"),
    (changed('<origin xyz="1 0 0"/>', '<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>'), "both rpy and quat_xyzw"),
])  # fmt: skip
def test_mistakes_in_a_urdf_are_named_with_their_line(tmp_path, text, words):
    with pytest.raises(taut.TautError, match=words):
        taut.open_scene(beside(tmp_path, text))


def test_a_mesh_that_is_only_seen_may_be_missing_and_is_named(tmp_path):
    seen = '<link name="ground"><visual><geometry><mesh filename="no.stl"/></geometry></visual></link>'
    with pytest.warns(taut.TautWarning, match=r"the mesh '.*no\.stl' of a visual, which does not exist \(line 1\)"):
        taut.open_scene(beside(tmp_path, changed('<link name="ground"/>', seen)))


def test_unknown_words_suggest_what_was_meant():
    with pytest.raises((taut.TautError, AttributeError), match="hinge"):
        taut.Scene().hing((0, 0, 0), (1, 0, 0))


ODD = f"""<robot name="odd" xmlns:xacro="http://www.ros.org/wiki/xacro">
<link name="base" type="laser"><colision/><visual><geometry/></visual></link>
<link name="a">{LINK.replace("<mass", '<origin xyz="0 0 0.1" rpyy="0 0 1"/><mass')}
  <visual name="seen"><geometry><box size="1 1 1"/><sphere radius="1"/></geometry>
    <material name="red"><color rgba="1 0 0 0.5"/><texture filename="a.png"/></material></visual>
  <collision name="c"><geometry><box size="1 1 1"/></geometry></collision>
  <collision><geometry><mesh filename="b.stl"/></geometry></collision></link>
<link name="b">{LINK}</link><link name="c">{LINK}</link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effrot="3" velocity="2" acceleration="9"/><dynamics damping="0.1" fricton="0.2"/>
  <safety_controller k_velocity="1"/><calibration rising="0"/></joint>
<joint name="k" type="planar"><parent link="base"/><child link="b"/><limit effort="4" velocity="0" lower="-1"/>
  <dynamics damping="0.3"/><mimic joint="j"/></joint>
<joint name="l" type="continuous" mode="x"><parent link="a"/><child link="c"/>
  <limit lower="-3" upper="3" effort="7"/></joint>
<transmission name="t"><type>x</type></transmission><gazebo reference="a"/><drake:novelty/><foo/>
</robot>"""


def test_every_element_and_attribute_that_is_left_out_is_named_with_its_line(tmp_path):
    with pytest.warns(taut.TautWarning) as told:
        taut.open_scene(beside(tmp_path, ODD))
    assert str(told[0].message).partition(": not taken over: ")[2].rstrip(".").split("; ") == [
        "type of <link> (line 2)", "<colision>, which URDF has not: did you mean collision? (line 2)",
        "rpyy of <origin>, which URDF has not: did you mean rpy? (line 3)",
        "shapes beyond the first of a <geometry> (line 4)",
        "<collision>, since bodies do not touch each other (line 6, line 7)",
        "effrot of <limit>, which URDF has not: did you mean effort? (line 10)", "acceleration of <limit> (line 10)",
        "fricton of <dynamics>, which URDF has not: did you mean friction? (line 10)",
        "<safety_controller> (line 11)", "<calibration> (line 11)",
        "velocity of <limit>, which is for controllers (line 10)",
        "effort of <limit>, which bounds the motors of NAME.loops.yaml, where there are any (line 12, line 15)",
        "lower of <limit> of a planar joint (line 12)", "damping of <dynamics> of a planar joint (line 13)",
        "joint of <mimic> of a planar joint (line 13)", "mode of <joint>, which URDF has not (line 14)",
        "lower of <limit> of a continuous joint (line 15)", "upper of <limit> of a continuous joint (line 15)",
        "<transmission> (line 16)", "<gazebo> (line 16)", "<drake:novelty> (line 16)",
        "<foo>, which URDF has not (line 16)", "<texture> of a <material> (line 5)",
        "transparency of a <color> (line 5)",
    ]  # fmt: skip


@pytest.mark.parametrize("loops, words", [
    ("velocites: {j1: 1}", r"arm.loops.yaml:1:1: velocites: unknown key 'velocites'. Did you mean 'velocities'"),
    ("base: fixed\npositions: {j4: 1}", r"arm.loops.yaml:2:13: positions.j4: unknown joint 'j4'. Did you mean 'j3'"),
    ("positions: {j1: x}", r"arm.loops.yaml:1:17: positions.j1: value is 'x'"),
    ("base: flying", r"arm.loops.yaml:1:7: base: base is 'flying'; give fixed or floating"),
    ("joints:\n  - {kind: hing}", r"arm.loops.yaml:2:12: joints\[0\].kind: unknown kind 'hing'. Did you mean 'hinge'"),
    ("joints:\n  - {kind: hinge, points: [rod, rocker], axs: [0, 0, 1]}",
     r"arm.loops.yaml:2:42: joints\[0\].axs: unknown key 'axs'. Did you mean 'axis'"),
    ("joints:\n  - {kind: hinge, points: [rodd, rocker], axis: [0, 0, 1]}",
     r"arm.loops.yaml:2:5: joints\[0\]: unknown link 'rodd'. Did you mean 'rod'"),
    ("motors:\n  - {joint: j1, torqe: 3}", r"arm.loops.yaml:2:17: motors\[0\].torqe: .* Did you mean 'torque'"),
    ("motors:\n  - {joint: j9, torque: 3}", r"arm.loops.yaml:2:13: motors\[0\].joint: unknown joint 'j9'"),
    ("- 1", "arm.loops.yaml holds a list; give keys, which are positions, velocities, base, joints, motors"),
])  # fmt: skip
def test_mistakes_in_the_file_beside_are_named_with_line_and_suggestion(tmp_path, loops, words):
    with pytest.raises(taut.TautError, match=words):
        taut.open_scene(beside(tmp_path, FOUR_BAR, loops=loops))


TWO = f"""<robot name="two"><link name="ground"/><link name="arm">{LINK}</link><link name="tool">{LINK}</link>
<link name="finger">{LINK}</link>
<joint name="lead" type="continuous"><parent link="ground"/><child link="arm"/><axis xyz="0 0 1"/>
  <limit effort="5" velocity="0"/></joint>
<joint name="mount" type="fixed"><parent link="arm"/><child link="tool"/><origin rpy="0.3 -0.4 1.1"/></joint>
<joint name="grip" type="revolute"><parent link="ground"/><child link="finger"/><axis xyz="0 0 1"/>
  <limit lower="-0.3" upper="0.5"/><mimic joint="lead" multiplier="-2" offset="0.1"/></joint></robot>"""


def test_effort_bounds_a_motor_and_a_mimic_joint_keeps_to_its_limits(tmp_path):
    """5 N m of 90 turn the arm and its tool (0.2 kg m²) and, at twice the speed, the finger (0.1): 5/0.6 rad/s²."""
    scene = taut.open_scene(beside(tmp_path, TWO, loops="motors: [{joint: lead, torque: 90}]"))
    assert joint_accelerations(scene, {"lead": "arm"}) == pytest.approx([5 / 0.6], rel=1e-12)
    limit = scene.constraints["lead_limit"].arguments
    assert (limit["lower"], limit["upper"]) == pytest.approx((-0.2, 0.2)), "-0.3 ≤ 0.1 - 2 q ≤ 0.5"


def test_frames_of_links_that_are_fixed_to_others_count_in_the_file_beside(tmp_path):
    """A weld of the tool, which is turned against the arm that carries it, by orientation and by axes in its frame."""
    turned = TWO.replace('<mimic joint="lead" multiplier="-2" offset="0.1"/>', "")
    tool = Rotation.from_euler("xyz", (0.3, -0.4, 1.1))  # in the arm, and the finger stands as the arm does
    axis = tool.inv().apply((0.6, 0, 0.8)).tolist()
    x, y, z, w = tool.as_quat().tolist()
    for entry in (f"{{kind: weld, points: [tool, finger], orientation: [{w}, {x}, {y}, {z}]}}",
                  f"{{kind: hinge, points: [tool, finger], axis_a: {axis}, axis_b: [0.6, 0, 0.8]}}"):  # fmt: skip
        model = taut.build(taut.open_scene(beside(tmp_path, turned, loops=f"joints: [{entry}]"), limits=False))
        near = Perturbed(model, model.x, model.quat, model.v, 0.0)
        near.evaluate()
        assert np.abs(near.system.work.phi).max() < 1e-14, entry


def test_an_orientation_may_be_given_as_a_quaternion(tmp_path):
    x, y, z, w = Rotation.from_euler("xyz", (0.3, -0.4, 1.1)).as_quat().tolist()
    same = TWO.replace('rpy="0.3 -0.4 1.1"', f'quat_xyzw="{x} {y} {z} {w}"').replace('izz="0.1"', 'izz="0.15"')
    scenes = [taut.open_scene(beside(tmp_path, text), limits=False)
              for text in (same, TWO.replace('izz="0.1"', 'izz="0.15"'))]  # fmt: skip
    mine, other = (np.array(scene.bodies["arm"].inertia) for scene in scenes)
    assert np.abs(mine - other).max() < 1e-15 and np.abs(mine - np.diag(np.diag(mine))).max() > 1e-3
