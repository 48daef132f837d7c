"""Robots from MJCF: what a file says is right against MuJoCo, or listed with its line."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from words_robots import accelerations, beside, joint_accelerations

import taut
from taut.analysis.mechanics.perturbation import Perturbed
from taut.scene.robots.mjcf_features import Features
from taut.scene.robots.xml import Element

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
    for k in range(100):
        words = {f"{k}{i}": " ".join(map(repr, (v / np.linalg.norm(v)).tolist()))
                 for i in range(3) for k, v in (("q", random.standard_normal(4)), ("x", random.standard_normal(3)))}
        path = beside(tmp_path, MJCF.format(**words), "robot.xml")
        model = mujoco.MjModel.from_xml_path(str(path))
        data = mujoco.MjData(model)
        data.ctrl[:] = 0.7, 0.2
        mujoco.mj_forward(model, data)
        scene = taut.open_scene(path, controls="m = 0.7; p = 0.2")
        if k < 10:
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
    text = """<mujoco><worldbody><body><joint name="j" actuatorgravcomp="true"/><geom size="0.1"/></body></worldbody>
      <sensor><jointpos joint="j"/></sensor></mujoco>"""
    with pytest.warns(taut.TautWarning, match=r"actuatorgravcomp of <joint> \(line 1\); <jointpos> of <sensor> "
                                               r"\(line 2\); contacts between geoms \(line 1\)"):
        taut.open_scene(beside(tmp_path, text, "robot.xml"))


def test_mistakes_in_mjcf_are_named_with_their_line(tmp_path, monkeypatch):
    pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    monkeypatch.chdir(tmp_path)  # where MuJoCo leaves a log
    text = """<mujoco><worldbody>
      <body name="a"><joint name="j" axis="0 0 0"/><geom size="0.1"/></body></worldbody></mujoco>"""
    with pytest.raises(taut.TautError, match="robot.xml:2: MuJoCo refuses it: axis too small"):
        taut.open_scene(beside(tmp_path, text, "robot.xml"))
    text = """<mujoco><worldbody><body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody><asset>
      <mesh name="m" file="gone.stl"/></asset></mujoco>"""
    with pytest.raises(taut.TautError, match="robot.xml:2: MuJoCo refuses it: .*'gone.stl'.*correct its path"):
        taut.open_scene(beside(tmp_path, text, "robot.xml"))


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


# Files as people write them: each feature is right against MuJoCo, or named with its line

PARTS = """<mujoco><default><default class="thin"><geom type="capsule" size="0.03" density="700"/></default></default>
<worldbody><body name="included" pos="0 2 1"><freejoint name="free"/><geom class="thin" fromto="0 0 0 0.3 0.1 0.2"/>
</body></worldbody></mujoco>"""
REAL = """<mujoco model="real"><compiler angle="degree" eulerseq="zyx" autolimits="true"/>
<option timestep="0.002" gravity="0.5 0 -9.81" integrator="implicitfast"/>
<default><joint damping="0.2"/><geom contype="0" conaffinity="0"/><motor ctrlrange="-1 1"/>
  <default class="arm"><joint axis="0 1 0" range="-170 170" stiffness="1.5" springref="20"/>
    <geom type="box" size="0.05 0.05 0.2" rgba="0.8 0.2 0.2 1"/><position kp="30"/></default></default>
<include file="parts.xml"/>
<worldbody><light pos="0 0 3"/><geom name="floor" type="plane" size="1 1 0.1"/><camera name="eye" pos="0 -2 1"/>
  <body name="base" pos="0 0 1" euler="10 20 30" childclass="arm"><inertial pos="0.01 0 -0.2" mass="2.5"
     fullinertia="0.05 0.06 0.04 0.002 0.001 -0.003"/><joint name="shoulder" ref="15"/><geom/><site name="tool"/>
    <frame pos="0 0 -0.4" euler="0 0 40"><body name="fore" axisangle="0 0 1 25"><joint name="elbow" axis="1 0 1"
      pos="0 0 0.02"/><geom pos="0 0 -0.2"/>
      <body name="slide" pos="0 0 -0.4"><joint name="rail" type="slide" axis="0 0 1" range="-1 1"
        stiffness="4"/>
        <geom type="ellipsoid" size="0.1 0.08 0.06"/>
        <body name="wrist" pos="0.1 0 0" xyaxes="0 1 0 -1 0 0"><joint name="ball" type="ball" range="0 0"
          limited="false" stiffness="0" damping="0"/>
          <geom type="cylinder" size="0.04 0.1" pos="0.05 0.02 0" euler="0 90 0"/></body>
      </body></body></frame></body>
  <body name="mesh" pos="2 0 1" quat="0.8 0.2 0.3 0.1"><freejoint align="false"/>
    <geom type="mesh" mesh="wedge"/></body>
</worldbody>
<asset><mesh name="wedge" vertex="0 0 0  0.3 0 0  0 0.4 0  0 0 0.5"/><material name="grey" rgba="0 0 0 1"/></asset>
<actuator><motor name="hip" joint="shoulder" gear="3"/><position name="hold" class="arm" joint="elbow" kv="0.5"/>
  <velocity name="pull" joint="rail" kv="2" gear="1.5"/><general name="any" joint="shoulder" gainprm="2"
    biastype="affine" biasprm="0.3 -0.7 -0.1" ctrlrange="0.1 0.2" ctrllimited="true"/>
  <motor name="weak" joint="elbow" gear="2" forcerange="-0.2 0.4"/></actuator></mujoco>"""


@pytest.mark.filterwarnings("ignore::taut.TautWarning")
@pytest.mark.parametrize("controls", [{"hip": 0.4, "hold": 0.3, "any": 0.15, "weak": 0.1}, {"hip": 5.0, "weak": -3.0}])
def test_a_file_as_people_write_it_accelerates_as_mujoco_says(tmp_path, controls):
    mujoco = pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    beside(tmp_path, PARTS, "parts.xml")
    path = beside(tmp_path, REAL, "robot.xml")
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    for name, value in controls.items():
        data.actuator(name).ctrl[0] = value
    mujoco.mj_forward(model, data)
    mujoco.mj_rnePostConstraint(model, data)
    words = "; ".join(f"{name} = {value}" for name, value in controls.items())
    found = accelerations(taut.open_scene(path, limits=False, controls=words))
    moving = taut.open_scene(path, limits=False, controls="; ".join(f"{n} = {v} + 0*t" for n, v in controls.items()))
    for name, (turning, along) in found.items():
        expected = np.zeros(6)
        mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_BODY, model.body(name).id, expected, 0)
        expected[3:] += model.opt.gravity
        error = max(np.abs(turning - expected[:3]).max(), np.abs(along - expected[3:]).max())
        assert error < 1e-8 * max(1.0, np.abs(expected).max()), f"{name}: off by {error:.2g}, of {expected}"
        again = np.concatenate(accelerations(moving)[name])
        assert np.abs(again - np.concatenate([turning, along])).max() < 1e-9, f"{name}: formulas are clamped otherwise"


ODD = """<mujoco><option density="1.2"/><worldbody>
  <body name="a"><joint name="ja" springdamper="1 1" solreflimit="0.01 1"/><geom size="0.1"/>
    <site name="sa"/></body>
  <body name="b" pos="1 0 0"><joint name="jb" actuatorfrcrange="-1 1"/><geom size="0.1"/></body>
  <body name="m" mocap="true" pos="0 0 2"/>
  <body name="w" pos="3 0 0"><joint type="ball" name="jw" damping="2"/><geom size="0.1" fluidshape="ellipsoid"/></body>
</worldbody><tendon><fixed name="wire"><joint joint="ja" coef="1"/><joint joint="jb" coef="-1"/></fixed></tendon>
<equality><tendon name="taut" tendon1="wire"/>
  <joint name="bent" joint1="ja" joint2="jb" polycoef="0 1 0.5 0 0"/>
  <connect name="idle" body1="a" body2="b" anchor="0 0 0" active="false"/></equality>
<actuator><damper name="brake" joint="ja" kv="1" ctrlrange="0 1"/>
  <position name="servo" joint="jb" kp="3" forcerange="-1 2"/>
  <motor name="rope" tendon="wire"/><general name="lag" joint="ja" dyntype="filter" dynprm="0.1"/>
  <motor name="late" joint="ja" armature="0.2"/></actuator>
<contact><exclude body1="a" body2="b"/></contact><sensor><jointpos joint="ja"/></sensor>
<keyframe><key name="home" qpos="0 0 1 0 0 0"/></keyframe>
<deformable><flex name="cloth" dim="1" body="a b" element="0 1" vertex="0 0 0 0 0 0"/></deformable></mujoco>"""


def test_every_feature_that_is_left_out_is_named_with_its_line(tmp_path):
    pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    with pytest.warns(taut.TautWarning) as told:
        taut.open_scene(beside(tmp_path, ODD, "robot.xml"))
    text = str(told[0].message)
    for what in (
        "softness (solref, solimp, …), since constraints are held (line 2)", "actuatorfrcrange of <joint> (line 4)",
        "mocap of <body> (line 5)",
        "damping, friction and armature of joint 'jw' (line 6)", "fluidshape of <geom> (line 6)",
        "<fixed> of <tendon> (line 7)",
        "equality <tendon> 'taut' (line 8)", "equality <joint> 'bent' with powers in its polycoef (line 9)",
        "equality 'idle', which is not active (line 10)", "actuator <damper> 'brake' (line 11)",
        "force range of actuator 'servo', a servo (line 12)", "actuator <motor> 'rope' (line 13)",
        "actuator <general> 'lag' (line 13)", "armature of <motor> (line 14)", "<exclude> of <contact> (line 15)",
        "<jointpos> of <sensor> (line 15)", "<key> of <keyframe>, at which --set key=NAME starts (line 16)",
        "<flex> of <deformable> (line 17)",
        "contacts between geoms (line 2)", "drag of a medium (density, viscosity, wind) (line 1)",
    ):  # fmt: skip
        assert what in text, f"{what}: not in {text}"


def test_an_element_or_attribute_that_nobody_thought_of_is_listed():
    """All of MuJoCo's schema is read, without effect on a motion, or listed: nothing falls between."""
    unknown = Element(Path("x.xml"), 3, "mujoco", {}, [Element(Path("x.xml"), 4, "worldbody", {}, [
        Element(Path("x.xml"), 5, "novelty", {}), Element(Path("x.xml"), 6, "body", {"novel": "2", "name": "b"})])])
    assert Features(unknown).texts() == ["<novelty> (line 5)", "novel of <body> (line 6)"]


SITES = """<mujoco><worldbody>
  <body name="a" pos="0 0 1" quat="0.9 0.1 0.3 -0.2"><freejoint/><geom size="0.1" contype="0" conaffinity="0"/>
    <site name="sa" pos="0.1 0.2 0.3" euler="10 40 70"/></body>
  <body name="b" pos="0.5 0.2 1" quat="0.7 0 0.6 -0.1"><freejoint/><geom size="0.1" contype="0" conaffinity="0"/>
    <site name="sb" pos="-0.1 0.05 0.2" euler="-50 10 30"/></body></worldbody>
  <equality><{kind} name="eq" site1="sa" site2="sb"/></equality></mujoco>"""


@pytest.mark.parametrize("kind", ["connect", "weld"])
def test_equalities_between_sites_bring_them_together(tmp_path, kind):
    pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    scene = taut.open_scene(beside(tmp_path, SITES.format(kind=kind), "robot.xml"))
    with pytest.warns(taut.TautWarning, match="moved"):
        run = taut.simulate(scene, "rattle", dt=1e-3, duration=1e-3, start="repair", progress=False)
    places = {"a": ((0.1, 0.2, 0.3), (10, 40, 70)), "b": ((-0.1, 0.05, 0.2), (-50, 10, 30))}
    ends, frames = [], []
    for name, (place, angles) in places.items():
        ends.append(run[name].at(place).position.values[0])
        body = Rotation.from_quat(np.roll(run[name].orientation.values[0], -1))
        frames.append(body * Rotation.from_euler("XYZ", angles, degrees=True))
    apart, turned = np.abs(ends[0] - ends[1]).max(), (frames[0].inv() * frames[1]).magnitude()
    assert apart < 1e-9 and (kind == "connect" or turned < 1e-9), f"{apart:.2g} m apart, turned by {turned:.2g} rad"


def test_flags_switch_forces_off_as_in_mujoco(tmp_path):
    mujoco = pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    beside(tmp_path, PARTS, "parts.xml")
    for flag in ("gravity", "spring", "damper", "actuation"):
        flags = f'"implicitfast"><flag {flag}="disable"/></option>'
        path = beside(tmp_path, REAL.replace('"implicitfast"/>', flags), "robot.xml")
        model = mujoco.MjModel.from_xml_path(str(path))
        data = mujoco.MjData(model)
        data.ctrl[:] = 0.15
        mujoco.mj_forward(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", taut.TautWarning)
            controls = "; ".join(f"{model.actuator(i).name} = 0.15" for i in range(model.nu))
            found = accelerations(taut.open_scene(path, limits=False, controls=controls))
        for name, (turning, along) in found.items():
            expected = np.zeros(6)
            mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_BODY, model.body(name).id, expected, 0)
            expected[3:] += 0.0 if flag == "gravity" else model.opt.gravity
            error = np.abs(np.concatenate([turning, along]) - expected).max()
            assert error < 1e-8 * max(1.0, np.abs(expected).max()), f"{flag}, {name}: off by {error:.2g}"
