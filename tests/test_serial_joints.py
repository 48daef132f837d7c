"""Joints of several slides and hinges against chains of hinges and sliders with light bodies between them."""

from __future__ import annotations

import numpy as np
import pytest

import taut

BASE, PIVOT = (0.0, 0.0, 0.0), np.array([0.2, 0.1, 0.05])
INERTIA = np.diag([0.02, 0.03, 0.015])
pytestmark = pytest.mark.filterwarnings("ignore::taut.errors.TautWarning")


def axes(seed: int) -> np.ndarray:
    """Three perpendicular directions, right- or left-handed."""
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]


def cardan(seed: int, angle_2: float) -> list[np.ndarray]:
    first, second, third = axes(seed)
    sign = np.sign(np.linalg.det([first, second, third]))
    return [first, second, np.cos(angle_2) * third + np.sin(angle_2) * sign * first]


# slides, hinges, and from where the first hinge is to where the last one is
CASES = {
    "two slides": (axes(0)[:2], [], None),
    "three slides": (axes(1), [], None),
    "two hinges": ([], axes(2)[:2], None),
    "two hinges askew": ([], [axes(3)[0], axes(4)[0]], None),
    "three hinges": ([], cardan(5, 0.4), None),
    "three hinges of the other hand": ([], [-one for one in cardan(5, -0.7)], None),
    "a plane": (axes(6)[:2], axes(6)[2:], None),
    "a slide and a hinge askew": (axes(7)[:1], axes(8)[:1], None),
    "three slides and two hinges": (axes(9), axes(10)[:2], None),
    "two slides and three hinges": (axes(11)[:2], cardan(12, 0.3), None),
    "two hinges apart": ([], axes(13)[:2], 0.1 * axes(13)[2] + 0.03 * axes(13)[1]),
}


def joined(case: str, light: float | None) -> taut.Scene:
    """Two bodies and the joint; light: the mass of bodies between its slides and hinges instead [kg]."""
    slides, hinges, apart = CASES[case]
    scene = taut.Scene(gravity=(0, -9.81, 0))
    base = scene.rigid(BASE, mass=2.0, inertia=10 * INERTIA, angular_velocity=(0.3, 0.2, -0.4), name="base")
    body = scene.rigid((0.4, 0.1, 0), mass=1.5, inertia=INERTIA, name="body")
    far = PIVOT if apart is None else PIVOT + apart
    end = body.at(tuple(far - (0.4, 0.1, 0.0)))
    todo = [("slide", one) for one in slides] + [("hinge", one) for one in hinges]
    if light is None:
        numbered = {f"slide_{k}": one for k, one in enumerate(slides, 1)}
        numbered |= {f"hinge_{k}": one for k, one in enumerate(hinges, 1)}
        maker = scene.serial_joint if apart is None else scene.double_hinge
        maker(end, base.at(tuple(PIVOT)), **{name: tuple(one) for name, one in numbered.items()}, name="joint")
        return scene
    before = base.at(tuple(PIVOT))
    for k, (kind, along) in enumerate(todo):
        maker = scene.slider if kind == "slide" else scene.hinge
        if k == len(todo) - 1:
            maker(end, before, axis=tuple(along), name=f"joint_{k}")
            break
        link = scene.rigid(tuple(PIVOT), mass=light, inertia=light * INERTIA, name=f"link_{k}")
        maker(link, before, axis=tuple(along), name=f"joint_{k}")
        before = link if apart is None else link.at(tuple(apart))
    return scene


def motion(case: str, light: float | None) -> np.ndarray:
    """Places of the bodies, coordinates since the start and rates over time."""
    run = taut.simulate(joined(case, light), method="reference", dt=0.02, duration=0.3, progress=False)
    assert run.status == "finished", run.message
    if light is None:
        pairs = [(run["joint"], name) for name in run["joint"].coordinates]
    else:
        joints = [run[name] for name in run.scene.constraints]
        pairs = [(joint, joint.coordinates[0]) for joint in joints]
    values = [np.asarray(getattr(joint, name)) for joint, name in pairs]
    rates = [np.asarray(joint.rate_of(name)) for joint, name in pairs]
    bodies = [np.asarray(run[name].position) for name in ("base", "body")]
    return np.column_stack([*bodies, *(value - value[0] for value in values), *rates])


@pytest.mark.parametrize("case", CASES)
def test_it_is_the_limit_of_light_bodies_between(case):
    """What a light body changes is of the size of its mass."""
    exact = motion(case, None)
    off = [np.abs(motion(case, light) - exact).max() for light in (1e-3, 1e-5)]
    assert off[0] < 0.05 and off[1] < 0.02 * off[0], off


def test_the_second_of_three_angles_is_as_the_axes_stand():
    """R = R(h_1, q_1) R(h_2, q_2) R(h_3, q_3); the first and the last are what the user says."""
    for angle_2 in (-1.2, 0.0, 0.9):
        for sign in (1.0, -1.0):
            scene = taut.Scene()
            given = {f"hinge_{k}": tuple(sign * one) for k, one in enumerate(cardan(5, sign * angle_2), 1)}
            scene.serial_joint(scene.rigid((0, 0, 0), mass=1.0, inertia=INERTIA, name="b"), (0, 0, 0), angle_1=0.3,
                               angle_3=-0.2, **given, name="gimbal")  # fmt: skip
            run = taut.simulate(scene, method="reference", dt=0.01, duration=0.01)
            found = [float(getattr(run["gimbal"], f"angle_{k}")[0]) for k in (1, 2, 3)]
            assert found == pytest.approx([0.3, angle_2, -0.2], abs=1e-12), (angle_2, sign)


def test_a_pole_of_the_angles_is_told():
    """At 3 rad/s the second angle is at 90 degrees after 0.52 s; the motion passes it, and is right."""
    scene = taut.Scene(gravity=(0, 0, 0))
    body = scene.rigid((0, 0, 0), mass=1.0, inertia=INERTIA, name="b")
    scene.serial_joint(body, (0, 0, 0), hinge_1=Z, hinge_2=X, hinge_3=Y, rate_1=0, rate_2=3, rate_3=0, name="gimbal")
    before = taut.simulate(scene, method="rattle", dt=0.01, duration=0.4, progress=False)
    passed = taut.simulate(scene, method="rattle", dt=0.01, duration=0.8, progress=False)
    told = "angle_2 of 'gimbal' came to 90 degrees"
    assert not any(told in text for text in before.notes) and any(told in text for text in passed.notes)
    rarely = taut.simulate(scene, method="rattle", dt=0.01, duration=0.8, record_every=10, progress=False)
    assert any(told in text for text in rarely.notes), "between two records"
    assert float(before["gimbal"].angle_2[-1]) == pytest.approx(1.2, abs=1e-9)
    turned = [np.cos(1.2), np.sin(1.2), 0, 0]
    assert passed.status == "finished" and np.abs(np.asarray(passed["b"].orientation[-1]) - turned).max() < 1e-9


X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
WRONG = {
    "it has neither slides nor hinges; give slide_1": {},
    "it has hinge_2; number them from hinge_1 on": {"hinge_2": X},
    "it holds nothing; leave it out": {f"{which}_{k}": one for which in ("slide", "hinge")
                                       for k, one in ((1, X), (2, Y), (3, Z))},
    "its slide_1 and slide_2 stand at 45 degrees; they must be perpendicular": {"slide_1": X, "slide_2": (1, 1, 0)},
    "its hinge_2 and hinge_3 stand at 45 degrees": {"hinge_1": X, "hinge_2": Y, "hinge_3": (0, 1, 1)},
    "its hinge_1 and hinge_2 lie along each other": {"hinge_1": X, "hinge_2": (-1, 0, 0)},
    "its hinge_1 and hinge_3 lie along each other": {"hinge_1": X, "hinge_2": Y, "hinge_3": X},
    "it has angle_2 but no hinge_2": {"hinge_1": Z, "angle_2": 0.5},
    "it has speed_1 but no slide_1": {"hinge_1": Z, "speed_1": 1.0},
    "its hinge_1 is (0.0, 0.0, 0.0), which has no direction": {"hinge_1": (0, 0, 0)},
}  # fmt: skip


@pytest.mark.parametrize("words", WRONG)
def test_axes_that_can_not_be_are_named(words):
    scene = taut.Scene()
    body = scene.rigid((0, 0, 0), mass=1.0, inertia=INERTIA, name="b")
    with pytest.raises(taut.TautError) as mistake:
        scene.serial_joint(body, (0, 0, 0), **WRONG[words], name="gimbal")
    assert words in str(mistake.value) and "serial_joint 'gimbal'" in str(mistake.value), mistake.value


@pytest.mark.parametrize("given", [{"hinge_1": X}, {"slide_1": Z}, {"hinge_1": Z, "hinge_2": X}])
def test_planar_bodies_that_it_can_not_move_are_named(given):
    scene = taut.Scene()
    body = scene.rigid((0, 0, 0), mass=1.0, inertia=1.0, planar=True, name="b")
    with pytest.raises(taut.TautError, match="planar bodies move across z and turn about z alone"):
        scene.serial_joint(body, (0, 0, 0), **given)


def test_a_double_hinge_in_a_plane_is_refused():
    scene = taut.Scene()
    body = scene.rigid((1, 0, 0), mass=1.0, inertia=INERTIA, name="b")
    with pytest.raises(taut.TautError, match="link'.*lie in one plane; of axes that meet make a serial_joint"):
        scene.double_hinge(body, (0, 0, 0), hinge_1=X, hinge_2=Y, name="link")
