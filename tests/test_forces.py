"""Forces and the free motion of rigid bodies, against potentials, conservation laws and closed forms."""

from __future__ import annotations

from math import cos, exp, pi, sin, sqrt

import numpy as np
import pytest
from scipy.special import ellipj
from words_constraints import cast_with

import taut
from taut.compiled import entry
from taut.forces import KINDS
from taut.model.evaluate import advance_positions, free_accelerations, set_time
from taut.model.frames import rotate

FIRST = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])  # central differences of order 8
EXACT = {"method": "reference", "tolerance": 1e-13}


@entry
def look(system, t, x, quat, v, s, moved_x, moved_quat):
    """Evaluate the forces at q ⊞ s v; f into work.f. Returns the potential energy, gravity's left out."""
    advance_positions(system, x, quat, v, s, moved_x, moved_quat)
    set_time(system, t, moved_x, moved_quat, v)
    return free_accelerations(system, t, moved_x, moved_quat, v)


def test_every_kind_of_force_has_an_example():
    without = [kind.name for kind in KINDS.values() if not kind.examples]
    assert not without, f"without an example: {without}"


@pytest.mark.parametrize("name", KINDS)
def test_power_is_what_a_force_does_beside_its_potential(name):
    """power = f·v + dV/dt along q ⊞ s v at the time t + s; `works` says whether there is any."""
    scene = cast_with(name, KINDS[name].examples, gravity=(0, 0, 0))
    model = taut.build(scene)
    system, slots = model.system(), int(model.bodies.slots)
    v = np.random.default_rng(3).standard_normal(model.x.shape)
    t, h = 0.3, 0.005

    def potential(s):
        return look(system, t + s, model.x, model.quat, v, s, model.x.copy(), model.quat.copy())

    potential(0.0)
    f, power = system.work.f[:slots].copy(), float(system.work.power[0])
    rising = sum(c * (potential(k * h) - potential(-k * h)) for k, c in enumerate(FIRST, 1)) / h
    expected = float((f * v[:slots]).sum()) + rising
    assert KINDS[name].sample is not None or np.abs(f).max() > 0.1, "the example shows nothing"
    assert abs(power - expected) < 1e-8 * max(1.0, np.abs(f).max()), f"power {power} W, f·v + dV/dt {expected} W"


def still_scene() -> taut.Scene:
    return taut.Scene(gravity=(0, 0, 0))


def mixed_scene(damping: float) -> taut.Scene:
    """Springs between particles, rigid bodies and the air; nothing holds them."""
    scene = still_scene()
    p = scene.particle((0.1, 0.2, 1.1), mass=0.7, velocity=(1, 0, 0.5))
    q = scene.particle((1.2, 0.1, 0.3), velocity=(0, -1, 0))
    inertia = [[0.3, 0.05, 0.02], [0.05, 0.4, 0.01], [0.02, 0.01, 0.5]]
    box = scene.rigid((2, 1, 0), mass=3.0, inertia=inertia, orientation=((1, 1, 0), 1.2),
                      angular_velocity=(0.5, 1, -2), velocity=(0, 0, 1), name="box")
    scene.spring(p, q, stiffness=20, length=0.9, damping=damping)
    scene.spring(p, box.at((0.3, 0.1, -0.2)), stiffness=30, length=1.5, damping=damping)
    scene.spring(q, box.at((-0.2, 0.3, 0.1)), stiffness=10, damping=damping)
    return scene


def test_springs_and_constant_forces_are_minus_the_gradient_of_their_potential():
    """Power f·v = -dV/ds along any motion q ⊞ s v, places on rigid bodies included."""
    scene = mixed_scene(damping=0.0)
    scene.spring("box", (0, 0, 0), stiffness=5, length=1)
    scene.force("box", value=(1, 2, 3))
    # Two records of three points each, so one batch; some springs are in their second phase, one is slack.
    box = scene.bodies["box"].name
    scene.springs("particle_0", "particle_1", box, pairs=[(0, 1), (1, 2), (2, 0)], stiffness=[7, 8, 9],
                  length=[0.7, 1.1, 5.0], second_stiffness=[90], second_elongation=[0.01])
    scene.springs("particle_1", (0, 1, 0), box, pairs=[(2, 1), (0, 1)], stiffness=3)
    scene.force(scene.coordinate(0.4, name="s"), value=(2, 0, 0))
    model = taut.build(scene)
    system = model.system()
    random = np.random.default_rng(2)
    v = random.standard_normal(model.x.shape)
    slots = int(model.bodies.slots)

    def potential(s):
        return look(system, 0.0, model.x, model.quat, v, s, model.x.copy(), model.quat.copy())

    potential(0.0)
    power = float((system.work.f[:slots] * v[:slots]).sum())
    h = 0.005
    falling = -sum(c * (potential(k * h) - potential(-k * h)) for k, c in enumerate(FIRST, 1)) / h
    assert abs(power) > 1, f"the power is only {power:.3g} W"
    assert abs(power - falling) < 1e-9 * abs(power), f"power {power}, -dV/ds {falling}"


def test_springs_act_and_react(simulate):
    """With damping too, what one end gains the other loses: momentum and angular momentum stay."""
    run = simulate(mixed_scene(damping=3.0), dt=0.1, duration=2.0, **EXACT)
    for name in ("momentum", "angular_momentum"):
        change = float(abs(run.data[name] - run.data[name][0]).max())
        assert change < 1e-11, f"{name} changed by {change:.3g}"
    lost = float(run.data.energy_total[0] - run.data.energy_total[-1])
    assert lost > 0.5, f"the dampers took only {lost:.3g} J"


def test_a_family_of_springs_does_what_single_ones_do():
    """The same springs, written one by one and as one record, give the same forces and energy."""
    random = np.random.default_rng(5)
    places, pairs = random.standard_normal((5, 3)), [(0, 1), (3, 2), (1, 4), (2, 4), (0, 4)]
    found = []
    for as_family in (True, False):
        scene = still_scene()
        nodes = [scene.particle(place, mass=1.5) for place in places]
        if as_family:
            scene.springs(*nodes, pairs=pairs, stiffness=[10], length=[0.4, 0.5, 0.6, 0.7, 0.8], damping=[0.3])
        else:
            for (i, j), length in zip(pairs, (0.4, 0.5, 0.6, 0.7, 0.8)):
                scene.spring(nodes[i], nodes[j], stiffness=10, length=length, damping=0.3)
        model = taut.build(scene)
        system = model.system()
        v = np.arange(15.0).reshape(5, 3) ** 1.5
        energy = look(system, 0.0, model.x, model.quat, v, 0.0, model.x.copy(), model.quat.copy())
        assert model.bodies.velocity_forces == 1, "damped springs depend on velocity"
        found.append(np.append(system.work.f, energy))
    apart = np.abs(found[0] - found[1]).max()
    assert np.abs(found[0]).max() > 10 and apart < 1e-12, f"the forces differ by {apart:.3g} N"


def plate(scene: taut.Scene, velocity=(0.0, 0.0, 0.0)) -> list:
    """A horizontal triangle of 2 m² and 0.3 kg."""
    return [scene.particle(place, mass=0.1, velocity=velocity) for place in ((0, 0, 0), (2, 0, 0), (0, 0, 2))]


def test_a_falling_plate_reaches_its_terminal_speed(simulate):
    """m dv/dt = m g - ρ c A v²/2, so v = V tanh(g t / V) with V² = 2 m g / (ρ c A)."""
    scene = taut.Scene()
    scene.wind(*plate(scene), triangles=[(0, 1, 2)], coefficient=0.7)
    run = simulate(scene, dt=0.1, duration=2.0, **EXACT)
    terminal = sqrt(2 * 0.3 * 9.81 / (1.2 * 0.7 * 2.0))
    expected = -terminal * np.tanh(9.81 * run.records.time / terminal)
    error = np.abs(run.records.v[:, :, 1] - expected[:, None]).max()
    assert error < 1e-10, f"off by {error:.3g} m/s of {terminal:.3g}"


def test_wind_pushes_along_the_normal_and_not_on_what_moves_with_it():
    """|f| = ρ c A |u| (u·n) / 2, a third on each corner, and nothing where the plate goes with the air."""
    scene = still_scene()
    scene.wind(*plate(scene), triangles=[(2, 1, 0)], velocity=("3 + t", "4*t", 0))
    model = taut.build(scene)
    system = model.system()

    def push(velocity):
        v = np.tile(np.array(velocity, float), (3, 1))
        look(system, 1.0, model.x, model.quat, v, 0.0, model.x.copy(), model.quat.copy())
        return system.work.f.copy()

    expected = [0, 0.5 * 1.2 * 2.0 * sqrt(32) * 4 / 3, 0]
    worst = np.abs(push((0, 0, 0)) - expected).max()
    assert worst < 1e-14, f"off by {worst:.3g} N"
    assert np.abs(push((4, 4, 0))).max() == 0.0, "moving with the air must cost nothing"
    power = float((push((-7, -5, 2)) * (-7, -5, 2)).sum())
    assert power < -100, f"against the wind the power is {power:.3g} W"


@pytest.mark.parametrize("arguments, words", [
    ({"pairs": [(0, 1)], "stiffness": [-1]}, "stiffness holds -1"),
    ({"pairs": [(0, 2)], "stiffness": [1]}, "pairs holds 2; its points are numbered from 0 to 1"),
    ({"pairs": [(1, 1)], "stiffness": [1]}, "pairs[0] joins point 1 with itself"),
    ({"pairs": [0, 1, 0], "stiffness": [1]}, "pairs holds 3 numbers; give 2 for each"),
    ({"pairs": [(0, 1)], "stiffness": [1, 2]}, "stiffness has 2 numbers for 1 pairs"),
    ({"pairs": [(0, 1)], "stiffness": [1], "second_stiffness": [3]}, "give both or neither"),
    ({"pairs": [(0, 1)], "stiffness": [1], "length": [0]}, "length holds 0; it must be positive"),
])  # fmt: skip
def test_mistaken_springs_are_refused(arguments, words):
    scene = still_scene()
    points = scene.particle((0, 0, 0)), scene.particle((1, 0, 0))
    with pytest.raises(taut.TautError) as told:
        scene.springs(*points, **arguments)
    assert words in str(told.value), f"said: {told.value}"


def test_a_damped_spring_follows_its_closed_form(simulate):
    scene = still_scene()
    bob = scene.particle((1.3, 0, 0), mass=2.0, name="bob")
    scene.spring(bob, (0, 0, 0), stiffness=8.0, length=1.0, damping=1.6)
    run = simulate(scene, dt=0.5, duration=3.0, **EXACT)
    rate, frequency = 0.4, sqrt(4.0 - 0.4**2)
    t = run.data.time.values
    expected = 1 + 0.3 * np.exp(-rate * t) * (np.cos(frequency * t) + rate / frequency * np.sin(frequency * t))
    error = abs(run.data.position.sel(body="bob", xyz="x").values - expected).max()
    assert error < 1e-11, f"off by {error:.3g} m"


def test_drag_slows_every_free_body_exponentially(simulate):
    scene = still_scene()
    light = scene.particle((0, 0, 0), mass=0.5, velocity=(1, 2, 3), name="light")
    scene.particle((1, 0, 0), mass=2.0, velocity=(0, 0, 4), name="heavy")
    scene.particle((2, 0, 0), velocity=(0, 0, 4), name="slick")
    scene.drag(light, "heavy", coefficient=0.6)
    run = simulate(scene, dt=1.0, duration=2.0, **EXACT)
    speed = np.linalg.norm(run.data.velocity.values[-1], axis=1)
    expected = [sqrt(14) * exp(-0.6 / 0.5 * 2), 4 * exp(-0.6 / 2 * 2), 4.0]
    assert np.abs(speed - expected).max() < 1e-11, f"speeds {speed} instead of {expected}"


def test_a_force_may_change_with_time(simulate):
    scene = still_scene()
    p = scene.particle((0, 0, 0), mass=2.0, name="p")
    wheel = scene.coordinate(0.0, inertia=4.0, name="wheel")
    scene.force(p, value=("4*sin(3*t)", 0, "2*t"))
    scene.force(wheel, value=("8*t", 0, 0))
    run = simulate(scene, dt=0.5, duration=2.0, **EXACT)
    t = 2.0
    found = [*run.data.position.sel(body="p").values[-1], float(run["wheel"].value[-1])]
    expected = [2 * (t / 3 - sin(3 * t) / 9), 0.0, t**3 / 6, t**3 / 3]
    assert np.abs(np.subtract(found, expected)).max() < 1e-11, f"{found} instead of {expected}"


def test_a_torque_turns_a_body_about_its_principal_axis(simulate):
    scene = still_scene()
    body = scene.rigid((0, 0, 0), mass=1.0, inertia=(0.2, 0.5, 0.4), orientation=("z", pi / 2), name="body")
    scene.torque(body, value=("0.3*t", 0, 0))  # the world's x axis is the body's -y axis
    run = simulate(scene, dt=0.5, duration=2.0, **EXACT)
    spin = run.data.angular_velocity.values[-1, 0]
    assert np.abs(spin - [0.3 * 2.0 / 0.5, 0, 0]).max() < 1e-12, f"ω = {spin}"
    angle = 0.3 * 2.0**3 / 6 / 0.5
    axis = rotate(run.data.orientation.values[-1, 0], np.array([1.0, 0, 0]))  # started along +y
    assert np.abs(axis - [0, cos(angle), sin(angle)]).max() < 1e-12, f"the body's x axis points to {axis}"


def spring_as_function(x, v, t):
    f = np.empty((2, 3))
    f[1] = 7.0 * (x[0] - x[1])
    f[0] = -f[1] - 0.2 * v[0] * t
    return f


@pytest.mark.parametrize("form", ["formula", "function", "interpreted"])
def test_custom_forces_do_what_the_same_spring_does(form, simulate):
    """A spring without rest length, written out, with a drag that grows with time."""

    def scene_with(custom: bool):
        scene = still_scene()
        a = scene.particle((1, 0, 0.5), name="a")
        b = scene.particle((0, 2, 0), mass=2.0, velocity=(1, 1, 1), name="b")
        if not custom:
            scene.spring(a, b, stiffness=7.0, length=0.0)
            scene.drag(a, coefficient="0.2*t")
        elif form == "formula":
            pull = [f"7*(a.{c} - b.{c})" for c in "xyz"]
            lines = [f"-{p} - 0.2*a.v{c}*t" for p, c in zip(pull, "xyz")] + pull
            scene.custom_force(a, b, formula=lines)
        else:
            scene.custom_force(a, b, function=spring_as_function, interpreted=int(form == "interpreted"))
        return scene

    built_in, own = (simulate(scene_with(custom), dt=0.5, duration=1.5, **EXACT) for custom in (False, True))
    apart = np.abs(built_in.records.x - own.records.x).max()
    assert apart < 1e-12, f"the two runs part by {apart:.3g} m"


# Rigid bodies


def test_a_free_asymmetric_top_follows_jacobis_functions(simulate):
    """Euler's equations without torque [Landau and Lifshitz, Mechanics, § 37], I1 < I2 < I3, L² > 2 E I2."""
    moments = I1, I2, I3 = 0.2, 0.3, 0.45
    w1, w3 = 1.0, 3.0
    scene = still_scene()
    scene.rigid((0, 0, 0), mass=1.0, inertia=moments, angular_velocity=(w1, 0, w3), velocity=(0.1, 0, 0))
    run = simulate(scene, dt=0.5, duration=10.0, **EXACT)
    energy = I1 * w1**2 + I3 * w3**2
    square = (I1 * w1) ** 2 + (I3 * w3) ** 2
    rate = sqrt((I3 - I2) * (square - energy * I1) / (I1 * I2 * I3))
    modulus = (I2 - I1) * (energy * I3 - square) / ((I3 - I2) * (square - energy * I1))
    sn, cn, dn, _ = ellipj(rate * run.records.time, modulus)
    expected = np.column_stack([w1 * cn, sqrt((energy * I3 - square) / (I2 * (I3 - I2))) * sn, w3 * dn])
    error = np.abs(run.records.v[:, 1] - expected).max()
    assert np.abs(expected[:, 1]).max() > 0.5, "the motion must leave its axis"
    assert error < 1e-10, f"ω in principal axes is off by {error:.3g} rad/s"


@pytest.mark.parametrize("method, dt, bound", [("reference", 0.1, 1e-11), ("rattle_fourth", 0.005, 1e-7)])
def test_a_free_top_keeps_energy_and_angular_momentum(method, dt, bound, simulate):
    scene = still_scene()
    scene.rigid((1, 2, 3), mass=2.0, inertia=(0.2, 0.3, 0.45), orientation=((1, 2, 3), 0.7),
                angular_velocity=(0.1, 3.0, 0.1), velocity=(0.1, 0.2, 0.3))
    data = simulate(scene, dt=dt, duration=10.0, method=method).data
    for name in ("energy_total", "momentum", "angular_momentum"):
        change = float(abs(data[name] - data[name][0]).max())
        assert change < bound, f"{name} changed by {change:.3g}"
    turned = float(abs(data.angular_velocity - data.angular_velocity[0]).max())
    assert turned > 1, f"about its middle axis the top must tumble; ω changed by {turned:.3g} rad/s"


def test_a_heavy_top_precesses_steadily(simulate):
    """m g l = I3 ω3 Ω - (I1 + m l²) Ω² cos θ keeps the inclination θ and the rate of precession Ω."""
    mass, arm, I1, I3, theta, precession = 1.5, 0.4, 0.05, 0.08, 0.6, 1.7
    about_pivot = I1 + mass * arm**2
    spin = (mass * 9.81 * arm + about_pivot * precession**2 * cos(theta)) / (I3 * precession)
    axis = np.array([sin(theta), cos(theta), 0.0])
    up = np.array([0.0, 1.0, 0.0])
    omega = precession * up + (spin - precession * cos(theta)) * axis
    scene = taut.Scene()
    body = scene.rigid(arm * axis, mass=mass, inertia=(I1, I3, I1), orientation=("z", -theta),
                       angular_velocity=omega, velocity=np.cross(omega, arm * axis), name="top")
    scene.ball(body.at((0, -arm, 0)), (0, 0, 0), name="tip")
    run = simulate(scene, dt=0.1, duration=3.0, **EXACT)
    t = run.records.time
    turned = precession * t  # about +y, from x towards -z
    expected = arm * np.column_stack([sin(theta) * np.cos(turned), np.full_like(t, cos(theta)),
                                      -sin(theta) * np.sin(turned)])
    error = np.abs(run.data.position.sel(body="top").values - expected).max()
    assert error < 1e-9, f"the centre is off its circle by {error:.3g} m"
    force = run["tip"].force.sel(body="top").values
    inward = mass * precession**2 * arm * sin(theta)
    assert np.abs(force[:, 1] - mass * 9.81).max() < 1e-8, "the pivot must carry the weight"
    assert np.abs(np.hypot(force[:, 0], force[:, 2]) - inward).max() < 1e-8, "and hold it on the circle"
