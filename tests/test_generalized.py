"""Generalized coordinates: choose q, write T, define Q, and get the motion; rigid bodies turn by angles among them."""

from __future__ import annotations

from dataclasses import replace
from math import cos, sin

import numpy as np
import pytest

import taut
from taut import Scene, TautError

FINE = {"dt": 0.05, "tolerance": 1e-12, "duration": 1.0, "progress": False}
M, L, G = 2.0, 1.5, 9.81


def pendulum_by_energy(**kinetic) -> Scene:
    """T and Q of a pendulum, and no body at all."""
    scene = Scene(name="by energy")
    theta = scene.coordinate(0.8, rate=0.5, inertia=0.0, name="theta")
    scene.reduced([theta], **{"kinetic": f"{M * L * L}*theta.v**2/2", **kinetic})
    scene.custom_force(theta, formula=(f"-{M * G * L}*sin(theta)", "0", "0"))
    return scene


def pendulum_of_bodies() -> Scene:
    scene = Scene()
    bob = scene.particle((L * sin(0.8), -L * cos(0.8), 0), mass=M, name="bob",
                         velocity=(0.5 * L * cos(0.8), 0.5 * L * sin(0.8), 0))
    scene.distance((0, 0, 0), bob)
    return scene


def test_t_and_q_of_a_pendulum_give_the_motion_of_its_bob():
    ours = taut.simulate(pendulum_by_energy(), method="reduced", **FINE).data
    theirs = taut.simulate(pendulum_of_bodies(), method="reference", **FINE).data
    theta = ours.coordinate_value.sel(coordinate="theta").values
    assert np.abs(L * np.sin(theta) - theirs.position.values[:, 0, 0]).max() < 1e-9
    speed = np.linalg.norm(theirs.velocity.values[:, 0], axis=1)
    assert np.abs(np.abs(L * ours.coordinate_rate.values[:, 0]) - speed).max() < 1e-9
    assert np.abs(ours.energy_kinetic.values - theirs.energy_kinetic.values).max() < 1e-8
    assert np.abs(ours.energy_drift.values).max() < 1e-9, "the work of Q is what T gains"


def test_q_may_name_coordinates_and_rates():
    """m q̈ = -k q - c q̇ by T and Q alone: the damped oscillation of its closed form."""
    m, k, c, start = 2.0, 50.0, 1.2, 0.3
    scene = Scene()
    q = scene.coordinate(start, inertia=0.0, name="q")
    scene.reduced([q], kinetic=f"{m}*q.v**2/2")
    scene.custom_force(q, formula=(f"-{k}*q - {c}*q.v", "0", "0"))
    data = taut.simulate(scene, method="reduced", **FINE).data
    decay, t = c / (2 * m), data.time.values
    omega = np.sqrt(k / m - decay**2)
    exact = start * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    error = np.abs(data.coordinate_value.values[:, 0] - exact).max()
    assert error < 1e-9, f"off by {error}"


def test_t_may_couple_rates_depend_on_q_and_on_time():
    """A bead on a rod that turns as a given function of time, on a cart that is free: T has all kinds of terms."""
    scene = Scene(gravity=(0, 0, 0))
    s = scene.coordinate(0.5, rate=0.1, inertia=0.0, name="s")
    u = scene.coordinate(0.0, rate=0.2, inertia=0.0, name="u")
    angle, rate = "(0.3*t**2)", "(0.6*t)"
    along = f"(u.v + s.v*cos{angle} - s*sin{angle}*{rate})"
    across = f"(s.v*sin{angle} + s*cos{angle}*{rate})"
    scene.reduced([s, u], kinetic=f"1.5*({along}**2 + {across}**2) + 2*u.v**2")
    ours = taut.simulate(scene, method="reduced", **FINE).data
    other = Scene(gravity=(0, 0, 0))
    bead = other.particle((0.5, 0, 0), mass=3.0, velocity=(0.3, 0, 0), name="bead")
    cart = other.particle((0, 0, 0), mass=4.0, velocity=(0.2, 0, 0), name="cart")
    other.reduced({"s": (0.5, 0.1), "u": (0, 0.2)},
                  {bead: (f"u + s*cos{angle}", f"s*sin{angle}", "0"), cart: ("u", "0", "0")})
    theirs = taut.simulate(other, method="reduced", **FINE).data
    assert np.abs(ours.coordinate_value.sel(coordinate="u").values - theirs.position.values[:, 1, 0]).max() < 1e-10
    assert np.abs(ours.energy_kinetic.values - theirs.energy_kinetic.values).max() < 1e-9


def test_a_rigid_body_turned_by_angles_moves_as_its_joint_says():
    scene = taut.gallery("heavy_top")
    short = {**FINE, "dt": 0.01, "duration": 0.3}
    ours = taut.simulate(scene, method="reduced", **short).data
    theirs = taut.simulate(scene, method="reference", **short).data
    for what, allowed in (("position", 1e-9), ("angular_velocity", 1e-7), ("multiplier", 1e-5)):
        assert np.abs(ours[what].values - theirs[what].values).max() < allowed, what
    aligned = np.abs((ours.orientation.values * theirs.orientation.values).sum(-1))
    assert np.abs(aligned - 1.0).max() < 1e-9
    assert np.abs(ours.constraint_error.values).max() < 1e-13


def test_two_turns_about_moving_axes_are_those_of_a_universal_joint():
    """Gyroscopic terms, a mass matrix without zeros, and principal axes that are not the body's."""
    scene = Scene()
    inertia = ((0.3, 0.05, 0.0), (0.05, 0.2, 0.02), (0.0, 0.02, 0.4))
    body = scene.rigid((0.5, 0, 0), mass=1.3, inertia=inertia, velocity=(0, 1.0, 1.5), angular_velocity=(0, -3, 2),
                       name="body")
    scene.universal(body.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 1, 0), axis_2=(0, 0, 1), name="cross")
    scene.reduced({"a": (0.0, 2.0), "b": (0.0, -3.0)},
                  {body: ("0.5*cos(a)*cos(b)", "0.5*sin(a)*cos(b)", "-0.5*sin(b)")},
                  turns={body: [("z", "a"), ("y", "b")]})
    ours = taut.simulate(scene, method="reduced", **FINE).data
    theirs = taut.simulate(scene, method="reference", **FINE).data
    assert np.abs(ours.energy_drift.values).max() < 1e-9
    for what, allowed in (("position", 1e-9), ("angular_velocity", 1e-8), ("multiplier", 1e-6)):
        assert np.abs(ours[what].values - theirs[what].values).max() < allowed, what


def test_the_step_has_the_order_that_it_declares(slope):
    fine = taut.simulate(pendulum_by_energy(), method="reduced", **FINE).data.coordinate_value.values[-1, 0]
    steps = np.array([0.1, 0.05, 0.025])
    found = [taut.simulate(pendulum_by_energy(), method="reduced", dt=h, duration=1.0, progress=False) for h in steps]
    errors = [abs(run.data.coordinate_value.values[-1, 0] - fine) for run in found]
    assert abs(slope(steps, errors) - 4) < 0.3, errors


@pytest.mark.parametrize("make", [pendulum_by_energy, lambda: taut.gallery("heavy_top")], ids=["kinetic", "turns"])
def test_a_scene_file_carries_them(make, tmp_path):
    scene = make()
    scene.save(tmp_path / "scene.yaml")
    assert taut.load(tmp_path / "scene.yaml").reduced_map == scene.reduced_map


def moved_in_time(what: str) -> Scene:
    """What puts energy in: a turning rod, a shaken body, a turning hoop, a mass that changes."""
    scene = Scene()
    if what == "map":
        scene.reduced({"r": (0.5, 0.0)}, {scene.particle((0.5, 0, 0), mass=2.0): ("r*cos(t**2)", "r*sin(t**2)", "0")})
    elif what == "turns":
        body = scene.rigid((0, 0, 0), mass=1.0, inertia=(0.1, 0.2, 0.3), orientation=((0, 0, 1), 0.4), name="body")
        scene.reduced({"q": (0.4, 0.0)}, {body: ("0", "0.1*sin(t)", "q*t")},
                      turns={"body": [("y", "2*t + t**2"), ("z", "q")]})
    else:
        theta = scene.coordinate(0.4, inertia=0, name="theta")
        scene.reduced([theta], kinetic=what)
        scene.custom_force(theta, formula=("-9.81*sin(theta)", "0", "0"))
    return scene


@pytest.mark.parametrize("what", ["map", "turns", "theta.v**2/2 + 9*sin(theta)**2/2",
                                  "(1 + sin(3*t)/2)*theta.v**2/2 + 0.3*theta*theta.v"])
def test_what_moves_in_time_does_the_work_that_energy_gains(what, slope):
    steps = np.array([0.04, 0.02, 0.01])
    runs = [taut.simulate(moved_in_time(what), method="reduced", dt=h, duration=1.2, progress=False).data
            for h in steps]
    work = max(float(np.ptp(run.energy_driver_work.values)) for run in runs)
    drift = [abs(run.energy_drift.values).max() for run in runs]
    assert abs(slope(steps, drift) - 4) < 0.5 and drift[-1] < 1e-5 * work, f"drift {drift} J, work {work} J"


def with_bob(**options) -> Scene:
    scene = pendulum_by_energy()
    bob = scene.particle((L * sin(0.8), -L * cos(0.8), 0), mass=M, name="bob")
    scene.reduced(["theta"], {bob: (f"{L}*sin(theta)", f"-{L}*cos(theta)", "0")}, **options)
    return scene


def turned_wrongly() -> Scene:
    scene = taut.gallery("heavy_top")
    known = scene.reduced_map
    scene.reduced({name: (value, rate) for name, value, rate in known.coordinates}, known.positions,
                  turns={"top": [("y", "phi"), ("z", "theta"), ("y", "psi")]})
    return scene


def at_the_start_of(formula: str) -> Scene:
    scene = Scene()
    bob = scene.particle((0, 0, 0), name="bob")
    scene.reduced({"q": (0.0, 1.0)}, {bob: (formula, "0", "0")})
    return scene


@pytest.mark.parametrize("method, make, words", [
    ("reduced", lambda: at_the_start_of("sqrt(q)"), r"singular at t = 0.*'bob' by 'q' is not finite; start elsewhere"),
    ("reduced", lambda: at_the_start_of("q**1.5"), r"singular at t = 0.*'bob' of second order"),
    ("reduced", lambda: at_the_start_of("1/q"), r"puts 'bob' at \(inf, 0, 0\).*change the coordinates"),
    ("reduced", lambda: at_the_start_of("q**2"), r"not independent at t = 0: 'q' moves nothing.*start elsewhere"),
    ("reduced", lambda: pendulum_by_energy(kinetic="theta.v**4"), r"not quadratic in the rates.*theta\.v"),
    ("reduced", lambda: pendulum_by_energy(kinetic="theta.v"), r"not quadratic in the rates: no product.*custom_force"),
    ("reduced", lambda: with_bob(kinetic="3*theta.v*cos(theta)"), r"not quadratic in the rates: no product"),
    ("reduced", lambda: with_bob(kinetic="7 - theta"), r"not quadratic in the rates: no product"),
    ("reduced", lambda: pendulum_by_energy(kinetic="-theta.v**2"), r"not positive at t = 0.*'theta'"),
    ("reduced", lambda: pendulum_by_energy(kinetic="cos(thta)*theta.v**2"), r"kinetic of scene.reduced.*thta"),
    ("reduced", lambda: with_bob(kinetic=f"{M * L * L}*theta.v**2/2"), r"counted by itself; leave kinetic out"),
    ("reduced", lambda: pendulum_by_energy(kinetic="theta.v**2/2 - 9.81*(1 - cos(theta))"),
     r"kinetic of scene.reduced is -\S+ J.*Leave potentials out"),
    ("rattle", pendulum_by_energy, r"'theta' has no inertia of its own.*use reduced"),
    ("reduced", turned_wrongly, r"do not give 'top' the orientation"),
    ("reduced", lambda: with_bob(turns={"bob": [("z", "theta")]}), r"turns are given for 'bob', a particle"),
])  # fmt: skip
def test_mistakes_are_named(method, make, words):
    with pytest.raises(TautError, match=words):
        taut.simulate(make(), method=method, dt=0.01, duration=0.02, progress=False)


def by_dictionary() -> Scene:
    scene = Scene(name="by dictionary")
    bob = scene.particle((L * sin(0.8), -L * cos(0.8), 0), mass=M, name="bob")
    scene.reduced({"theta": (0.8, 0.5)}, {bob: (f"{L}*sin(theta)", f"-{L}*cos(theta)", "0")})
    return scene


def test_coordinates_of_a_dictionary_are_in_the_data():
    """q(t), q̇(t) of a map x(q) are those that the scene's own coordinate has for the same T and Q."""
    run = taut.simulate(by_dictionary(), method="reduced", **FINE)
    other = taut.simulate(pendulum_by_energy(), method="reduced", **FINE).data
    for what in ("coordinate_value", "coordinate_rate"):
        assert run.data[what].sel(coordinate="theta").dims == ("time",)
        assert np.abs(run.data[what].values - other[what].values).max() < 1e-10, what
    theta, rate = run["theta"].value.values, run["theta"].rate.values
    x, v = run.data.position.values[:, 0], run.data.velocity.values[:, 0]
    assert np.abs(L * np.sin(theta) - x[:, 0]).max() < 1e-15
    assert np.abs(L * np.cos(theta) * rate - v[:, 0]).max() < 1e-14
    assert run.data.coordinate_value.attrs["units"] == "the coordinate's own"


def test_they_are_stored_and_opened_bit_for_bit(tmp_path):
    """tests/test_resume.py has the resumed run, of heavy_top."""
    run = taut.simulate(by_dictionary(), method="reduced", dt=0.01, duration=0.2, out=tmp_path / "run", progress=False)
    for lazy in (False, True):
        stored = taut.open(tmp_path / "run", lazy=lazy)
        assert (stored["theta"].value.values == run["theta"].value.values).all()
        for what in ("coordinate_value", "coordinate_rate"):
            assert stored.data[what].equals(run.data[what]), what


def test_a_run_stored_without_them_is_opened_and_goes_on(tmp_path):
    """Versions before kept none: what they recorded has no q, which is not a number then."""
    from taut.result.records import Records
    from taut.simulation.run import _with_coordinates

    run = taut.simulate(by_dictionary(), method="reduced", dt=0.01, duration=0.05, progress=False)
    arrays = {name: values for name, values in run.records.as_dict().items() if name != "coordinates"}
    old = taut.Run(run.scene, run.model, Records(**arrays), "finished", "", run.info)
    old.labels = replace(old.labels, coordinates=())
    assert "coordinate_value" not in old.data and "theta" not in old.labels.scalars(old.records)
    whole = Records.concatenate([_with_coordinates(old.records, run.model), run.records])
    assert np.isnan(whole.coordinates).sum() == old.records.time.size * 2


def test_no_other_method_claims_to_know_them():
    scene = by_dictionary()
    scene.distance((0, 0, 0), "bob")
    data = taut.simulate(scene, method="rattle", dt=0.01, duration=0.02, progress=False).data
    assert "coordinate_value" not in data and "coordinate" not in data.dims


def test_impacts_change_their_rates():
    """A stop at theta = 0 turns the rate at the located event; q(t) follows it."""
    scene = by_dictionary()
    scene.half_space("bob", point=(0, 0, 0), normal=(1, 0, 0), restitution=1.0)
    run = taut.simulate(scene, method="reduced", dt=0.01, duration=2.0, progress=False)
    assert (run.data.coordinate_value.values > -1e-9).all() and "impact" in run.event_counts()
    assert run.data.coordinate_rate.values.min() < -1 and run.data.coordinate_rate.values.max() > 1
