"""Features of MJCF one by one, at random states: bodies accelerate as MuJoCo's do, and nothing is listed as left out.

Each case is a model; a keyframe with random positions, velocities and controls is added to it, at which taut starts.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from words_robots import accelerations, beside

import taut
from taut.analysis.mechanics.perturbation import Perturbed

OFF = '<option><flag contact="disable"/></option>'
BOX = '<geom type="box" size="0.1 0.15 0.2" pos="0.1 0.05 -0.1" euler="20 10 5"/>'
CASES = {
    "nested bodies turned by quaternions": f"""<worldbody><body pos="0 0 1" quat="0.9 0.1 -0.3 0.2"><joint
        axis="1 2 3"/>{BOX}<body pos="0.3 0 0" quat="0.5 0.5 0.1 0"><joint axis="0 1 1" pos="0.1 0 0.1"/>{BOX}<body
        pos="0 0.4 0" quat="0 1 0 0"><joint type="slide" axis="1 0 1"/>{BOX}</body></body></body></worldbody>""",
    "radians, extrinsic angles": f"""<compiler angle="radian" eulerseq="XZY"/><worldbody><body euler="0.3 -0.8 1.2">
        <joint axis="0 1 0"/>{BOX.replace("20 10 5", "0.4 0.2 0.1")}</body></worldbody>""",
    "degrees, mixed angles": f"""<compiler angle="degree" eulerseq="zYx"/><worldbody><body euler="30 -50 70">
        <joint axis="0 1 0"/>{BOX}</body></worldbody>""",
    "axis and angle, two axes, one axis": f"""<worldbody><body axisangle="1 1 0 40"><joint axis="0 1 0"/>{BOX}
        <body xyaxes="0.6 0.8 0 -0.8 0.6 0.1" pos="0 0 0.4"><joint axis="0 0 1"/>{BOX}<body zaxis="1 -1 2"
        pos="0.2 0 0"><joint axis="1 0 0"/>{BOX}</body></body></body></worldbody>""",
    "defaults, nested, and classes of children": f"""<default><joint damping="0.3"/><geom density="300"/><default
        class="upper"><joint axis="0 1 0" stiffness="2" springref="30"/><default class="lower"><geom type="capsule"
        size="0.05 0.2" density="900"/></default></default></default><worldbody><body childclass="upper"><joint/>{BOX}
        <body pos="0.3 0 0.2" childclass="lower"><joint/><geom/><geom class="main" type="sphere" size="0.1"
        pos="0.2 0 0"/></body></body></worldbody>""",
    "inertia in full": """<worldbody><body><joint axis="0 1 0"/><inertial pos="0.1 0.2 0.3" mass="2"
        fullinertia="0.3 0.4 0.35 0.02 -0.05 0.03"/><body pos="0 0 1"><joint axis="1 0 0"/><inertial mass="1"
        pos="0 0.1 0" quat="0.8 0.3 0.2 0.1" diaginertia="0.1 0.2 0.15"/></body></body></worldbody>""",
    "inertia from geoms, against what is given": """<compiler inertiafromgeom="true"/><worldbody><body><joint
        axis="0 1 0"/><inertial pos="9 9 9" mass="99" diaginertia="9 9 9"/><geom type="capsule"
        fromto="0 0 0 0.3 0.4 0.2" size="0.04"/></body></worldbody>""",
    "bounds of mass and inertia": """<compiler boundmass="0.2" boundinertia="0.02"/><worldbody><body><joint
        axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/><body pos="0.5 0 0"><joint axis="1 0 0"/><geom size="0.01"
        pos="0 0.1 0"/></body></body></worldbody>""",
    "all forms of geoms": """<worldbody><body><joint axis="1 1 1"/><geom type="cylinder" size="0.05"
        fromto="0 0 0 0.3 0.1 0.2" mass="0.7"/><geom type="ellipsoid" size="0.1 0.2 0.05" pos="0 0.3 0"/><geom
        type="capsule" size="0.05 0.1" pos="0.3 0 0" euler="0 40 10"/><geom type="box" size="0.1 0.1 0.05"
        fromto="0 0 0.1 0 0.3 0.4"/><geom type="mesh" mesh="wedge" pos="0 0 0.3"/><geom type="sphere" size="0.1"
        shellinertia="true" pos="0.2 0.2 0"/></body></worldbody><asset><mesh name="wedge" scale="1 2 0.5"
        vertex="0 0 0  0.3 0 0  0 0.2 0  0 0 0.5"/></asset>""",
    "hinge: ref, springref, stiffness, damping, armature": f"""<worldbody><body><joint axis="0 1 0" ref="20"
        springref="-35" stiffness="3" damping="0.4" armature="0.7"/>{BOX}<body pos="0 0 0.5"><joint axis="0 0 1"
        armature="0.2" pos="0.1 0.1 0"/>{BOX}</body></body></worldbody>""",
    "slider: ref, springref, stiffness, damping, armature": f"""<worldbody><body><joint axis="0 1 1"/>{BOX}<body
        pos="0 0 0.5"><joint type="slide" axis="0 1 2" ref="0.2" springref="-0.3" stiffness="30" damping="4"
        armature="0.7"/>{BOX}</body></body></worldbody>""",
    "dry friction of joints that move": f"""<worldbody><body><joint axis="0 1 0" frictionloss="0.2"/>{BOX}<body
        pos="0 0 0.5"><joint type="slide" axis="1 0 0" frictionloss="0.3"/>{BOX}</body></body></worldbody>""",
    "springs from time constant and ratio": f"""<worldbody><body><joint axis="0 1 0" springdamper="0.3 0.6"/>{BOX}
        </body></worldbody>""",
    "limits that are not reached": f"""<compiler autolimits="true"/><worldbody><body><joint axis="0 1 0"
        range="-300 300"/>{BOX}</body></worldbody>""",
    "balls and free bodies": f"""<worldbody><body pos="0 0 1" quat="0.5 0.5 0 0.1"><freejoint/>{BOX}<body
        pos="0.3 0 0.1" euler="10 20 30"><joint type="ball" pos="0.1 0 0.05"/>{BOX}<body pos="0 0 0.4"><joint
        axis="1 1 0"/>{BOX}</body></body></body><body pos="2 0 0"><joint type="free"/>{BOX}</body></worldbody>""",
    "several joints of a body": f"""<worldbody><body><joint axis="0 1 0"/>{BOX}<body pos="0.5 0 0"><joint name="u0"
        axis="1 0 0" pos="0.1 0 0"/><joint name="u1" axis="0 0 1" pos="0.1 0 0"/>{BOX}</body><body pos="-0.5 0 0"><joint
        name="c0" type="slide" axis="1 1 0"/><joint name="c1" axis="1 1 0"/>{BOX}</body><body pos="0 0.6 0"><joint
        name="p0" type="slide" axis="1 0 0"/><joint name="p1" type="slide" axis="0 1 0"/><joint name="p2" axis="0 0 1"/>
        {BOX}</body><body pos="0 -0.6 0"><joint name="b0" axis="1 0 0"/><joint name="b1" axis="0 1 0"/><joint name="b2"
        axis="0 0 1"/>{BOX}</body></body></worldbody>""",
    "coordinates of several joints of a body": f"""<worldbody><body><joint axis="0 1 0"/>{BOX}<body pos="0.5 0 0"><joint
        name="u0" axis="1 0 0" pos="0.1 0 0" stiffness="3" springref="20" damping="0.4" armature="0.3" ref="10"/><joint
        name="u1" axis="0 0 1" pos="0.1 0 0" stiffness="2" springref="-30" damping="0.1" armature="0.2" ref="-5"
        frictionloss="0.1"/>{BOX}<body pos="-0.5 0 0"><joint name="c0" type="slide" axis="-1 -1 0" stiffness="9"
        springref="0.2" ref="0.1" armature="0.4" damping="0.3"/><joint name="c1" axis="1 1 0" stiffness="5"
        armature="0.1" springref="40"/>{BOX}</body></body></body></worldbody><actuator><motor joint="u0" gear="2"/>
        <position joint="u1" kp="7" kv="0.3" gear="-2"/><position joint="c0" kp="8" forcerange="-3 3"
        forcelimited="true"/><motor joint="c1"/></actuator>""",
    "all that may act on several joints of a body": f"""<worldbody><body><joint axis="0 1 0"/>{BOX}<body pos="0.5 0 0">
        <joint name="h0" axis="1 0 0" pos="0 .1 0" stiffness="3" armature="0.3" ref="9"/><joint name="h1" axis="0 0 1"
        pos="0 .1 0" stiffness="2" springref="-30" damping="0.1"/><joint name="h2" axis="1 1 0" pos="0 .1 0"
        damping="0.2" frictionloss="0.1"/>{BOX}<body pos="0 0.4 0"><joint name="s0" type="slide" axis="0 1 1"
        stiffness="20"/><joint name="s1" type="slide" axis="1 0 0" damping="3"/><joint name="s2" axis="1 1 1" pos="0.1 0
        0" stiffness="4"/>{BOX}</body></body></body><body pos="2 0 0"><joint name="f0" axis="0 1 0" pos="0 0 .08"
        stiffness="6"/><joint name="f1" axis="1 0 .5" pos="0 0 .04" damping="0.3" armature="0.1" stiffness="3"/>{BOX}
        </body></worldbody><actuator><motor name="h1" joint="h1" gear="3"/><position joint="h2" kp="5" kv="0.4"/><motor
        joint="s1"/><motor joint="f1" gear="2"/></actuator>""",
    "hinges and slides, several joints of a body": f"""<worldbody><body><joint name="a" type="slide" axis="1 0 0"/>
        <joint name="b" type="slide" axis="0 1 0"/><joint name="c" type="slide" axis="0 0 -1"/>{BOX}<body pos="0 1 0">
        <joint name="d" axis="0 1 0"/><joint name="e" axis="0 1 1"/>{BOX}<body pos="0.3 0 0"><joint name="f" axis="0 1
        2" pos="0.1 0 0"/><joint name="g" type="slide" axis="0 -1 -2"/>{BOX}<body pos="1 1 1"><joint name="h"
        type="slide" axis="1 0 0"/><joint name="i" axis="0 0 1"/><joint name="j" axis="0 1 0"/><joint name="k" axis="1 0
        0"/>{BOX}</body></body></body></body></worldbody>""",
    "bodies without joints": f"""<worldbody><body euler="0 0 30"><body pos="0 0 1"><joint axis="0 1 0"/>{BOX}<body
        pos="0.3 0 0" euler="40 0 0">{BOX}<body pos="0 0.3 0"><joint axis="1 0 0"/>{BOX}</body></body></body></body>
        </worldbody>""",
    "motors with gear and ranges": f"""<worldbody><body><joint name="a" axis="0 1 0"/>{BOX}<body pos="0 0 0.5"><joint
        name="b" type="slide" axis="1 0 0"/>{BOX}</body></body></worldbody><actuator><motor joint="a" gear="-3"
        ctrlrange="-0.2 0.1" ctrllimited="true"/><motor joint="b" gear="2" forcerange="-0.1 0.3" forcelimited="true"/>
        </actuator>""",
    "servos": f"""<worldbody><body><joint name="a" axis="0 1 0" ref="10"/>{BOX}<body pos="0 0 0.5"><joint name="b"
        type="slide" axis="1 0 0"/>{BOX}</body></body></worldbody><actuator><position joint="a" kp="3" kv="0.5"
        gear="2"/><velocity joint="b" kv="4" gear="-1.5"/><position joint="b" kp="9" dampratio="0.7"/><position
        joint="a" kp="50" forcerange="-1 1" forcelimited="true" gear="2"/></actuator>""",
    "general actuators": f"""<worldbody><body><joint name="a" axis="0 1 0"/>{BOX}</body></worldbody><actuator><general
        joint="a" gainprm="2.5" biastype="affine" biasprm="0.3 -0.7 -0.1" gear="1.7"/><general joint="a"/></actuator>
        """,
    "weight that is balanced in part": f"""<worldbody><body gravcomp="0.7"><joint axis="0 1 0"/>{BOX}<body pos="0.5 0 0"
        gravcomp="1.5">{BOX}<body pos="0 0 0.5" gravcomp="1"><joint type="ball"/>{BOX}</body></body></body></worldbody>
        """,
    "gravity along any axis": f"""<option gravity="3 -2 1"/><worldbody><body><joint axis="0 1 0" armature="0.3"/>{BOX}
        <body><joint type="slide" axis="1 0 0" armature="0.4"/>{BOX}</body></body></worldbody>""",
    "no gravity": f"""<option gravity="0 0 0"/><worldbody><body><joint axis="0 1 0" armature="0.3"/>{BOX}</body>
        </worldbody>""",
    "frames": f"""<worldbody><frame pos="1 0 0" euler="0 0 40"><frame axisangle="0 1 0 30" childclass="c"><body><joint
        axis="0 1 0"/><frame pos="0 0 0.2" euler="20 0 0">{BOX}<body pos="0.3 0 0"><joint axis="1 0 0"/>{BOX}</body>
        </frame></body></frame></frame></worldbody><default><default class="c"><joint damping="0.4"/></default>
        </default>""",
    "copies": f"""<worldbody><replicate count="3" offset="1 0 0.1" euler="0 0 30"><body pos="0 0.2 0"><joint
        axis="0 1 0" damping="0.1"/>{BOX}</body></replicate></worldbody>""",
    "included files": """<include file="parts.xml"/><worldbody><body name="own"><joint axis="0 1 0"/><geom
        class="thin" size="0.05 0.2"/></body></worldbody>""",
    "flags against forces": f"""<option><flag spring="disable" actuation="disable" damper="disable"/></option>
        <worldbody><body><joint name="a" axis="0 1 0" stiffness="3" damping="2"/>{BOX}</body></worldbody><actuator>
        <motor joint="a"/></actuator>""",
}  # fmt: skip
PARTS = """<mujoco><default><default class="thin"><geom type="capsule" density="700"/></default></default><worldbody>
  <body name="included" pos="0 2 1"><freejoint/><geom class="thin" size="0.03" fromto="0 0 0 0.3 0.1 0.2"/></body>
</worldbody></mujoco>"""
# What is told of a case although its bodies accelerate rightly
BEYOND = "name of joint '"
TOLD = {case: BEYOND for case in CASES if "several joints of a body" in case}


def started(mujoco, folder, text, random):
    """The file with a keyframe at a random state, and MuJoCo's model and data there."""
    beside(folder, PARTS, "parts.xml")
    model = mujoco.MjModel.from_xml_path(str(beside(folder, text, "robot.xml")))
    data = mujoco.MjData(model)
    mujoco.mj_integratePos(model, data.qpos, random.uniform(-1, 1, model.nv), 1.0)
    data.qvel[:] = random.uniform(0.5, 2, model.nv) * random.choice((-1, 1), model.nv)
    data.ctrl[:] = random.uniform(-1, 1, model.nu)
    given = {"qpos": data.qpos, "qvel": data.qvel, "ctrl": data.ctrl}
    numbers = " ".join(f'{name}="{" ".join(map(repr, values.tolist()))}"' for name, values in given.items()
                       if len(values))  # fmt: skip
    beside(folder, text.replace("</mujoco>", f'<keyframe><key name="k" {numbers}/></keyframe></mujoco>'), "robot.xml")
    mujoco.mj_forward(model, data)
    mujoco.mj_rnePostConstraint(model, data)
    return model, data


def errors(mujoco, folder, text, seed, **more):
    """Relative errors of the bodies' accelerations at a random state, and what was told."""
    model, data = started(mujoco, folder, text, np.random.default_rng(seed))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = accelerations(taut.open_scene(folder / "robot.xml", key="k", **more))
    errors = {}
    for name in [name for name in found if not name.endswith("_rotor")]:
        body = int(name[5:]) if name.startswith("body_") else model.body(name).id
        if (model.body_weldid == model.body_weldid[body]).sum() > 1:
            continue  # of bodies that are one here, the centre of mass is another
        expected = np.zeros(6)
        mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_BODY, body, expected, 0)
        expected[3:] += model.opt.gravity
        errors[name] = np.abs(np.concatenate(found[name]) - expected).max() / max(1.0, np.abs(expected).max())
    assert errors
    return errors, [str(one.message) for one in told]


@pytest.mark.parametrize("case", CASES)
def test_a_feature_is_right_against_mujoco(tmp_path, case):
    mujoco = pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    for seed in range(3):
        found, told = errors(mujoco, tmp_path, f"<mujoco>{OFF}{CASES[case]}</mujoco>", seed, limits=seed > 0)
        assert all(TOLD.get(case, "nothing") in text for text in told), told
        assert max(found.values()) < 1e-8, found


def test_the_scene_file_of_a_model_moves_as_the_model(tmp_path):
    """To the last bit: what a scene file says is all that is there."""
    mujoco = pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    for case, text in CASES.items():
        started(mujoco, tmp_path, f"<mujoco>{OFF}{text}</mujoco>", np.random.default_rng(1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", taut.TautWarning)
            scene = taut.open_scene(tmp_path / "robot.xml", key="k")
        scene.save(tmp_path / "scene.yaml", overwrite=True)
        again = taut.load(tmp_path / "scene.yaml")
        assert again == scene, case
        found, expected = accelerations(again), accelerations(scene)
        assert all(np.array_equal(found[name], expected[name]) for name in expected), case


def test_an_equality_of_joints_that_share_a_body_is_broken_by_as_much_as_mujoco_says(tmp_path):
    mujoco = pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    text = f"<mujoco>{OFF}{CASES['coordinates of several joints of a body']}<equality>" + "".join(
        f'<joint name="{a}{b}" joint1="{a}" joint2="{b}" polycoef="0.1 0.7 0 0 0"/>' for a, b in
        (("u0", "u1"), ("u1", "u0"), ("u1", "c0"), ("c0", "u1"))) + "</equality></mujoco>"  # fmt: skip
    model, data = started(mujoco, tmp_path, text, np.random.default_rng(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", taut.TautWarning)
        built = taut.build(taut.open_scene(tmp_path / "robot.xml", key="k", limits=False))
    near = Perturbed(built, built.x, built.quat, built.v, 0.0)
    near.evaluate()
    rows = {info.name: near.system.work.phi[list(info.rows)] for info in built.constraint_info}
    for k in range(model.neq):
        expected = float(data.efc_pos[(data.efc_id[: data.nefc] == k) & (data.efc_type[: data.nefc] == 0)][0])
        assert abs(abs(float(rows[model.eq(k).name][0])) - abs(expected)) < 1e-12, model.eq(k).name


def test_limits_of_joints_that_share_a_body_are_those_of_their_angles(tmp_path):
    """Between -20° and 50°: a motor turns the second of two hinges against either end, and no further. It may have the
    name of its joint, as it often has."""
    pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    text = """<mujoco><option gravity="0 0 0"><flag contact="disable"/></option><worldbody><body><joint name="h0"
      axis="1 0 0" damping="1"/><joint name="h1" axis="0 0 1" range="-20 50" limited="true" damping="0.02"/><geom
      type="box" size="0.1 0.15 0.2"/></body></worldbody><actuator><motor name="h1" joint="h1"/></actuator></mujoco>"""
    path = beside(tmp_path, text, "robot.xml")
    for torque, end in ((1.0, 50.0), (-1.0, -20.0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", taut.TautWarning)
            scene = taut.open_scene(path, controls=f"h1 = {torque}")
        run = taut.simulate(scene, dt=0.002, duration=2.0, progress=False)
        assert float(run["h0"].angle_2[-1]) == pytest.approx(np.radians(end), abs=1e-6)


def two(joint='<joint name="j" axis="0 1 0"/>', more="", before=""):
    return f"""<mujoco>{OFF}{before}<worldbody><body name="a">{joint}{BOX}<site name="s"/><body name="b" pos="0.5 0 0">
        <joint name="k" axis="1 0 0"/>{BOX}<site name="r"/></body></body></worldbody>{more}</mujoco>"""


def acting(how, joint='<joint name="j" axis="0 1 0"/>'):
    return two(joint, f"<actuator>{how}</actuator>")


FIXED = '<tendon><fixed name="t" stiffness="3" springlength="0.2"><joint joint="j" coef="1"/></fixed></tendon>'
LEFT_OUT = {
    "drag of a medium": two(before='<option viscosity="5"/>'), "<fixed> of <tendon>": two(more=FIXED),
    "stiffness, damping, friction and armature of joint 'j'": two('<joint name="j" type="ball" armature="3"/>'),
    "limits, stiffness, damping, friction": two('<joint name="j" type="free" stiffness="3"/>'),
    "stiffness and damping of joint 'j' beyond their linear": two('<joint name="j" axis="0 1 0" stiffness="3 2 1"/>'),
    "actuatorfrcrange of <joint>": acting(
        '<motor joint="j"/>', '<joint name="j" axis="0 1 0" actuatorfrcrange="0 .1"/>'),
    "jointinparent of <motor>": acting('<motor jointinparent="j"/>'),
    "site of <motor>": acting('<motor site="s" gear="1 0 0 0 1 0"/>'),
    "actuator <intvelocity>": acting('<intvelocity joint="j" kp="3" actrange="-1 1"/>'),
    "actuator <general>": acting('<general joint="j" gaintype="affine" gainprm="1 2 3"/>'),
    "timeconst of <position>": acting('<position joint="j" timeconst="0.1"/>'),
    "armature of <motor>": acting('<motor joint="j" armature="0.3"/>'),
    "damping of <motor>": acting('<motor joint="j" damping="0.3"/>'),
    "delay of <motor>": acting('<motor joint="j" delay="0.01" nsample="3"/>'),
    "actuator <motor> 'on_ball'": acting('<motor name="on_ball" joint="j"/>', '<joint name="j" type="ball"/>'),
    "force range of actuator 'odd'": acting(
        '<position name="odd" joint="j" kp="9" forcerange="-.01 .1" forcelimited="true"/>'),
    "actuatorgroupdisable of <option>": acting('<motor joint="j" group="2"/>').replace(
        OFF, OFF + '<option actuatorgroupdisable="2"/>'),
}  # fmt: skip


@pytest.mark.parametrize("listed", LEFT_OUT)
def test_a_feature_that_makes_a_difference_is_listed(tmp_path, listed):
    mujoco = pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    found, told = errors(mujoco, tmp_path, LEFT_OUT[listed], 1)
    assert max(found.values()) > 1e-6, "it makes no difference: the case is none"
    assert len(told) == 1 and listed in told[0] and "line " in told[0], told


def test_what_is_attached_from_another_file_is_listed_too(tmp_path):
    pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    beside(tmp_path, two(more=FIXED), "part.xml")
    text = """<mujoco><asset><model name="m" file="part.xml"/></asset>
      <worldbody><frame pos="0 0 1"><attach model="m" body="a" prefix="left_"/></frame></worldbody></mujoco>"""
    with pytest.warns(taut.TautWarning, match=r"<fixed> of <tendon> \(part.xml:2\)"):
        taut.open_scene(beside(tmp_path, text, "robot.xml"))


def test_a_keyframe_that_is_not_there_is_refused(tmp_path):
    pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    text = two(more='<keyframe><key name="home" qpos="1 0"/><key qpos="0 1"/></keyframe>')
    path = beside(tmp_path, text, "robot.xml")
    with pytest.raises(taut.TautError, match="unknown keyframe 'hme'. Did you mean 'home'"):
        taut.open_scene(path, key="hme")
    for key, pose in (("home", (1, 0)), (1, (0, 1))):
        with warnings.catch_warnings():
            warnings.simplefilter("error", taut.TautWarning)
            scene = taut.open_scene(path, key=key)
        assert [scene.constraints[name].arguments["angle"] for name in "jk"] == pytest.approx(pose)
    with pytest.raises(taut.TautError, match="unknown keyframe"):
        taut.open_scene(path, key=2)


WHEEL = """<mujoco><option timestep="0.002"/><worldbody><body name="car"><freejoint/><geom type="box" size=".1 .1 .05"/>
  <body name="wheel" pos="0 0.2 0"><joint name="axle" axis="0 1 0" {how}/><geom type="cylinder" size=".03 .01"
    euler="90 0 0"/></body></body></worldbody>{more}</mujoco>"""


@pytest.mark.parametrize("how, more", [
    ('damping="0.03"', ""), ('damping="0.03" range="-90 90"', ""), ('stiffness="40" damping="0.001"', ""),
    ("", '<actuator><position joint="axle" kp="40" kv="0.03"/></actuator>'), ('damping="0.03" armature="0.01"', ""),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*contacts between geoms")
def test_what_a_file_suggests_bears_its_dampers_and_servos(tmp_path, how, more):
    """A wheel that turns at 5 rad/s comes to rest against its car: forces taken at the start of a step would need one
    of 0.0015 s (0.03 N m s/rad on 2.5e-5 kg m²), and gain energy at that of the file."""
    pytest.importorskip("mujoco", reason="taut[robot] is not installed")
    more += '<keyframe><key qpos="0 0 0 1 0 0 0 0" qvel="0 0 0 0 0 0 5"/></keyframe>'
    path = beside(tmp_path, WHEEL.format(how=how, more=more), "robot.xml")
    scene = taut.open_scene(path, key=0)
    run = taut.simulate(scene, duration=0.5, progress=False)
    assert run.status == "finished", run.message
    speed = np.abs(run["axle"].rate.values)
    assert speed.max() < 5.001 * (1.0 if "stiffness" not in how else 1.01) and speed[-1] < 1.5, speed[[0, -1]]
