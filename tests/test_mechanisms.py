"""Mechanisms: published and closed-form motions, what methods keep, their orders, and redundant loops."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import cos, pi, sin, sqrt

import numpy as np
import pytest
from scipy.special import ellipk
from words_methods import SOFT

import taut
from taut.methods import METHODS
from taut.scene.gallery.linkages import JANSEN, meet
from taut.scene.gallery.spatial import t_handle_moments

EXACT = {"method": "reference", "tolerance": 1e-12}
FIXED_STEP = [
    name for name, method in METHODS.items()
    if not method.adaptive and method.coordinates == "maximal" and not method.is_for_deformables_only
]  # fmt: skip
INTERVALS = 40
STEPS = {  # by scene and order: fine enough to show it and coarse enough to stay above rounding
    "closed_loop": {0: (2560, 5120, 10240), 1: (5120, 10240, 20480), 2: (2560, 5120, 10240), 4: (320, 640, 1280)},
    "rheonomic": {0: (640, 1280, 2560), 1: (640, 1280, 2560), 2: (640, 1280, 2560), 4: (160, 320, 640)},
}


# Motions that are known

# Angles and rates of the squeezer at t = 0.03 s in the test set for initial value problems.
SQUEEZED = {
    "beta": (15.81077119629904, 1139.920302151208), "theta": (-15.75637105984298, -1424.379294994111),
    "gamma": (0.04082224013073101, 11.03291221937134), "phi": (-0.5347301163226948, 19.29337464421385),
    "delta": (0.5244099658805304, 0.5735699284790808), "omega": (0.5347301163226948, -19.29337464421385),
    "epsilon": (1.048080741042263, 0.3231791658026955),
}  # fmt: skip


def test_andrews_squeezer_ends_as_published(simulate):
    run = simulate(taut.gallery("andrews_squeezer"), dt=1e-3, duration=0.03, **EXACT)
    for name, (angle, rate) in SQUEEZED.items():
        found = float(run[name].angle[-1]), float(run[name].rate[-1])
        assert abs(found[0] - angle) < 2e-9, f"{name}: {found[0]}, published {angle}"
        assert abs(found[1] - rate) < 1e-6, f"rate of {name}: {found[1]}, published {rate}"


def test_a_universal_joint_turns_its_shaft_by_the_formula(simulate):
    """tan θ₂ = tan θ₁ / cos β from where the first shaft's fork lies in the plane of both."""
    beta = pi / 5
    run = simulate(taut.gallery("universal_shaft", angle=beta, speed=10.0), dt=0.01, duration=1.0, **EXACT)
    along = np.array([cos(beta), sin(beta), 0.0])
    rate = run["second"].angular_velocity.values @ along
    expected = 10.0 * cos(beta) / (1 - (sin(beta) * np.cos(10.0 * run.records.time)) ** 2)
    error = np.abs(rate - expected).max()
    assert np.ptp(expected) > 4 and error < 1e-8, f"off by {error:.3g} rad/s"


def test_the_t_handle_turns_over_at_the_period_of_the_elliptic_functions(simulate):
    """Euler's equations near the middle axis: ω₂ ~ sn(p t, k²), so that it turns over every 2 K(k²)/p."""
    I1, I2, I3 = t_handle_moments()
    w1, w2 = 12.0 * sin(0.02), 12.0 * cos(0.02)
    energy, square = I1 * w1**2 + I2 * w2**2, (I1 * w1) ** 2 + (I2 * w2) ** 2
    assert I1 < I2 < I3 and square < energy * I2, "the momentum circles the axis of the bar"
    p = sqrt((I2 - I1) * (energy * I3 - square) / (I1 * I2 * I3))
    modulus = (I3 - I2) * (square - energy * I1) / ((I2 - I1) * (energy * I3 - square))
    run = simulate(taut.gallery("spinning_t_handle", spin=12.0, tilt=0.02), dt=0.005, duration=8.0, **EXACT)
    stem = run["stem"]  # its own x axis is the stem
    flips = run.crossings(stem.angular_velocity_body.sel(xyz="x")).time.values
    assert len(flips) >= 3, f"it turned over {len(flips)} times"
    period = np.diff(flips)
    error = np.abs(period - 2 * ellipk(modulus) / p).max()
    assert error < 1e-5 * period[0], f"periods {period}, exact {2 * ellipk(modulus) / p}"


def test_a_stewart_platform_goes_where_its_legs_push_it_and_the_drives_do_the_work(simulate):
    run = simulate(taut.gallery("stewart_platform"), "implicit_second", 0.005, 2.0, tolerance=1e-12)
    for i in range(1, 7):
        wanted = 0.15 * (np.sin(2 * run.records.time + pi * i / 3) - np.sin(pi * i / 3)) * (
            1 - np.exp(-2 * run.records.time**2))
        error = np.abs(run[f"slide_{i}"].displacement.values - wanted).max()
        assert error < 1e-10, f"leg {i} is off by {error:.3g} m"
    moved = np.abs(run["plate"].position.values - run["plate"].position.values[0]).max()
    work, drift = np.abs(run.data.energy_driver_work.values).max(), np.abs(run.data.energy_drift.values).max()
    assert moved > 0.05 and work > 5.0 and drift < 1e-3 * work, f"moved {moved:.3g} m, {drift:.3g} of {work:.3g} J"


def test_a_strandbeest_sets_its_foot_on_flat_ground(simulate):
    """Over two turns, for at least a third of the time the foot is within 4 percent of its stride of the ground."""
    run = simulate(taut.gallery("strandbeest_leg"), dt=0.01, duration=5.0, **EXACT)
    foot = run["shank"].at(foot_offset(run.scene.bodies["shank"])).position.values
    late = foot[run.records.time > 1.5]
    stride, low = np.ptp(late[:, 0]), late[:, 1].min()
    on_ground = float(np.mean(late[:, 1] < low + 0.04 * stride))
    assert stride > 0.4 and on_ground > 1 / 3, f"stride {stride:.3g} m, on the ground {on_ground:.0%} of the time"


def foot_offset(shank):
    """The corner of the shank's triangle that lies lowest, from its sides g, h and i."""
    n = {name: 0.01 * length for name, length in JANSEN.items()}
    pivot, crank = (-n["a"], -n["l"]), (n["m"], 0.0)
    low = meet(pivot, n["c"], crank, n["k"], -1)
    left = meet(pivot, n["d"], meet(pivot, n["b"], crank, n["j"], 1), n["e"], 1)
    knee = meet(left, n["f"], low, n["g"], -1)
    foot = meet(knee, n["h"], low, n["i"], -1)
    return foot[0] - shank.position[0], foot[1] - shank.position[1], 0.0


# What structure-keeping methods keep


@pytest.mark.parametrize("method, dt", [("rattle", 0.05), ("rattle_fourth", 0.05), ("reference", 0.1)])
def test_a_free_rigid_body_keeps_its_energy_and_angular_momentum_over_100_turns(method, dt, simulate):
    scene = taut.Scene(gravity=(0, 0, 0))
    scene.rigid((0, 0, 0), mass=1.0, inertia=(0.2, 0.3, 0.45), angular_velocity=(0.3, 6.0, 0.4), name="body")
    run = simulate(scene, method, dt, 100 * 2 * pi / 6.0)
    kinetic, spin = run.data.energy_kinetic.values, run["body"].angular_momentum.values
    energy = np.abs(kinetic / kinetic[0] - 1).max()
    momentum = np.linalg.norm(spin - spin[0], axis=1).max() / np.linalg.norm(spin[0])
    assert energy < 1e-10, f"energy changes by {energy:.3g} of itself"
    assert momentum < 1e-10, f"angular momentum changes by {momentum:.3g} of itself"


# Orders on mechanisms


def closed_loop() -> taut.Scene:
    """A crank-rocker of rigid bars that is already moving, and speeds up from 3 to 20 rad/s."""
    return moving(taut.gallery("four_bar_rigid", torque=2.0), "crank_pin", 3.0)


def rheonomic() -> taut.Scene:
    """A pendulum on a crank whose angle is prescribed."""
    scene = taut.Scene(name="rheonomic")
    crank = scene.rigid((0.5, 0, 0), mass=1.0, inertia=0.1, planar=True, velocity=(0, 0.5, 0),
                        angular_velocity=(0, 0, 1))
    rod = scene.rigid((1.5, 0, 0), mass=1.0, inertia=0.2, planar=True, velocity=(0, 1, 0))
    pin = scene.hinge(crank.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1))
    scene.hinge(rod.at((-0.5, 0, 0)), crank.at((0.5, 0, 0)), axis=(0, 0, 1))
    scene.drive(pin, angle="sin(t) + t**2")
    return scene


def moving(scene: taut.Scene, pin: str, rate: float) -> taut.Scene:
    """The scene with the velocities that a rate of its one freedom gives."""
    driven = taut.gallery("four_bar_rigid")
    driven.drive(pin, angle=f"{rate}*t")
    sim = taut.Simulation(driven, method="rattle", dt=1e-6)
    record = sim.state.record
    for body in sim.session.model.body_info:
        given = scene._bodies[body.name]
        spin = (0.0, 0.0, float(record.v[0, body.slot + 1, 2]))
        scene._bodies[body.name] = replace(
            given, velocity=tuple(record.v[0, body.slot].tolist()), angular_velocity=spin)
    return scene


@pytest.fixture(scope="module")
def exact(simulate):
    @cache
    def reference(make):
        return simulate(make(), "reference", 1 / INTERVALS, 1.0, tolerance=1e-13).data.position.values

    return reference


@pytest.mark.filterwarnings("ignore::taut.TautWarning")
@pytest.mark.parametrize("make", [closed_loop, rheonomic])
@pytest.mark.parametrize("name", FIXED_STEP)
def test_every_method_has_its_order_on_mechanisms(name, make, exact, slope):
    method = METHODS[name]
    steps = STEPS[make.__name__][method.order]
    rows = []
    for n in steps:
        run = taut.simulate(make(), name, 1 / n, 1.0, record_every=n // INTERVALS, progress=False,
                            **SOFT.get(name, {}))
        # Where velocities do not converge, energy need not either, and the run says so.
        assert run.status == "finished" or method.order_velocity == 0, run.message
        apart = np.abs(run.data.position.values - exact(make)).max()
        rows.append([apart, np.abs(run.records.phi).max(), np.abs(run.records.rate).max()])
    h = 1 / np.array(steps)
    for error, declared, what in zip(np.array(rows).T, (method.order, method.order_position, method.order_velocity),
                                     ("trajectory", "Φ", "Φ̇")):
        if declared is not None:
            fitted = slope(h, error)
            assert abs(fitted - declared) < 0.2, f"{what}: order {fitted:.3f}, declared {declared}, errors {error}"


# Redundant loops


@pytest.mark.filterwarnings("ignore::taut.TautWarning")
@pytest.mark.parametrize("method", ["rattle", "implicit_second", "lagrange"])
def test_a_door_on_two_hinges_swings_as_on_one_and_its_redundant_rows_are_named(method, simulate):
    scene = taut.gallery("door_on_two_hinges")
    run = simulate(scene, method, 0.005, 2.0)
    one = taut.gallery("door_on_two_hinges")
    del one._constraints["upper"]
    single = simulate(one, method, 0.005, 2.0)
    apart = np.abs(run["lower"].angle.values - single["lower"].angle.values).max()
    assert np.abs(run["lower"].angle.values).max() > 0.5 and apart < 1e-6, f"apart by {apart:.3g} rad"
    told = " ".join(run.notes)
    assert "redundant" in told and "'upper[" in told and "'lower[" in told, told


@pytest.mark.filterwarnings("ignore::taut.TautWarning")
def test_a_four_bar_of_spatial_hinges_moves_as_the_planar_one(simulate):
    runs = [simulate(taut.gallery("four_bar_rigid", planar=planar), "rattle", 0.002, 3.0) for planar in (True, False)]
    assert [len(run.model.row_names) for run in runs] == [8, 20]
    first, second = (run["rocker_pin"].angle.values for run in runs)
    apart = np.abs(first - second).max()
    assert np.ptp(first) > 0.3 and apart < 1e-7, f"apart by {apart:.3g} rad"
    assert any("redundant" in note for note in runs[1].notes) and not any("redundant" in note for note in runs[0].notes)


@pytest.mark.parametrize("kind", ["hinge", "slider"])
def test_a_joint_feels_the_inertia_of_a_coordinate_behind_a_gear(kind):
    """(M + I r²) q̈ = F, with I on a shaft that goes r times as far as the joint."""
    scene, ratio = taut.Scene(gravity=(0, 0, 0)), 3.0
    body = scene.rigid((0, 0, 0), mass=2.0, inertia=(2.0, 2.0, 2.0), name="body")
    joint = getattr(scene, kind)(body, (0, 0, 0), axis=(0, 0, 1), name="joint")
    shaft = scene.coordinate(0.6, inertia=0.5, name="shaft")
    scene.couple(shaft, joint, ratio=ratio, offset=0.6)
    scene.motor(joint, **{"torque" if kind == "hinge" else "force": 4.0})
    run = taut.simulate(scene, dt=0.01, duration=1.0, progress=False, **EXACT)
    q = run["joint"].angle if kind == "hinge" else run["joint"].displacement
    assert float(q[-1]) == pytest.approx(0.5 * 4.0 / (2.0 + 0.5 * ratio**2), rel=1e-10)
    assert float(run["shaft"].value[-1]) == pytest.approx(0.6 + ratio * float(q[-1]), rel=1e-10)
