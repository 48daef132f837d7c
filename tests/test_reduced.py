"""Reduced coordinates: the same motion as `reference`, with constraints that can not drift."""

from __future__ import annotations

import json
from math import pi
from pathlib import Path

import numpy as np
import pytest

from taut import Scene, TautError, gallery, simulate
from taut.errors import TautWarning
from taut.simulation.run import resume

FINE = {"dt": 0.05, "tolerance": 1e-12}
REFERENCE = Path(__file__).parent / "reference"


def without_formulas(scene: Scene) -> Scene:
    """The same scene, so that its coordinates are found automatically."""
    scene.reduced_map = None
    return scene


def spatial_chain() -> Scene:
    scene = Scene()
    last = scene.particle((0, 0, 0), fixed=True)
    for i, velocity in enumerate(((0, 0, 1.0), (0, 0, -0.5), (0, 1.0, 2.0)), start=1):
        node = scene.particle((0.8 * i, 0, 0), mass=1.0 + 0.5 * i, velocity=velocity)
        scene.distance(last, node)
        last = node
    return scene


def branching_tree() -> Scene:
    """Two anchors, one of them driven in space; three links hang from one node, joined by a spring."""
    scene = Scene()
    anchor = scene.particle(path=("0.2*sin(2*t)", "0.1*cos(3*t)", "0.1*t"), name="anchor")
    hub = scene.particle((0, -0.9, 0), velocity=(0.4, 0, 0.1), name="hub")
    scene.distance(hub, anchor)
    places = {(0.5, -1.4, 0): 0.5, (-0.5, -1.3, 0.3): 2.0, (0, -1.0, 1.0): 1.0}
    tips = [scene.particle(place, mass=mass) for place, mass in places.items()]
    for tip in tips:
        scene.distance(hub, tip)
    apart = scene.particle((2, 0, 0), name="apart")
    scene.distance((3, 0, 0), apart)
    scene.spring(tips[0], tips[1], stiffness=20, damping=0.3)
    scene.force(tips[2], value=("sin(t)", 0, 0.5))
    scene.drag(coefficient=0.05)
    return scene


def gear_and_rack() -> Scene:
    scene = Scene()
    wheel = scene.coordinate(0.0, inertia=0.4, rate=3.0, name="wheel")
    pinion = scene.coordinate(1.0, inertia=0.1, rate=-6.0, name="pinion")
    scene.linear(wheel, pinion, coefficients=(2, 1), name="gear")
    scene.spring(scene.particle((0, 0, 0), fixed=True), scene.particle((1.5, 0, 0)), stiffness=3)
    return scene


def moving_guides() -> Scene:
    """Linear constraints of every kind that has reduced coordinates, most of them moving."""
    scene = Scene()
    slider = scene.particle((0, 0.2, 0), mass=2.0, velocity=(0.3, 0, 0), name="slider")
    scene.on_line(slider, point=(0, "0.2*cos(3*t)", 0), direction=(1, 0.5, 0), name="line")
    puck = scene.particle((1, 0, 0), mass=0.5, velocity=(0, 0, 0.5), name="puck")
    scene.on_plane(puck, point=(1, "0.1*sin(4*t)", 0), normal=(0.2, 1, 0), name="plane")
    second = scene.particle((1, 0, 2), name="second")
    scene.on_plane(second, point=(1, 0, "2 + 0.1*sin(4*t)"), normal=(0.2, 1, 1), name="second plane")
    held = scene.particle((2, 0, 0), name="held")
    scene.fixed_point(held, place=("2 + 0.1*sin(t)", 0, "0.1*t"), name="hold")
    lead = scene.particle(path=("0.3*sin(2*t)", 1, 0), name="lead")
    follower = scene.particle((0, 2, 0), name="follower")
    scene.linear(lead, follower, coefficients=(1, 0, 0, -2, 1, 0), constant="0.2*sin(t) - 2", name="follow")
    scene.spring(slider, puck, stiffness=5)
    scene.spring(puck, follower, stiffness=4, damping=0.2)
    return scene


SAME_AS_REFERENCE = {
    "two links by formulas": lambda: gallery("chain", n=2),
    "two links": lambda: without_formulas(gallery("chain", n=2)),
    "five links": lambda: without_formulas(gallery("chain", n=5, angle=pi / 12)),
    "five links by formulas": lambda: gallery("chain", n=5, angle=pi / 12),
    "spherical pendulum": lambda: without_formulas(gallery("spherical_pendulum")),
    "spherical pendulum by formulas": lambda: gallery("spherical_pendulum"),
    "chain in space": spatial_chain,
    "tree with a driven anchor": branching_tree,
    "driven anchor": lambda: without_formulas(gallery("driven_anchor")),
    "driven anchor by formulas": lambda: gallery("driven_anchor"),
    "rotating hoop": lambda: gallery("bead_on_hoop"),
    "slider on a line": lambda: gallery("slider_on_line"),
    "gear": gear_and_rack,
    "moving guides": moving_guides,
}


@pytest.mark.filterwarnings("ignore::taut.errors.TautWarning")
@pytest.mark.parametrize("name", SAME_AS_REFERENCE)
def test_motion_and_multipliers_equal_the_reference(name):
    scene = SAME_AS_REFERENCE[name]()
    ours = simulate(scene, method="reduced", duration=1.0, **FINE).data
    theirs = simulate(scene, method="reference", duration=1.0, **FINE).data
    for what, allowed in (("position", 1e-9), ("velocity", 1e-8), ("multiplier", 1e-6)):
        off = np.abs(ours[what].values - theirs[what].values).max()
        assert off < allowed, f"{what} differs by {off:.2g}"


@pytest.mark.filterwarnings("ignore::taut.errors.TautWarning")
@pytest.mark.parametrize("name", SAME_AS_REFERENCE)
def test_no_constraint_drifts(name):
    data = simulate(SAME_AS_REFERENCE[name](), method="reduced", dt=0.02, duration=4.0).data
    worst = np.abs(data.constraint_error.values).max()
    assert worst < 1e-14 * max(1.0, np.abs(data.position.values).max()) * 4, f"Φ reaches {worst:.2g}"
    rate = np.abs(data.constraint_rate.values).max()
    assert rate < 1e-13 * max(1.0, np.abs(data.velocity.values).max()), f"Φ̇ reaches {rate:.2g}"


def test_found_coordinates_and_formulas_give_the_same_motion():
    given = simulate(gallery("pendulum"), method="reduced", duration=3.0, **FINE).data.position.values
    found = simulate(without_formulas(gallery("pendulum")), method="reduced", duration=3.0, **FINE)
    off = np.abs(given - found.data.position.values).max()
    assert off < 1e-10, f"they differ by {off:.2g} m"


def test_a_bob_passes_both_poles():
    """Fast enough to go over the top; the bottom is the pole of its start, the top the other one."""
    scene = without_formulas(gallery("spherical_pendulum", angle=0.0, speed=8.0))
    data = simulate(scene, method="reduced", duration=4.0, **FINE).data
    y = data.position.sel(body="bob", xyz="y").values
    assert y.max() > 0.9, f"it only rises to {y.max():.3f} m"
    aside = np.abs(data.position.sel(body="bob", xyz="x").values).max()
    assert aside < 1e-12, f"it leaves its plane by {aside:.2g} m"
    energy = data.energy_total.values
    assert np.ptp(energy) < 1e-9, f"the energy changes by {np.ptp(energy):.2g} J"


@pytest.mark.parametrize("name", ["two links", "two links by formulas", "chain in space", "gear"])
def test_error_falls_with_the_fourth_power_of_the_step(name):
    scene = SAME_AS_REFERENCE[name]()
    exact = simulate(scene, method="reduced", dt=0.1, duration=1.0, tolerance=1e-13).data.position.values[-1]
    steps = np.array([0.008, 0.004, 0.002])
    errors = [
        np.abs(simulate(scene, method="reduced", dt=dt, duration=1.0).data.position.values[-1] - exact).max()
        for dt in steps
    ]
    order = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert 3.85 < order < 4.15, f"fitted order {order:.2f}, errors {errors}"


def test_a_free_body_and_a_held_one_follow_the_closed_form():
    """No freedom lost, and none left: x = v t + g t²/2, and a place held twice over."""
    scene = Scene()
    scene.particle((0, 1, 0), velocity=(1, 2, 3), mass=0.3, name="thrown")
    held = scene.particle((0, 0, 1), name="held")
    for name in ("hold", "again"):
        scene.fixed_point(held, place=(0, "sin(t)", 1), name=name)
    with pytest.warns(TautWarning):  # one is redundant, and the start is not at the place's speed
        data = simulate(scene, method="reduced", dt=0.1, duration=2.0).data
    t = data.time.values[:, None]
    thrown = np.array([0, 1, 0]) + np.array([1, 2, 3]) * t + 0.5 * np.array([0, -9.81, 0]) * t**2
    off = np.abs(data.position.sel(body="thrown").values - thrown).max()
    assert off < 1e-13, f"off by {off:.2g} m"
    off = np.abs(data.position.sel(body="held", xyz="y").values - np.sin(t[:, 0])).max()
    assert off < 1e-14, f"off by {off:.2g} m"


def test_the_work_of_drivers_is_the_gain_of_energy():
    scene = without_formulas(gallery("driven_anchor"))
    data = simulate(scene, method="reduced", dt=0.001, duration=2.0, tolerance=1e-10).data
    gain = np.ptp(data.energy_total.values)
    off = np.abs(data.energy_total - data.energy_total[0] - data.energy_driver_work).values.max()
    assert off < 1e-4 * gain, f"off by {off:.2g} J of {gain:.2g} J"


def test_energy_is_kept_within_the_tolerance():
    data = simulate(gallery("five_link"), method="reduced", dt=0.1, duration=10.0, tolerance=1e-12).data
    energy = data.energy_total.values
    scale = data.energy_kinetic.values.max()
    assert np.ptp(energy) < 1e-9 * scale, f"it changes by {np.ptp(energy) / scale:.2g} of the kinetic energy"


def test_a_long_chain_costs_in_proportion_to_its_length():
    """No matrix of all coordinates: a hundred links in space, and their Φ stays at rounding."""
    scene = without_formulas(gallery("chain", n=100, angle=pi / 3))
    scene.force("node_50", value=(0, 0, 1))
    run = simulate(scene, method="reduced", dt=0.001, duration=0.5)
    assert run.status == "finished", run.message
    worst = np.abs(run.data.constraint_error.values).max()
    assert worst < 1e-13, f"Φ reaches {worst:.2g}"


def test_resumed_bits_equal_those_of_one_run(tmp_path, monkeypatch):
    import taut.simulation.session as run_module

    scene = spatial_chain()
    kind = {"method": "reduced", "dt": 0.02, "duration": 1.0, "tolerance": 1e-10}
    whole = simulate(scene, out=tmp_path / "whole", **kind)
    keep = run_module.Session._keep

    def stop_early(session, buffers, rows):
        keep(session, buffers, rows)
        if session.done >= 10:
            raise KeyboardInterrupt

    monkeypatch.setattr(run_module.Session, "_keep", stop_early)
    part = simulate(scene, out=tmp_path / "part", **kind)
    monkeypatch.setattr(run_module.Session, "_keep", keep)
    assert part.status == "interrupted"
    again = resume(tmp_path / "part")
    assert len(part.data.time) < len(again.data.time) == len(whole.data.time)
    assert np.array_equal(again.data.position.values, whole.data.position.values)
    assert np.array_equal(again.data.multiplier.values, whole.data.multiplier.values)


def closed_loop(scene):
    a, b = scene.particle((1, 0, 0), name="a"), scene.particle((1, 1, 0), name="b")
    scene.distance((0, 0, 0), a)
    scene.distance(a, b)
    scene.distance((0, 1, 0), b)


def mixed(scene):
    a = scene.particle((1, 0, 0), name="a")
    scene.on_line(a, direction=(1, 0, 0), name="rail")
    scene.distance(a, scene.particle((1, -1, 0)), name="rod")


def adrift(scene):
    scene.distance(scene.particle((1, 0, 0), name="lost"), scene.particle((2, 0, 0)))


def uncovered(scene):
    scene.particle((1, 0, 0), name="seen")
    scene.particle((2, 0, 0), name="forgotten")
    scene.reduced({"q": 1.0}, {"seen": ("q", "0", "0")})


REFUSED = {
    "loop": (closed_loop, "closes a loop; give scene.reduced"),
    "mixed": (mixed, "'rail' of kind on_line has no reduced coordinates"),
    "adrift": (adrift, "'lost' hangs from no fixed or driven anchor"),
    "sphere": (
        lambda s: s.on_sphere(s.particle((1, 0, 0)), center=(0, 0, 0), name="ball"),
        "'ball' of kind on_sphere has no reduced coordinates; give scene.reduced",
    ),
    "growing": (
        lambda s: s.distance((0, 0, 0), s.particle((1, 0, 0)), length="1 + 0.1*t", name="rod"),
        "the length of constraint 'rod' changes with time",
    ),
    "turning": (
        lambda s: s.on_plane(s.particle((1, 0, 0)), normal=("sin(t)", "cos(t)", 0), name="plate"),
        "the direction of constraint 'plate' turns with time",
    ),
    "rigid": (lambda s: s.rigid((0, 0, 0), mass=1, shape={"rod": 1}, name="bar"), "'bar' is a rigid body"),
    "uncovered": (uncovered, "scene.reduced gives no position for 'forgotten'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_reduced_coordinates_is_refused_by_name(name):
    build, reason = REFUSED[name]
    scene = Scene()
    build(scene)
    with pytest.raises(TautError, match="method 'reduced' can not treat") as told:
        simulate(scene, method="reduced", dt=0.01, duration=0.1)
    assert reason in str(told.value), told.value


def bob(angle=0.0, **given):
    scene = Scene()
    scene.distance((0, 0, 0), scene.particle((0, -1, 0), name="bob", **given), name="rod")
    scene.reduced({"theta": angle}, {"bob": ("sin(theta)", "-cos(theta)", "0")})
    return scene


def test_formulas_that_do_not_fit_the_bodies_are_refused():
    with pytest.raises(TautError, match=r"puts 'bob' at \(0.0998334, -0.995004, 0\)"):
        simulate(bob(angle=0.1), method="reduced", dt=0.01, duration=0.1)


def test_formulas_that_break_a_constraint_are_refused():
    scene = bob()
    scene.reduced({"fall": 1.0}, {"bob": ("0", "-fall", "0")})
    with pytest.raises(TautError, match="coordinate 'fall' of scene.reduced breaks constraint 'rod'"):
        simulate(scene, method="reduced", dt=0.01, duration=0.1)


def test_coordinates_that_move_nothing_are_refused():
    scene = bob()
    scene.reduced(
        {"theta": 0.0, "phi": 0.0}, {"bob": ("sin(theta)*cos(phi)", "-cos(theta)", "sin(theta)*sin(phi)")}
    )
    with pytest.raises(TautError, match="not independent at t = 0: 'phi' moves nothing"):
        simulate(scene, method="reduced", dt=0.01, duration=0.1)


def test_a_velocity_that_the_formulas_do_not_know_is_told():
    with pytest.warns(TautWarning, match="gives 'bob' the velocity"):
        simulate(bob(velocity=(1, 0, 0)), method="reduced", dt=0.01, duration=0.1)


@pytest.mark.filterwarnings("ignore::taut.errors.TautWarning")
@pytest.mark.parametrize("kind", ["tree", "linear"])
def test_a_start_off_the_constraints_is_refused(kind):
    scene = gallery("inconsistent_start")
    named = "constraint 'upper' has length 10 m"
    if kind == "linear":
        scene, named = Scene(), r"constraint 'hold\[0\]' is off by 1"
        scene.fixed_point(scene.particle((1, 0, 0)), place=(0, 0, 0), name="hold")
    with pytest.raises(TautError, match=named):
        simulate(scene, method="reduced", dt=0.01, duration=0.1, start="as_given")


@pytest.mark.parametrize("case", ["classic_npendulum_2", "classic_npendulum_5s"])
def test_published_numbers(case):
    known = json.loads((REFERENCE / f"{case}.json").read_text())
    n, angle = (2, pi / 2) if case.endswith("_2") else (5, pi / 12)
    scene = gallery("chain", n=n, angle=angle)
    data = simulate(scene, method="reduced", dt=0.1, duration=10.0, tolerance=1e-12).data
    for check in known["checks"]:
        now = data.sel(time=check["t"], method="nearest") if "t" in check else data
        if check["name"].startswith("points"):
            got = now.position.sel(xyz=["x", "y"]).values[1:].ravel()
        elif check["name"].startswith("tension"):
            got = -now.multiplier.values
        else:
            continue
        want = np.array(check["value"])
        off = (np.abs(got - want) / np.maximum(np.abs(want), check["scale"])).max()
        assert off <= check["tol_good"], f"{check['name']}: off by {off:.2g}, allowed {check['tol_good']:.0e}"
