"""Robots from files: forward dynamics as other programs have it, loops, and mistakes that are named with their line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import taut
from taut.analysis.mechanics.perturbation import Perturbed
from taut.scene.gallery import robots

ARM = Path(robots.__file__).with_name("robot_arm_6dof.urdf")
AXES = {"waist": "turret", "shoulder": "upper_arm", "elbow": "forearm", "wrist_1": "wrist_roll",
        "wrist_2": "wrist_bend", "wrist_3": "flange"}  # fmt: skip


def beside(folder: Path, text: str, name: str = "arm.urdf", loops: str = "") -> Path:
    path = folder / name
    path.write_text(text)
    path.with_suffix(".loops.yaml").write_text(loops) if loops else None
    return path


def joint_accelerations(scene: taut.Scene, joints: dict[str, str]) -> np.ndarray:
    """Of hinges from link to link: the difference of angular accelerations, along the axis."""
    model = taut.build(scene)
    near = Perturbed(model, model.x, model.quat, model.v, 0.0)
    _, quat, _ = near.evaluate()
    bodies = {body.name: body for body in model.body_info}
    before, found = np.zeros(3), []
    for name, link in joints.items():
        body = bodies[link]
        w, u = quat[body.quat][0], quat[body.quat][1:]
        a = near.system.work.a[body.slot + 1]
        alpha = a + 2 * (w * np.cross(u, a) + np.cross(u, np.cross(u, a)))
        axis = np.array(scene.constraints[name].arguments["axis"])
        found.append(axis @ (alpha - before))
        before = alpha
    return np.array(found)


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


MJCF = """<mujoco><option gravity="0 0 -9.81"/><compiler angle="radian"/><worldbody>
  <body name="a" pos="0 0 1" quat="{q0}"><joint name="ja" axis="{x0}" damping="0.3" stiffness="2" springref="0.4"/>
    <geom type="capsule" fromto="0 0 0 0.1 0.2 -0.6" size="0.05" contype="0" conaffinity="0"/>
    <body name="b" pos="0.1 0.2 -0.6" quat="{q1}"><joint name="jb" axis="{x1}" pos="0.05 0 0.02"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0 0.1 -0.2" contype="0" conaffinity="0"/>
      <body name="c" pos="0 0 -0.5" quat="{q2}"><joint name="jc" type="slide" axis="{x2}" damping="1"/>
        <geom type="sphere" size="0.1" pos="0.02 0 0" contype="0" conaffinity="0"/>
      </body></body></body></worldbody>
  <actuator><motor name="m" joint="jb" gear="2"/><position name="p" joint="ja" kp="3"/></actuator></mujoco>"""


def test_mjcf_accelerates_as_mujoco_does(tmp_path):
    mujoco = pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    random = np.random.default_rng(1)
    for _ in range(100):
        words = {f"{k}{i}": " ".join(map(repr, (v / np.linalg.norm(v)).tolist()))
                 for i in range(3) for k, v in (("q", random.standard_normal(4)), ("x", random.standard_normal(3)))}
        path = beside(tmp_path, MJCF.format(**words), "robot.xml")
        model = mujoco.MjModel.from_xml_path(str(path))
        data = mujoco.MjData(model)
        data.ctrl[:] = 0.7, 0.2
        mujoco.mj_forward(model, data)
        scene = taut.open_scene(path, controls="m = 0.7; p = 0.2")
        run = taut.simulate(scene, method="lagrange", dt=1e-4, duration=1e-4, progress=False, integrator="euler")
        found = [run["ja"].rate.values[1], run["jb"].rate.values[1], run["jc"].rate.values[1]]
        error = np.abs(np.array(found) / 1e-4 - data.qacc).max() / max(1.0, np.abs(data.qacc).max())
        assert error < 1e-3, f"{np.array(found) / 1e-4} instead of {data.qacc}"
        model_ = taut.build(scene)
        near = Perturbed(model_, model_.x, model_.quat, model_.v, 0.0)
        near.evaluate()
        turned = joint_accelerations(scene, {"ja": "a", "jb": "b"})
        assert np.abs(turned - data.qacc[:2]).max() < 1e-8 * max(1.0, np.abs(data.qacc).max())


def test_what_mjcf_says_beyond_is_listed(tmp_path):
    pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    text = """<mujoco><worldbody><body name="a"><joint name="j" armature="0.1"/><geom size="0.1"/></body></worldbody>
      <sensor><jointpos joint="j"/></sensor></mujoco>"""
    with pytest.warns(taut.TautWarning, match="1 sensors; contacts between geoms; armature of joint 'j'"):
        taut.open_scene(beside(tmp_path, text, "robot.xml"))


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
    (changed('<link name="ground"/>', '<link name="ground"><visual><geometry><mesh filename="no.stl"/></geometry>'
             "</visual></link>"), "mesh 'no.stl' does not exist"),
    ('<!DOCTYPE a [<!ENTITY b "c">]><robot name="x"/>', "DOCTYPE"),
    ("<sdf/>", "not <robot>"),
])  # fmt: skip
def test_mistakes_in_a_urdf_are_named_with_their_line(tmp_path, text, words):
    with pytest.raises(taut.TautError, match=words):
        taut.open_scene(beside(tmp_path, text))


def test_mistakes_in_mjcf_are_named_with_their_line(tmp_path):
    pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    text = """<mujoco><worldbody>
      <body name="a"><joint name="j" axis="0 0 0"/><geom size="0.1"/></body></worldbody></mujoco>"""
    with pytest.raises(taut.TautError, match="robot.xml:2: MuJoCo refuses it: axis too small"):
        taut.open_scene(beside(tmp_path, text, "robot.xml"))


def test_unknown_words_suggest_what_was_meant():
    with pytest.raises((taut.TautError, AttributeError), match="hinge"):
        taut.Scene().hing((0, 0, 0), (1, 0, 0))


EQUALITIES = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="a" pos="0.1 0.2 1" quat="{qa}"><freejoint/><geom type="box" size="0.1 0.2 0.3" pos="0.05 0.02 0"/></body>
  <body name="b" pos="-0.3 0.1 1.2" quat="{qb}"><freejoint/><geom type="box" size="0.2 0.1 0.3"/></body>
  <body name="c" pos="1 0 0"><joint name="jc" axis="0 0 1" ref="0.2"/><geom type="box" size="0.2 0.1 0.1"/></body>
  <body name="d" pos="2 0 0"><joint name="jd" axis="0 1 0" ref="-0.1"/><geom type="box" size="0.2 0.1 0.1"/></body>
</worldbody><equality><connect name="pin" body1="a" body2="b" anchor="{anchor}"/>
  <weld name="fix" body1="a" body2="b" anchor="{at}" relpose="{where} {turn}"/>
  <weld name="hold" body1="b" relpose="{where} {turn}"/>
  <joint name="mesh" joint1="jc" joint2="jd" polycoef="{p0} {p1} 0 0 0"/></equality></mujoco>"""


@pytest.mark.filterwarnings("ignore::taut.TautWarning")
def test_equalities_of_mjcf_are_broken_by_as_much_as_mujoco_says(tmp_path):
    """Places and joint coordinates: the residual of MuJoCo, turned to y up, at random poses."""
    mujoco = pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    random = np.random.default_rng(7)

    def words(n, size=1.0):
        values = random.standard_normal(n) * size
        return " ".join(map(repr, (values / (np.linalg.norm(values) if n == 4 else 1.0)).tolist()))

    for _ in range(20):
        p0, p1 = random.standard_normal(2)
        text = EQUALITIES.format(qa=words(4), qb=words(4), anchor=words(3), at=words(3, 0.3), where=words(3),
                                 turn=words(4), p0=p0, p1=p1)  # fmt: skip
        path = beside(tmp_path, text, "robot.xml")
        model = mujoco.MjModel.from_xml_path(str(path))
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        built = taut.build(taut.open_scene(path))
        near = Perturbed(built, built.x, built.quat, built.v, 0.0)
        near.evaluate()
        rows = {info.name: near.system.work.phi[list(info.rows)] for info in built.constraint_info}
        residual = {i: data.efc_pos[data.efc_id[: data.nefc] == i] for i in range(model.neq)}
        turn = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]], float)
        for i, name in enumerate(("pin", "fix", "hold")):
            error = min(np.abs(s * turn @ residual[i][:3] - rows[name][:3]).max() for s in (1, -1))
            assert error < 1e-12, f"{name}: {rows[name][:3]}, MuJoCo {residual[i][:3]}"
        assert abs(abs(rows["mesh"][0]) - abs(residual[3][0])) < 1e-12, (rows["mesh"], residual[3])


@pytest.mark.filterwarnings("ignore::taut.TautWarning")
def test_a_weld_of_mjcf_holds_the_orientation_of_its_relpose(tmp_path):
    """relpose turns body2 in the frame of body1; at the start they stand otherwise, and are assembled."""
    pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    text = """<mujoco><worldbody>
      <body name="a" pos="0 0 1" quat="0.9 0.1 0.3 -0.2"><freejoint/><geom size="0.1"/></body>
      <body name="b" pos="0.5 0.2 1" quat="0.7 0 0.6 -0.1"><freejoint/><geom size="0.1"/></body></worldbody><equality>
      <weld name="fix" body1="a" body2="b" anchor="0.1 0 0" relpose="0.3 0.2 0.1 0.8 0 0.6 0"/></equality></mujoco>"""
    scene = taut.open_scene(beside(tmp_path, text, "robot.xml"))
    run = taut.simulate(scene, "rattle", dt=1e-3, duration=1e-3, start="repair", progress=False)

    def product(p, q):
        return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])

    a, b = (run[name].orientation.values[0] for name in "ab")
    found = product(a * (1, -1, -1, -1), b)
    expected = np.array([0.8, 0, 0.6, 0])
    error = min(np.abs(found - expected).max(), np.abs(found + expected).max())
    assert error < 1e-9, f"b stands at {found} in a's frame, not {expected}"
