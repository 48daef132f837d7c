"""Published and exactly solved cases at level `good`, multipliers included.

The numbers are copies of the project's reference cases (tests/reference/*.json, each with its source). Method
and cost, warm, on a machine of two shared cores:

    reference, tolerance 1e-12 or 1e-13     pendulum, 2 and 5 links, spherical pendulum, turning hoop, car axis, skate:
                                            10 to 30 ms each; the hanging chain settles in 10 ms;
                                            2000 s of pendulum in 0.8 s
    rattle_fourth, tolerance 1e-14          the four-bars, 20 s with dt = 2 ms: 1 s each

`reference` can not follow the four-bars: they pass positions where J loses rank (methods/reference.py). The
files' multipliers are those of M a + Jᵀ λ = f, so theirs are ours with the sign turned.
"""

from __future__ import annotations

import json
from math import cos, pi, sin, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import BarycentricInterpolator
from scipy.optimize import brentq

import taut

FOLDER = Path(__file__).parent / "reference"
EXACT = {"method": "reference", "tolerance": 1e-13}


def at(run: taut.Run, time: float) -> int:
    """The record of that time."""
    k = int(np.argmin(np.abs(run.records.time - time)))
    assert abs(run.records.time[k] - time) < 1e-9, f"no record at t = {time}"
    return k


def at_or_after(run: taut.Run, time: float) -> int:
    return int(np.searchsorted(run.records.time, time))


def tension(run: taut.Run, *names: str) -> np.ndarray:
    """Pulls of rods, shape (time, rods): λ with the sign of the files."""
    return -np.column_stack([run[name].multiplier.values for name in names])


def plane(values: np.ndarray) -> list[float]:
    """x and y of several points in a row."""
    return values[..., :2].ravel().tolist()


def z_up(place: np.ndarray) -> list[float]:
    """Tables with z up name our (x, y, z) as (x, -z, y)."""
    return [place[0], -place[2], place[1]]


def rising_zeros(time: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Where values pass zero upwards, from polynomials through twelve records."""
    found = []
    for k in np.flatnonzero((values[:-1] < 0) & (values[1:] >= 0)):
        low = min(max(k - 5, 0), len(time) - 12)
        near = BarycentricInterpolator(time[low : low + 12] - time[k], values[low : low + 12])
        found.append(time[k] + brentq(near, 0.0, time[k + 1] - time[k], xtol=1e-15))
    return np.array(found)


def mean_period(zeros: np.ndarray) -> float:
    return (zeros[-1] - zeros[0]) / (len(zeros) - 1)


def pendulum(simulate):
    run = simulate(taut.gallery("pendulum"), dt=0.01, duration=10.0, **EXACT)
    x, pull = run.records.x[:, 1], tension(run, "rod")
    return {
        "pos_t1": plane(x[at(run, 1)]),
        "pos_t10": plane(x[at(run, 10)]),
        "lambda_t10": pull[at(run, 10), 0] / 2,  # Φ = x² + y² - 1 there, |x| - 1 here
        "period": mean_period(rising_zeros(run.records.time, x[:, 0])),
    }


def long_pendulum(simulate):
    run = simulate(taut.gallery("pendulum"), dt=0.5, duration=2000.0, **EXACT)
    energy = run.data.energy_total.values[run.records.time <= 10.0]
    found = {f"pos_t{t}": plane(run.records.x[at(run, t), 1]) for t in (100, 1000, 2000)}
    return found | {"energy_drift_10s": np.abs(energy - energy[0]).max()}


def links(count: int, angle: float):
    def case(simulate):
        run = simulate(taut.gallery("chain", n=count, angle=angle), dt=0.5, duration=10.0, **EXACT)
        pull = tension(run, *(f"link_{i}" for i in range(1, count + 1)))
        found = {}
        for t in (1, 2, 5, 10):
            found[f"points_t{t}"] = plane(run.records.x[at(run, t), 1:])
            found[f"tension_t{t}"] = pull[at(run, t)].tolist()
        return found

    return case


def spherical(simulate):
    run = simulate(taut.gallery("spherical_pendulum"), dt=0.01, duration=10.0, **EXACT)
    pull, sinking = tension(run, "rod"), -run.records.v[:, 1, 1]
    found = {"z_period": mean_period(rising_zeros(run.records.time, sinking))}
    for t in (0.5, 1, 5, 10):
        found[f"pos_t{t:g}"] = z_up(run.records.x[at(run, t), 1])
        found[f"tension_t{t:g}"] = pull[at(run, t), 0]
    return found


def turning_hoop(simulate):
    run = simulate(taut.gallery("bead_on_hoop"), dt=0.5, duration=10.0, **EXACT)
    inward, sideways = -run["hoop"].multiplier.values, run["turning"].multiplier.values
    found = {}
    for t in (0.5, 1, 5, 10):
        k = at(run, t)
        found[f"pos_t{t:g}"] = z_up(run.records.x[k, 0])
        # λ of the plane counts along the normal that the scene gave, which is the table's +φ.
        found[f"normal_t{t:g}"] = [inward[k], sideways[k]]
    return found


def car_axis(simulate):
    run = simulate(taut.gallery("car_axis"), dt=0.5, duration=3.0, **EXACT)
    multipliers = tension(run, "upright", "axis")
    found = {}
    for t in (1, 2, 3):
        k = at(run, t)
        found[f"q_t{t}"] = plane(run.records.x[k, :2])
        found[f"v_t{t}"] = plane(run.records.v[k, :2])
        found[f"lambda_t{t}"] = multipliers[k].tolist()
    return found


def skate_on_incline(simulate):
    scene = taut.Scene(gravity=(9.81 * sin(pi / 6), 0, -9.81 * cos(pi / 6)))
    blade = scene.rigid((0, 0, 0), mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 2.0), name="blade")
    scene.planar_joint(blade, (0, 0, 0), axis=(0, 0, 1))
    scene.skate(blade, direction=(1, 0, 0), normal=(0, 0, 1), name="edge")
    run = simulate(scene, dt=0.5, duration=5.0, **EXACT)
    found = {}
    for t in (0.5, 1, 2, 5):
        found[f"pos_t{t:g}"] = plane(run.records.x[at(run, t), 0])
        found[f"force_t{t:g}"] = abs(float(run["edge"].multiplier.values[at(run, t)]))
    return found


def hanging_chain(simulate):
    """Drag lets it settle: after 40 s nothing moves any more."""
    scene = taut.gallery("chain", n=5, length=0.4, span=1.2, mass=0.2, drag=1.0)
    run = simulate(scene, dt=10.0, duration=40.0, **EXACT)
    pull = tension(run, *(f"link_{i}" for i in range(1, 6)))[-1]
    across = run.records.x[-1, 3] - run.records.x[-1, 2]
    return {
        "points": plane(run.records.x[-1, 1:5]),
        "tension": pull.tolist(),
        "H": pull[2] * across[0] / sqrt(across @ across),
    }


def four_bars(count: int):
    def case(simulate):
        run = simulate(taut.gallery("four_bar", n=count), "rattle_fourth", 0.002, 20.0, tolerance=1e-14)
        data, time = run.data, run.records.time
        arms = [data.position.sel(body=f"upright_{i}").values - (i, 0, 0) for i in range(count + 1)]
        angles = np.unwrap([np.arctan2(arm[:, 1], arm[:, 0]) for arm in arms], axis=1)
        turned = angles[0, 0] - angles[0]  # clockwise
        turns = int(turned[-1] / (2 * pi))
        speed = data.velocity.sel(body="upright_0").values
        energy = data.energy_total.values
        found = {
            "revolution_period": rising_zeros(time, turned - 2 * pi * turns)[0] / turns,
            "energy_drift": np.abs(energy - energy[0]).max(),
            "branch_error": np.abs(angles - angles[0]).max(),
        }
        for t in (1, 5, 10, 20):
            found[f"B0_pos_t{t}"] = plane(2 * arms[0][at(run, t)])
            found[f"B0_vel_t{t}"] = plane(2 * speed[at(run, t)])
        return found

    return case


def acute_corner(simulate):
    """Six forces, each for 1 s from rest: ẍ is read off the way, so that it tests the motion as well."""
    rows = ((2, (2, -1)), (3, (2, -1)), (1, (-1, -2)), (1, (1, 2)), (2, (-3, -1)), (1, (1, 0.5)))
    found, lowest = {}, 0.0
    for i, (m, (fx, fy)) in enumerate(rows, 1):
        run = simulate(taut.gallery("acute_corner", m=m, fx=fx, fy=fy), "baumgarte", 0.01, 1.0)
        place = plane(run.records.x[-1, 0])
        pushes = run.data.multiplier.sel(constraint=["g1", "g2"]).values[-1]
        found[f"f{i}_acc_mu"] = [2 * x for x in place] + pushes.tolist()
        lowest = max(lowest, float(run.data.overlap.max()))
        if i in (2, 4):
            found[f"f{i}_pos_t1"] = place
    return found | {"min_gap_all": lowest}


def bouncing_ball(simulate):
    run = simulate(taut.gallery("bouncing_ball"), "baumgarte", 0.01, 5.0)
    impacts = run.events[run.events.kind == "impact"].time.values
    between = [at_or_after(run, t) for t in impacts[:5]]
    y, v = run.records.x[between, 0, 1], run.records.v[between, 0, 1]
    return {
        "impact_times": impacts[:6].tolist(),
        "apex_heights": (y + v**2 / (2 * 9.81)).tolist(),
        "rest_time": impacts[-1],
        "force_at_rest_over_mg": run.records.lam[-1, 0] / 9.81,
    }


def slider_pendulum(simulate):
    scene = taut.Scene(gravity=(0, -10, 0))
    block = scene.rigid((0, 0, 0), mass=1.0, inertia=1.0, planar=True)
    arm = scene.rigid((0.5, 0, 0), mass=1.0, inertia=1.0, planar=True, name="arm")
    rail = scene.slider(block, (0, 0, 0), axis=(1, 0, 0), name="rail")
    scene.hinge(arm.at((-0.5, 0, 0)), block, axis=(0, 0, 1), name="pin")
    scene.spring_on(rail, stiffness=10.0)
    run = simulate(scene, dt=0.5, duration=5.0, **EXACT)
    found = {}
    for t in (1, 2, 5):
        k = at(run, t)
        found[f"com_t{t}"] = plane(run["arm"].position.values[k])
        found[f"x_phi_t{t}"] = [float(run["rail"].displacement[k]), float(run["pin"].angle[k])]
    return found


def adams_pendulum(simulate):
    scene = taut.Scene(gravity=(0, 0, -9.80665))
    body = scene.rigid((3, 2, 3), mass=1.0, inertia=(0.04, 0.1, 0.1), orientation=("x", -pi / 4), name="body")
    scene.ball(body.at((-2, 0, 0)), (1, 2, 3), name="joint")
    run = simulate(scene, dt=0.5, duration=5.0, **EXACT)
    found = {}
    for t in (0.5, 1, 2, 3, 5):
        found[f"com_t{t:g}"] = run["body"].position.values[at(run, t)].tolist()
        found[f"joint_force_t{t:g}"] = run["joint"].force.sel(body="body").values[at(run, t)].tolist()
    return found


def driven_slider_crank(simulate):
    run = simulate(taut.gallery("slider_crank"), dt=0.05, duration=0.2, **EXACT)
    slider, found = run["slider"], {}
    for t in (0.05, 0.1, 0.2):
        k = at(run, t)
        moved = [float(each[k, 0]) for each in (slider.position, slider.velocity, slider.acceleration)]
        found[f"x_xd_xdd_t{t:g}"] = moved
        angle, rate = (getattr(run["crank_pin"], each) + getattr(run["rod_pin"], each) for each in ("angle", "rate"))
        found[f"rod_angle_rate_t{t:g}"] = [float(angle[k]), float(rate[k])]
        found[f"torque_t{t:g}"] = float(run["drive"].multiplier[k])
    return found


def ladder(simulate):
    """At rest against the wall; what holds it there is found in the first steps."""
    scene = taut.Scene(gravity=(0, 0, -10))
    lean = np.arcsin(0.995 / 2)
    up = np.array([sin(lean), 0, cos(lean)])
    lower, upper = (
        scene.rigid(r * up, mass=3.5, shape={"rod": 1.0}, orientation=("y", lean - pi / 2), name=name)
        for r, name in ((0.5, "lower"), (1.5, "upper"))
    )
    pin = scene.hinge(lower.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 1, 0), angle=lean, name="pin")
    scene.weld(upper.at((-0.5, 0, 0)), lower.at((0.5, 0, 0)), name="middle")
    scene.motor(pin, torque=20.0, name="motor")
    scene.half_space(upper.at((0.5, 0.25, 0)), point=(1, 0, 0), normal=(-1, 0, 0), ball=0.005, name="wall")
    run = simulate(scene, "baumgarte", 0.001, 0.01)

    def about(joint, body, place):
        force, torque = (each.sel(body=body).values[-1] for each in (run[joint].force, run[joint].torque))
        return force, torque - np.cross(place - run[body].position.values[-1], force)

    pin_force, pin_torque = about("pin", "lower", np.zeros(3))
    mid_force, mid_torque = about("middle", "upper", up)
    return {
        "lean_angle": float(run["pin"].angle[-1]),
        "wall_force_x": float(run["wall"].force.sel(body="upper")[-1, 0]),
        "pin_force": pin_force.tolist(),
        "pin_torque": (pin_torque + run["motor"].torque.sel(body="lower").values[-1]).tolist(),
        "mid_force": mid_force.tolist(),
        "mid_torque": mid_torque.tolist(),
    }


CASES = {
    "ivp_pendulum_index3": pendulum,
    "ivp_car_axis": car_axis,
    "classic_npendulum_2": links(2, pi / 2),
    "classic_npendulum_5s": links(5, pi / 12),
    "classic_spherical_pendulum": spherical,
    "classic_rotating_hoop_0p1": turning_hoop,
    "classic_skate_on_incline": skate_on_incline,
    "classic_hanging_chain_5": hanging_chain,
    "mbs_a01_pendulum_2000s": long_pendulum,
    "mbs_a02_fourbar_N1": four_bars(1),
    "mbs_a02_fourbar_N2": four_bars(2),
    "contact_acute_corner": acute_corner,
    "contact_bouncing_ball": bouncing_ball,
    "peer_chrono_slider_pendulum": slider_pendulum,
    "peer_adams_spherical_case2": adams_pendulum,
    "classic_slider_crank_driven": driven_slider_crank,
    "peer_drake_ladder": ladder,
}


def error(check: dict, found: float | list[float]) -> float:
    """|x - value| / max(|value|, scale), the worst element: as the cases define it."""
    value, x = (np.atleast_1d(np.array(v, float)) for v in (check["value"], found))
    assert value.shape == x.shape, f"{check['name']}: {x} where {value} is published"
    return float((np.abs(x - value) / np.maximum(np.abs(value), check["scale"])).max())


def test_every_file_has_its_case():
    assert {path.stem for path in FOLDER.glob("*.json")} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_reference_case_at_level_good(name, simulate):
    checks = json.loads((FOLDER / f"{name}.json").read_text())["checks"]
    found = CASES[name](simulate)
    assert {check["name"] for check in checks} == set(found), "every published number is to be scored"
    missed = [
        f"{check['name']}: error {error(check, found[check['name']]):.2e}, allowed {check['tol_good']:g}"
        for check in checks
        if not error(check, found[check["name"]]) <= check["tol_good"]
    ]
    assert not missed, "; ".join(missed)
