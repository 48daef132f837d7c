"""Inequalities hold, push and never pull: the paper's corner, closed forms, impacts, agreement of methods."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from math import cos, sin, sqrt
from pathlib import Path

import numpy as np
import pytest
from words_runs import interrupted

import taut
from taut.scene.gallery import SCENES

G = 9.81
REFERENCE = Path(__file__).parent / "reference"


def total_energy(run: taut.Run) -> np.ndarray:
    """Kinetic and potential energy less the work of drivers [J]."""
    return run.records.energy[:, 0] + run.records.energy[:, 1] - run.records.energy[:, 2]


def rise(energy: np.ndarray) -> float:
    """The largest rise above an earlier value."""
    return float((energy - np.minimum.accumulate(energy)).max())


def impacts(run: taut.Run, name: str | None = None):
    found = run.events[run.events.kind == "impact"]
    return found if name is None else found[found.constraint == name]


# The acute corner of Jonquet, Nocent and Remion


def corner(simulate, rule: str, m: float, force: tuple[float, float], duration: float = 1.0) -> taut.Run:
    scene = taut.gallery("acute_corner", m=m, fx=force[0], fy=force[1])
    return simulate(scene, "baumgarte", 0.01, duration, active_set=rule, log="yes")


def pushes(run: taut.Run, record: int = 0) -> np.ndarray:
    """λ of the two walls."""
    return run.data.multiplier.sel(constraint=["g1", "g2"]).values[record]


@pytest.mark.parametrize("rule, m, force, expected", [
    ("platt", 2.0, (2, -1), (-2, -1)),
    ("platt", 3.0, (2, -1), (-2, -1)),
    ("platt_improved", 2.0, (2, -1), (0, 1)),
    ("platt_improved", 1.0, (-1, -2), (0, 2)),
    ("jonquet", 2.0, (2, -1), (0, 1)),
    ("jonquet", 3.0, (2, -1), (0, 1)),
    ("jonquet", 1.0, (-1, -2), (1, 3)),
    ("exact", 2.0, (2, -1), (0, 1)),
    ("exact", 1.0, (-1, -2), (1, 3)),
])  # fmt: skip
def test_first_step_in_the_corner_is_the_published_one(simulate, rule, m, force, expected):
    run = corner(simulate, rule, m, force, duration=0.02)
    assert np.allclose(pushes(run), expected, rtol=0, atol=1e-12), f"λ = {pushes(run)}, published {expected}"
    acceleration = np.array(force) + np.array([expected[0], expected[1] - expected[0]])
    moved = run.records.x[1, 0, :2] * 2 * m / 0.01**2  # from rest, by constant forces
    assert np.allclose(moved, acceleration, rtol=0, atol=1e-9), f"m ẍ = {moved}, published {acceleration}"


def test_platts_set_loses_both_walls_and_goes_through(simulate):
    run = corner(simulate, "platt", 2.0, (2, -1))
    first = run.log[(run.log.time == 0.0) & (run.log.action == "left")]
    assert sorted(first.constraint) == ["g1", "g2"], f"left after the first step: {list(first.constraint)}"
    lowest = run.records.x[:, 0, 1].min()
    assert lowest < -1e-5, f"y ≥ {lowest:.3g}; published: y < 0"


def test_improved_rule_leaves_through_the_first_wall(simulate):
    run = corner(simulate, "platt_improved", 1.0, (-1, -2))
    gap = run.data.constraint_error.sel(constraint="g1").values
    assert gap.min() < -1e-5, f"x - y ≥ {gap.min():.3g}; published: it leaves through g1"


@pytest.mark.parametrize("rule", ["jonquet", "exact"])
@pytest.mark.parametrize("m", [2.0, 3.0])
def test_particle_slides_along_the_wall(simulate, rule, m):
    run = corner(simulate, rule, m, (2, -1))
    x, y = run.records.x[:, 0, 0], run.records.x[:, 0, 1]
    assert np.abs(y).max() <= 1e-8, f"|y| up to {np.abs(y).max():.3g}"
    off = np.abs(x - run.records.time**2 / m).max()
    assert off <= 1e-10, f"x off t²/m by {off:.3g}"


# Closed forms of one ball


@pytest.mark.parametrize("dt", [0.1, 0.01, 0.0013])
def test_moments_of_impact_do_not_depend_on_the_step(simulate, dt):
    run = simulate(taut.gallery("bouncing_ball"), "baumgarte", dt, 3.0)
    speed = sqrt(2 * G)
    bounces = 0.8 ** np.arange(1, 6) * 2 * speed / G
    expected = speed / G + np.concatenate([[0.0], np.cumsum(bounces)])
    off = np.abs(impacts(run).time.values[:6] - expected).max()
    assert off <= 1e-11, f"dt = {dt}: moments off by {off:.3g} s"


def test_bouncing_ends(simulate):
    """Infinitely many bounces end in finite time; afterwards the floor carries the ball."""
    run = simulate(taut.gallery("bouncing_ball", restitution=0.9), "baumgarte", 0.01, 10.0)
    rest = sqrt(2 / G) * (1 + 0.9) / (1 - 0.9)
    after = run.records.time > rest + 0.02
    assert np.abs(run.records.v[after]).max() == 0.0, f"speed {np.abs(run.records.v[after]).max():.3g} after the end"
    push = run.data.multiplier.values[after, 0]
    assert np.abs(push - G).max() <= 1e-10, f"λ off by {np.abs(push - G).max():.3g}"


@pytest.mark.parametrize("method, dt", [("baumgarte", 0.01), ("implicit_first", 0.001)])
def test_a_rope_of_links_hangs_as_published(simulate, method, dt):
    """The chain of the reference case with links that may go slack: at rest they are taut all the same."""
    scene = taut.Scene(name="slack_chain")
    rigid = taut.gallery("chain", n=5, length=0.4, span=1.2, mass=0.2, drag=4.0)
    nodes = [scene.particle(b.position, mass=b.mass, fixed=b.motion == "fixed") for b in rigid.bodies.values()]
    for a, b in zip(nodes[:-1], nodes[1:]):
        scene.max_distance(a, b, length=0.4)
    scene.drag(coefficient=4.0)
    run = simulate(scene, method, dt, 60.0, record_every=1000)
    points = run.records.x[-1, 1:5, :2]
    pull = run.records.lam[-1]
    across = run.records.x[-1, 3] - run.records.x[-1, 2]
    found = {"points": points.ravel(), "tension": pull, "H": pull[2] * across[0] / sqrt(across @ across)}
    for check in json.loads((REFERENCE / "classic_hanging_chain_5.json").read_text())["checks"]:
        value = np.array(check["value"])
        off = (np.abs(found[check["name"]] - value) / np.maximum(np.abs(value), check["scale"])).max()
        assert off <= check["tol_good"], f"{check['name']}: error {off:.2e}, allowed {check['tol_good']:g}"


# Many bodies at once


@pytest.mark.parametrize("lifted", [1, 2])
def test_cradle_hands_the_motion_on(simulate, lifted):
    """As many balls leave on the right as came from the left, as fast; the others rest."""
    run = simulate(taut.gallery("newton_cradle", lifted=lifted), "baumgarte", 0.001, 0.9)
    hit = impacts(run).time.min()
    k = int(np.searchsorted(run.records.time, hit)) + 2
    balls = run.data.velocity.sel(body=[f"ball_{i}" for i in range(5)]).values[:, :, 0]
    before, after = balls[k - 5], balls[k]
    fast = 2 * sqrt(G * 0.5) * sin(0.25)
    moving = np.flatnonzero(np.abs(after) > 0.1).tolist()
    assert moving == list(range(5 - lifted, 5)), f"balls {moving} move after {before} -> {after}"
    assert np.allclose(after[-lifted:], fast, rtol=1e-3), f"they leave with {after[-lifted:]}, hit with {fast}"
    kept = total_energy(run)
    assert np.ptp(kept) <= 1e-9 * 5 * G * 0.5, f"energy changes by {np.ptp(kept):.3g} J"


@pytest.mark.parametrize("restitution", [1.0, 0.9, 0.0])
def test_billiard_neither_overlaps_nor_gains(simulate, restitution):
    scene = taut.gallery("billiard", restitution=restitution)
    run = simulate(scene, "baumgarte", 0.002, 1.0)
    names = run.model.inequality_names
    walls = [name for name in names if name.endswith(("|left", "|bottom"))]
    assert (len(names), len(walls)) == (77, 22), f"{len(names)} inequalities, {len(walls)} with walls"
    overlap = float(run.data.overlap.max()) / 0.03
    assert overlap <= 1e-8, f"overlap {overlap:.3g} of a radius"
    energy = total_energy(run)
    if restitution == 1.0:
        assert np.ptp(energy) <= 1e-9 * energy[0], f"energy changes by {np.ptp(energy) / energy[0]:.3g} of itself"
    assert rise(energy) <= 1e-12 * energy[0], f"energy rises by {rise(energy) / energy[0]:.3g} of itself"
    # What momentum the balls lack, the walls took.
    momentum = 0.17 * run.records.v[:, :11, :2].sum(axis=1)
    taken = [impacts(run)[impacts(run).constraint.str.endswith(wall)].impulse.sum() for wall in ("|left", "|bottom")]
    resting = run.data.contact_force.values[..., :2].sum(axis=1)
    assert np.abs(resting).max() <= 1e-9, f"balls that touch without a load push with {np.abs(resting).max():.3g} N"
    off = np.abs(momentum[-1] - momentum[0] - taken).max()
    assert off <= 1e-9, f"momentum {momentum[0]} -> {momentum[-1]} with {taken} from the walls: off by {off:.3g}"


def test_simultaneous_impacts_are_found_together(simulate):
    """Three balls from one height touch the floor at one moment, however the steps lie."""
    scene = taut.Scene()
    floor = scene.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0))
    balls = [scene.particle((i, 1.0, 0), mass=10.0**i, radius=0.1) for i in range(3)]
    scene.contacts(balls, [floor], restitution=0.5)
    run = simulate(scene, "baumgarte", 0.013, 0.7)
    times = impacts(run).time.values[:3]
    assert np.ptp(times) == 0.0, f"impacts at {times}"
    assert abs(times[0] - sqrt(2 * 0.9 / G)) <= 1e-11, f"at {times[0]}, not {sqrt(2 * 0.9 / G)}"


# Energy never grows


def scenes_with_inequalities() -> list[str]:
    return [name for name, entry in SCENES.items() if entry.function.__module__.endswith(".contacts")]


def gallery_case(name: str, restitution: float) -> taut.Scene:
    try:
        extra = {"n": 5} if name == "ball_pile" else {}
        return taut.gallery(name, restitution=restitution, **extra)
    except taut.TautError:
        return taut.gallery(name)  # one without impacts


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("method", ["baumgarte", "implicit_first"])
@pytest.mark.parametrize("name", scenes_with_inequalities())
def test_energy_never_grows(simulate, name, method, restitution):
    scene = gallery_case(name, restitution)
    if method == "baumgarte" and name == "block_on_incline":
        scene = taut.gallery(name, friction=0.0)
    run = simulate(scene, method, 0.0005 if method == "baumgarte" else 0.002, 1.0)
    kinetic, potential = run.records.energy[:, 0], run.records.energy[:, 1]
    at_play = kinetic.max() + np.ptp(potential)
    allowed = 1e-9 * at_play
    if method == "implicit_first" and name in ("newton_cradle", "slack_rope"):
        allowed = np.abs(np.diff(potential)).max()  # see test_fuzz_contact.py
    grown = rise(kinetic + potential)
    assert grown <= allowed, f"{name} with {method}, e = {restitution}: energy grows by {grown / at_play:.3g} of itself"


# Agreement, and orders


def pendulum_at_a_wall(restitution: float = 0.7) -> taut.Scene:
    """A bob on a rod that swings against a wall below its pivot."""
    scene = taut.Scene(name="pendulum_at_a_wall")
    bob = scene.particle((1, 0, 0), name="bob")
    scene.distance((0, 0, 0), bob, name="rod")
    scene.half_space(bob, point=(0.1, 0, 0), normal=(1, 0, 0), restitution=restitution, name="wall")
    return scene


def test_trajectory_has_order_four_across_impacts(simulate, slope):
    steps = np.array([0.04, 0.02, 0.01])
    fine = simulate(pendulum_at_a_wall(), "baumgarte", 0.0005, 1.6).records.x[-1]
    errors = [np.abs(simulate(pendulum_at_a_wall(), "baumgarte", h, 1.6).records.x[-1] - fine).max() for h in steps]
    order = slope(steps, errors)
    assert 3.5 <= order <= 5.0, f"errors {errors}: order {order:.2f}"


def bowl() -> taut.Scene:
    """A particle that slides in a bowl, held by the inequality alone."""
    scene = taut.Scene(name="bowl")
    bead = scene.particle((sin(1.0), -cos(1.0), 0), velocity=(0, 0, 0.5), name="bead")
    scene.inside_sphere(bead, center=(0, 0, 0), radius=1.0, name="bowl")
    return scene


def test_fixed_steps_have_order_one_away_from_impacts(simulate, slope):
    steps = np.array([0.008, 0.004, 0.002, 0.001])
    exact = simulate(bowl(), "baumgarte", 0.002, 0.8).records.x[-1]
    errors = [np.abs(simulate(bowl(), "implicit_first", h, 0.8).records.x[-1] - exact).max() for h in steps]
    order = slope(steps, errors)
    assert 0.8 <= order <= 1.3, f"errors {errors}: order {order:.2f}"


@pytest.mark.parametrize("scene, duration", [
    (taut.gallery("bouncing_ball", restitution=0.5), 0.8),
    (pendulum_at_a_wall(0.5), 0.8),
    (taut.gallery("newton_cradle", n=3, restitution=0.5), 0.5),
    (taut.gallery("billiard", restitution=0.0), 0.6),
    (bowl(), 0.8),
], ids=lambda given: getattr(given, "name", ""))  # fmt: skip
def test_fixed_steps_agree_with_rewound_ones(simulate, scene, duration):
    h = 2e-4
    exact = simulate(scene, "baumgarte", 0.002, duration).records
    fixed = simulate(scene, "implicit_first", h, duration, record_every=10).records
    size = np.abs(exact.v).max()
    off = np.abs(exact.x[-1] - fixed.x[-1]).max()
    assert off <= 10 * h * size, f"{scene.name}: positions differ by {off:.3g} m, that is {off / (h * size):.3g} h v"


# What moves on its own


def lifted_by_a_floor(restitution: float) -> taut.Scene:
    scene = taut.Scene(name="lifted")
    ball = scene.particle((0, 0.15, 0), radius=0.1, name="ball")
    scene.half_space(ball, point=(0, "0.1*sin(6*t)", 0), normal=(0, 1, 0), restitution=restitution, name="floor")
    return scene


def hit_by_a_bat(restitution: float) -> taut.Scene:
    scene = taut.Scene(name="bat", gravity=(0, 0, 0))
    ball = scene.particle((0.5, 0, 0), mass=2.0, radius=0.1, name="ball")
    bat = scene.particle(path=("0.6*t", 0, 0), radius=0.1, name="bat")
    scene.contacts([ball], [bat], restitution=restitution)
    return scene


@pytest.mark.parametrize("method, share", [("baumgarte", 1e-4), ("implicit_first", 2e-2)])
@pytest.mark.parametrize("make", [lifted_by_a_floor, hit_by_a_bat])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_what_moves_on_its_own_pays_for_the_energy(simulate, method, share, make, restitution):
    run = simulate(make(restitution), method, 0.002, 2.0)
    assert abs(run.records.energy[-1, 2]) > 0.1, f"the driver did {run.records.energy[-1, 2]:.3g} J of work"
    energy = total_energy(run)
    at_play = run.records.energy[:, 0].max() + np.ptp(run.records.energy[:, 1])
    assert rise(energy) <= share * at_play, f"energy less the driver's work rises by {rise(energy) / at_play:.3g}"
    lowest = float(run.data.overlap.max())
    assert lowest <= 1e-8, f"overlap {lowest:.3g} m"


def test_a_bat_gives_the_velocity_that_restitution_says(simulate):
    run = simulate(hit_by_a_bat(0.5), "baumgarte", 0.01, 1.0)
    v = run["ball"].velocity.values[-1, 0]
    assert abs(v - 1.5 * 0.6) <= 1e-12, f"v = {v}, expected (1 + e) of 0.6 m/s"


# The same bits


def fuzzy() -> taut.Scene:
    """Walls, ropes, rods, restitution: all that a state with inequalities holds."""
    scene = taut.Scene(name="all_contacts")
    balls = [scene.particle((0.3 * i, 1 + 0.1 * i, 0.01 * i), radius=0.1, velocity=(1 - i, 0, 0)) for i in range(4)]
    walls = [scene.obstacle("half_space", point=(0, 0, 0), normal=n) for n in ((0, 1, 0), (0.3, 1, 0))]
    scene.contacts(balls, restitution=0.6)
    scene.contacts(balls, walls, restitution=0.3)
    scene.max_distance(balls[0], balls[3], length=1.0)
    scene.distance(balls[1], balls[2])
    return scene


def same_bits(found: taut.Run, expected: taut.Run) -> str:
    """Empty where two runs are the same."""
    for name, values in expected.records.as_dict().items():
        if found.records.as_dict()[name].tobytes() != values.tobytes():
            return f"{name} differs"
    return "" if found.events.equals(expected.events) else "events differ"


@pytest.mark.parametrize("method", ["baumgarte", "implicit_first"])
def test_a_run_repeats_itself_resumes_and_reads_back_bit_for_bit(simulate, method, tmp_path, monkeypatch):
    expected = simulate(fuzzy(), method, 0.005, 1.5)
    assert len(impacts(expected)) > 3, f"only {len(impacts(expected))} impacts: the run says nothing"
    assert not (wrong := same_bits(simulate(fuzzy(), method, 0.005, 1.5), expected)), wrong
    expected.save(tmp_path / "saved.taut")
    assert not (wrong := same_bits(taut.open(tmp_path / "saved.taut"), expected)), wrong
    with interrupted(monkeypatch, chunks=120):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", taut.TautWarning)
            cut = taut.simulate(fuzzy(), method=method, dt=0.005, duration=1.5, out=tmp_path / "run", progress=False)
    assert cut.status == "interrupted" and 0 < cut.steps < expected.steps, f"{cut.status} after {cut.steps}"
    resumed = taut.resume(tmp_path / "run", progress=False)
    assert not (wrong := same_bits(resumed, expected)), wrong


@pytest.mark.parametrize("method", ["baumgarte", "implicit_first"])
def test_keeping_fewer_records_changes_neither_motion_nor_events(simulate, method):
    every, tenth = (simulate(fuzzy(), method, 0.005, 1.5, record_every=n) for n in (1, 10))
    assert every.events.equals(tenth.events), "events differ"
    for name, values in tenth.records.as_dict().items():
        full = every.records.as_dict()[name][::10]
        assert values.tobytes() == full.tobytes(), f"{name} differs by up to {np.abs(values - full).max():.3g}"


def test_without_compilation_the_corner_is_the_same(simulate):
    """Kernels are plain Python as well."""
    code = (
        "import sys, taut\n"
        "for method in ('baumgarte', 'implicit_first'):\n"
        "    run = taut.simulate(taut.gallery('bouncing_ball'), method=method, dt=0.01, duration=0.6, progress=False)\n"
        "    print(*map(float.hex, run.records.x[-1, 0].tolist()), len(run.events))\n"
    )
    plain = {**os.environ, "PYTHONPATH": str(Path(taut.__file__).parents[1]), "NUMBA_DISABLE_JIT": "1"}
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=plain)
    for method, line in zip(("baumgarte", "implicit_first"), told.stdout.splitlines()):
        run = simulate(taut.gallery("bouncing_ball"), method, 0.01, 0.6)
        *place, events = line.split()
        off = np.abs(np.array([float.fromhex(text) for text in place]) - run.records.x[-1, 0]).max()
        assert off <= 1e-13 and int(events) == len(run.events), f"{method}: differs by {off:.3g}, {events} events"
