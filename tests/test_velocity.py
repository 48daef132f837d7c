"""Conditions on velocities, A(q, t) v + b(q, t) = 0: orders, energy, starts, refusals and mistakes."""

from __future__ import annotations

from functools import cache
from math import cos, sin

import numpy as np
import pytest

import taut
from taut.contact.algorithms import CONTACT_METHODS
from taut.methods import METHODS

HOLDING = [name for name, method in METHODS.items() if "velocity" in method.levels]
STEPPING = [name for name in HOLDING if not METHODS[name].adaptive]
REFUSING = [name for name, method in METHODS.items() if name not in HOLDING and not method.is_for_deformables_only]
INTERVALS = 20  # at whose ends runs are compared


def skating() -> taut.Scene:
    """A point on a blade that turns, on a slope of 30°: x is down, z across."""
    scene = taut.Scene(name="skating", gravity=(9.81 / 2, 0, 0))
    p = scene.particle((0, 0, 0), name="p")
    heading = scene.coordinate(0.0, rate=2.0, name="heading")
    scene.custom(p, heading, velocity="p.vx*sin(heading) - p.vz*cos(heading)", name="blade")
    scene.reduced({"x": 0.0, "z": 0.0, "heading": (0.0, 2.0)}, {p: ("x", "0", "z")})
    return scene


def chasing() -> taut.Scene:
    """Beside a rod, with drag: velocity across the line to a driven point is given as a function of time."""
    scene = taut.Scene(name="chasing", gravity=(1, -1, 0.5))
    p = scene.particle((0.5, 0, 0.2), velocity=(0.3, 0, 0.7), name="p")
    q = scene.particle((0, 1, 0), velocity=(0.5, 0, 0.4), mass=2.0, name="q")
    hare = scene.particle(path=("2 + sin(t)", 0, "0.3*t**2"), name="hare")
    scene.distance(p, q, name="rod")
    scene.on_plane(p, normal=(0, 1, 0), name="ground")
    scene.custom(p, hare, name="chase", velocity="(p.vx - hare.vx)*(p.z - hare.z) - (p.vz - hare.vz)*(p.x - hare.x)"
                 " + 0.2*sin(3*t)")  # fmt: skip
    scene.drag(coefficient=0.1)
    return scene


def rolling() -> taut.Scene:
    """A leaning disc on a turntable: rotations, gyroscopic terms, a plane that is driven."""
    scene = taut.Scene(name="rolling")
    table = scene.rigid((0.3, 0, 0.1), rotation=((0, 1, 0), "0.8*t + 0.3*sin(t)"), name="table")
    lowest = 0.5 * np.array([0, -cos(0.2), sin(0.2)])
    axle = np.array([0, sin(0.2), cos(0.2)])
    disc = scene.rigid(-lowest, mass=1.0, inertia=(1 / 16, 1 / 16, 1 / 8), orientation=("x", -0.2),
                       angular_velocity=-4 * axle + (0, 0.5, 0), velocity=(1.6, 0.0, 0.3), name="disc")
    scene.rolling(disc, table, axis=axle, radius=0.5, name="ground")
    return scene


SCENES = {"skating": skating, "chasing": chasing, "rolling": rolling}


@pytest.fixture(scope="module")
def errors(simulate):
    """errors(scene, method): by step, largest errors of position, of Φ̇ and A v + b, and of energy."""

    @cache
    def reference(scene):
        return simulate(SCENES[scene](), "reference", 1 / INTERVALS, 1.0, tolerance=1e-13)

    @cache
    def measure(scene: str, name: str) -> tuple[np.ndarray, np.ndarray]:
        steps = np.array([40, 80, 160] if METHODS[name].order > 2 else [320, 640, 1280])
        exact, found = reference(scene), []
        for n in steps:
            run = simulate(SCENES[scene](), name, 1 / n, 1.0)
            each = n // INTERVALS
            apart = np.abs(run.data.position.values[::each] - exact.data.position.values).max()
            turned = np.abs(run.records.quat[::each] - exact.records.quat).max(initial=0.0)
            found.append([max(apart, turned), np.abs(run.records.rate).max(), np.abs(run.data.energy_drift).max()])
        return 1 / steps, np.array(found).T

    return measure


@pytest.mark.filterwarnings("ignore:the initial velocity")
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("name", STEPPING)
def test_orders_are_as_declared_under_conditions_on_velocities(name, scene, errors, slope):
    method = METHODS[name]
    reason = method.refusal(taut.build(SCENES[scene]()))
    if reason:
        pytest.skip(reason)
    h, (trajectory, rate, energy) = errors(scene, name)
    found = slope(h, trajectory)
    assert abs(found - method.order) < 0.2, f"trajectory: fitted order {found:.3f}, declared {method.order}"
    if method.order_velocity is None:
        assert rate.max() < 1e-12, f"A v + b is {rate.max():.3g}, to be held"
    elif rate.max() > 1e-12:
        assert (found := slope(h, rate)) > method.order_velocity - 0.2, f"A v + b falls with order {found:.3f}"
    if method.order_energy and energy.max() > 1e-12:
        assert (found := slope(h, energy)) > method.order_energy - 0.25, f"energy: order {found:.3f}, {energy} J"


@pytest.mark.parametrize("name", REFUSING)
def test_methods_that_hold_positions_only_refuse_by_name(name):
    with pytest.raises(taut.TautError, match=f"method '{name}'.*'blade'.*condition on velocities.*use rattle"):
        taut.simulate(skating(), name, 0.01, 0.1, progress=False)


@pytest.mark.parametrize("name", CONTACT_METHODS)
def test_a_condition_on_velocities_holds_through_an_impact(name, simulate):
    """A blade at 45° meets a wall at t = 1: half of the velocity comes back, along the blade."""
    scene = taut.Scene(gravity=(0, 0, 0))
    p = scene.particle((0, 0, 0), mass=2.0, velocity=(1, 0, 1), name="p")
    scene.custom(p, velocity="p.vx - p.vz", name="blade")
    scene.half_space(p, point=(1, 0, 0), normal=(-1, 0, 0), restitution=0.5, name="wall")
    run = simulate(scene, name, 0.01, 2.0)
    off = np.abs(run.records.x[-1, 0] - [0.5, 0, 0.5]).max()
    assert off < (1e-9 if METHODS[name].order > 1 else 0.02), f"off by {off:.3g} m after the impact"
    assert np.abs(run.records.v[-1, 0] - [-0.5, 0, -0.5]).max() < 1e-9, run.records.v[-1, 0]
    assert np.abs(run.data.constraint_rate.sel(constraint="blade")).max() < 1e-12
    assert abs(float(run.data.energy_impact[-1]) - 0.75 * 2.0) < 1e-9, "energy of both directions is taken"


def on_a_gutter() -> taut.Scene:
    """A bead in a parabolic gutter that may slide along it by a share of its speed that changes with time, with drag
    and after a driven hare: all terms of A and b."""
    scene = taut.Scene(name="gutter")
    p = scene.particle((1, 0, 0), mass=2.0, velocity=(0.3, 0.3, 0.2), name="p")
    hare = scene.particle(path=("2 + sin(t)", 0, "0.3*t**2"), name="hare")
    scene.custom(p, formula="p.y - (p.x**2 - 1)/2", name="gutter")
    scene.custom(p, hare, velocity="p.vz - sin(t)*(p.vx - 0.5*hare.vx) - 0.2*cos(3*t)*(1 + p.z*hare.z)", name="share")
    scene.drag(coefficient=0.3)
    scene.reduced({"u": (1.0, 0.3), "w": (0.0, 0.2)}, {p: ("u", "(u**2 - 1)/2", "w")})
    return scene


def skating_without_a_map() -> taut.Scene:
    scene = skating()
    scene.reduced_map = None
    return scene


def skate_on_a_rod() -> taut.Scene:
    """A pendulum in space whose bob has a blade: a tree of links, and a condition on velocities beside it."""
    scene = taut.Scene(name="skate on a rod")
    p = scene.particle((0.8, -0.6, 0), velocity=(0.3, 0.4, 0.4), name="p")
    scene.distance((0, 0, 0), p)
    scene.custom(p, velocity="p.vz - p.vx - p.x*p.vy/4", name="blade")
    return scene


@pytest.mark.parametrize("make", [on_a_gutter, skating, skating_without_a_map, skate_on_a_rod,
                                  lambda: taut.gallery("chaplygin_sleigh")],
                         ids=["gutter", "skating", "without a map", "rod", "sleigh"])  # fmt: skip
def test_reduced_coordinates_with_conditions_on_velocities_move_as_reference(make, simulate):
    ours, theirs = (simulate(make(), name, 0.1, 2.0, tolerance=1e-12).data for name in ("reduced", "reference"))
    for what in ("position", "velocity", "multiplier", "energy_kinetic", "energy_drift"):
        apart = float(np.abs(ours[what].values - theirs[what].values).max())
        assert apart < 1e-9, f"{what} is apart by {apart:.3g}"
    held = float(np.abs(ours.constraint_rate).max())
    assert held < 1e-12, f"A v + b is {held:.3g}"


def test_rates_that_break_a_condition_are_told_and_made_consistent():
    scene = skating()
    scene.reduced({"x": 0.0, "z": (0.0, 0.5), "heading": (0.0, 2.0)}, {"p": ("x", "0", "z")})
    with pytest.warns(taut.TautWarning, match="rates of scene.reduced break constraint 'blade' at a rate of -0.5"):
        run = taut.simulate(scene, "reduced", 0.1, 0.2, progress=False)
    assert np.abs(run.records.rate).max() < 1e-12


def test_cloth_refuses_conditions_on_velocities_beside_it():
    scene = taut.gallery("cloth_hang", n=4)
    scene.custom(scene.particle((3, 0, 0), name="p"), velocity="p.vx", name="blade")
    with pytest.raises(taut.TautError, match="method 'implicit_first'.*'blade'.*beside cloth"):
        taut.simulate(scene, "implicit_first", 0.01, 0.1, progress=False)


@pytest.mark.parametrize("way", ["heading of its own", "heading driven"])
def test_a_skate_on_a_slope_follows_its_closed_form(way, simulate):
    """x = (g sin a/2w²) sin² wt, z = (g sin a/2w²)(wt - sin(2wt)/2), |λ| = 2 m g sin a |sin wt|."""
    if way == "heading driven":
        scene = taut.Scene(gravity=(9.81 / 2, 0, 0))
        p, heading = scene.particle((0, 0, 0), name="p"), scene.coordinate(path="2*t", name="heading")
        scene.custom(p, heading, velocity="p.vx*sin(heading) - p.vz*cos(heading)", name="blade")
    else:
        scene = skating()
    run = simulate(scene, "reference", 0.5, 5.0)
    t, a = run.records.time, 9.81 / 2 / 8
    expected = np.array([a * np.sin(2 * t) ** 2, 0 * t, a * (2 * t - np.sin(4 * t) / 2)]).T
    apart = np.abs(run.data.position.sel(body="p").values - expected).max()
    assert apart < 1e-10, f"off by {apart:.3g} m"
    force = np.abs(np.abs(run["blade"].multiplier.values) - 9.81 * np.abs(np.sin(2 * t))).max()
    assert force < 1e-9, f"λ is off by {force:.3g} N"
    assert np.abs(run.data.energy_drift).max() < 1e-10, f"energy drifts by {np.abs(run.data.energy_drift).max():.3g} J"


def test_a_start_that_breaks_a_condition_on_velocities_is_projected_and_told():
    scene = taut.Scene(gravity=(0, 0, 0))
    scene.custom(scene.particle((0, 0, 0), velocity=(1, 0, 1), name="p"), velocity="p.vx - 2*p.vz - 1", name="blade")
    with pytest.warns(taut.TautWarning, match="initial velocity breaks constraint 'blade'"):
        run = taut.simulate(scene, "rattle", 0.1, 1.0, progress=False)
    # The nearest velocity in the metric of the mass, kept for ever, since no force acts along it.
    assert np.allclose(run.data.velocity[:, 0], [1.4, 0, 0.2], atol=1e-14), run.data.velocity[:, 0].values
    assert np.abs(run.data.constraint_rate).max() < 1e-14
    assert not run.data.constraint_error.any() and run.data.level.values.tolist() == ["velocity"]


def test_conditions_on_velocities_do_not_bind_the_repair_of_positions():
    """A start 0.3 m off its plane is moved onto it, though its velocity may not go there."""
    scene = taut.Scene(gravity=(0, 0, 0))
    p = scene.particle((0, 0.3, 0), velocity=(1, 0, 0), name="p")
    scene.on_plane(p, point=(0, 0, 0), normal=(0, 1, 0))
    scene.custom(p, velocity="p.vy + p.vz", name="blade")
    with pytest.warns(taut.TautWarning, match="bodies were moved by up to 0.3 m"):
        run = taut.simulate(scene, "rattle", 0.1, 1.0, start="repair", progress=False)
    off = np.abs(run.records.x[:, 0] - run.records.time[:, None] * [1, 0, 0]).max()
    assert off < 1e-13, f"off by {off:.3g} m"


def test_redundant_and_contradicting_conditions_on_velocities_are_named():
    for text, words in (("2*p.vx - 2", "redundant"), ("p.vx - 2", "contradict each other")):
        scene = taut.Scene(gravity=(0, 0, 0))
        p = scene.particle((0, 0, 0), velocity=(1, 0, 0), name="p")
        scene.custom(p, velocity="p.vx - 1", name="one")
        scene.custom(p, velocity=text, name="two")
        with pytest.warns(taut.TautWarning) as told:
            taut.simulate(scene, "implicit_second", 0.1, 1.0, progress=False)
        found = [str(one.message) for one in told if words in str(one.message)]
        assert len(found) == 1 and "one" in found[0] and "two" in found[0], [str(one.message) for one in told]


def test_a_stored_run_keeps_the_level_of_its_rows(tmp_path, simulate):
    whole = simulate(chasing(), "implicit_second", 0.01, 0.2)
    simulate(chasing(), "implicit_second", 0.01, 0.2, out=tmp_path / "run")
    opened = taut.open(tmp_path / "run")
    assert opened.data.equals(whole.data), "records differ"
    assert opened.data.level.sel(constraint=["rod", "ground", "chase"]).values.tolist() == [
        "position", "position", "velocity"
    ]  # fmt: skip


MISTAKES = {
    "p.vx**2": "is not linear in velocities",
    "sin(p.vx)": "is not linear in velocities",
    "p.vx*p.vz": "is not linear in velocities",
    "1/p.vx": "is not linear in velocities",
    "p.x - 1": "names no velocity",
    "p.vw": "unknown symbol",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_formula_that_is_no_condition_on_velocities_is_refused(text):
    scene = taut.Scene()
    with pytest.raises(taut.TautError, match=MISTAKES[text]):
        scene.custom(scene.particle((0, 0, 0), name="p"), velocity=text)


def test_a_function_that_is_not_linear_in_velocities_is_refused():
    scene = taut.Scene()
    scene.custom(scene.particle((0, 0, 0)), velocity_function=lambda q, v, t: v[0, 0] * v[0, 1])
    with pytest.raises(taut.TautError, match="is not linear in the velocities"):
        taut.build(scene)


def test_a_condition_on_velocities_has_no_sense_and_one_way_of_being_said():
    scene = taut.Scene()
    p = scene.particle((0, 0, 0), name="p")
    with pytest.raises(taut.TautError, match="sense is '>=', but it is a condition on velocities"):
        scene.custom(p, velocity="p.vx", sense=">=")
    with pytest.raises(taut.TautError, match="it has formula and velocity"):
        scene.custom(p, velocity="p.vx", formula="p.x")


@pytest.mark.parametrize("dt", [0.004, 0.001])
def test_the_multiplier_of_a_skate_is_right_from_the_first_step_on(dt):
    """A condition that is met at the start of a step asks for no force there, but does at its end."""
    scene = taut.Scene(gravity=(0, 0, 0))
    sled = scene.rigid((0.4, 0, 0), mass=2.0, inertia=0.3, planar=True, velocity=(1, 0.6, 0),
                       angular_velocity=(0, 0, 1.5))  # fmt: skip
    scene.skate(sled.at((-0.4, 0, 0)), direction=(1, 0, 0), normal=(0, 0, 1), name="k")
    run = taut.simulate(scene, method="implicit_first", dt=dt, duration=5 * dt, progress=False)
    exact = taut.simulate(scene, method="reference", dt=dt, duration=5 * dt, progress=False)
    off = np.abs(run["k"].multiplier.values - exact["k"].multiplier.values).max()
    assert off < 3.0 * dt, f"off by {off:.3g} N, dt = {dt:g}: {run['k'].multiplier.values}"
