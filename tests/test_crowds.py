"""Many balls: exact while few may touch, very slightly soft beyond; named events, room that grows, same bits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from words_runs import interrupted

import taut
from taut.contact.settings import changed
from taut.model import build
from taut.simulation.session import Session

G = 9.81


def pile(n, **parameters):
    return taut.gallery("ball_pile", n=n, **parameters)


def simulated(scene, duration, **options):
    return taut.simulate(scene, dt=0.005, duration=duration, progress=False, **options)


def session(scene, steps=1):
    """A run that has not begun."""
    plan = {"method": "implicit_first", "dt": 0.005, "steps": steps, "record_every": 1, "solver": "auto",
            "tolerance": None, "project_initial": True, "repair": False, "options": {}}  # fmt: skip
    return Session(scene, build(scene), plan)


def cluster(count, apart=1.0, across=4, radius=0.05, speed=0.0):
    """Equal balls in a block, the last one on its way out of it; nothing pulls at them."""
    scene = taut.Scene(gravity=(0, 0, 0), name="cluster")
    balls = []
    for i in range(count):
        cell = np.array([i % across, i // across % across, i // across**2])
        velocity = (0, 0, speed if i == count - 1 else 0)
        balls.append(scene.particle(2 * radius * apart * cell, radius=radius, velocity=velocity, name=f"b{i}"))
    scene.contacts(balls, name="balls")
    return scene


def heap(n):
    """Balls in a row on the floor, wedged between two walls: at rest from the start."""
    scene = taut.Scene(name="heap")
    balls = [scene.particle((0.1 * i + 0.05, 0.05, 0.0), radius=0.05, name=f"b{i}") for i in range(n)]
    walls = [
        scene.obstacle("half_space", point=point, normal=normal, name=name)
        for name, point, normal in (("floor", (0, 0, 0), (0, 1, 0)), ("left", (0, 0, 0), (1, 0, 0)),
                                    ("right", (0.1 * n, 0, 0), (-1, 0, 0)))
    ]  # fmt: skip
    scene.contacts(balls, name="balls")
    scene.contacts(balls, walls, name="walls")
    return scene


@pytest.fixture(scope="module")
def hundred():
    """A pile of 100 that has come to rest; every step kept."""
    return simulated(pile(100, seed=3), 2.5)


def test_a_small_pile_is_carried_by_its_contacts_to_rounding():
    run = simulated(pile(4, seed=3), 8.0, record_every=100)
    last = run.data.isel(time=-1)
    speed = float(np.abs(last.velocity).max())
    weight = np.array([G * info.mass for info in run.scene.bodies.values()])
    off = np.abs(last.contact_force.values - weight[:, None] * np.array([0, 1, 0])).max() / weight.sum()
    assert speed < 1e-9 and off < 1e-9, f"forces off by {off:.1e} of the weight at {speed:.1e} m/s"


def test_a_heap_of_many_is_carried_exactly_where_few_rows_touch():
    scene = heap(64)  # 2,208 pairs: a crowd, of which 127 rows touch
    run = simulated(scene, 0.05)
    assert len(run.records.lam[0]) == 0, "pairs of a crowd are not listed"
    force = run.data.contact_force.isel(time=-1).values
    off = np.abs(force - np.array([0, G, 0])).max() / G
    assert off < 1e-9 and float(run.data.overlap.max()) < 1e-9, f"forces off by {off:.1e} of a ball's weight"


def test_a_pile_comes_to_rest_with_small_overlap(hundred):
    data = hundred.data
    speed = np.linalg.norm(data.velocity.values, axis=-1)[data.time.values > 2.0].max()
    overlap = float(data.overlap.max()) / 0.05
    carried = data.contact_force.isel(time=-1).values.sum(0) / (G * sum(b.mass for b in hundred.scene.bodies.values()))
    assert speed < 1e-3, f"{speed:.1e} m/s at rest"
    assert 0.0 < overlap < 2e-3, f"overlap of {overlap:.1e} radii"
    assert np.abs(carried - [0, 1, 0]).max() < 1e-5, f"contacts carry {carried} of the weight"


def test_both_ways_to_find_lambda_take_turns_without_a_jolt():
    with changed(max_dense_rows=200):  # about as many rows touch at rest
        part = session(pile(64, seed=3), steps=500)
    mass, x, v = part.system.bodies.mass, part.state.x, part.state.v
    soft, energy = [], []
    for k in range(part.plan["steps"]):
        part.loop(0.005, k, 1, 10**6, 0, part.no_records)
        soft.append(int(part.context.pairs.is_compliant[0]))
        energy.append(float((mass * (0.5 * v**2 + G * x * [0, 1, 0])).sum()))
    turns = int(np.abs(np.diff(soft)).sum())
    rise = np.diff(energy).max() / (energy[0] - energy[-1])
    # What overlapped while soft is parted when hard: a pile is lifted by micrometres.
    assert turns > 5 and rise < 1e-4, f"energy rises by {rise:.1e} of what is lost, in {turns} turns"
    assert np.abs(v).max() < 1e-9, f"{np.abs(v).max():.1e} m/s at rest"


def test_events_name_the_pairs(hundred):
    events = hundred.events
    pairs = events[~events.constraint.str.contains("floor|left|right|back|front")]
    known = {f"ball_{i}|ball_{j}" for i in range(100) for j in range(i + 1, 100)}
    assert len(pairs) > 100 and set(pairs.constraint) <= known, f"{sorted(set(pairs.constraint) - known)[:3]}"
    events, pairs = (table[table.kind != "impact"] for table in (events, pairs))
    for name, changes in pairs.groupby("constraint"):
        kinds = changes.kind.tolist()
        wanted = ["activation", "release"] * len(kinds)
        assert kinds == wanted[: len(kinds)], f"{name}: {kinds}"
    pushing = int(hundred.data.contact_count[-1])
    open_now = events.groupby("constraint").kind.last().eq("activation").sum()
    assert open_now == pushing, f"events leave {open_now} contacts, {pushing} push"


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_restitution_in_a_crowd_never_adds_energy(friction):
    run = simulated(pile(120, restitution=0.9, friction=friction), 0.4)
    energy = run.data.energy_total.values
    fall = energy[0] - energy.min()
    rise = np.diff(energy).max() / fall
    assert rise < 1e-6, f"energy rises by {rise:.1e} of what is lost"
    hits = run.events[run.events.kind == "impact"]
    among = hits.constraint.str.match(r"ball_\d+\|ball_\d+$").sum()
    assert len(hits) > 100 and among > 20 and (hits.impulse > 0).all(), f"{len(hits)} impacts, {among} among balls"


def test_a_crowd_keeps_more_energy_with_more_restitution():
    left = [float(simulated(pile(150, restitution=e), 0.35).data.energy_total[-1]) for e in (0.0, 0.9, 1.0)]
    assert left[0] < left[1] < left[2], f"energies left: {left} J"


def test_room_for_pairs_grows_while_the_run_goes_on():
    few = session(cluster(64, apart=1.05, speed=10.0), steps=3)  # who is fast may meet many
    before = len(few.state.pairs)
    few.run(progress=False)
    grown, near = len(few.state.pairs), int(few.state.pair_count[0])
    assert before == 640 < near <= grown, f"room for {before} at first, {grown} now; {near} pairs are near"


def test_a_start_that_overlaps_is_refused_however_many_pairs_are_near():
    with pytest.raises(taut.TautError, match=r"b\d+\|b\d+"):
        session(cluster(100, apart=0.5))


def test_a_crowd_that_overlaps_is_repaired():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", taut.TautWarning)
        run = simulated(cluster(100, apart=0.98), 0.01, repair=True)
    depth = float(run.data.overlap[0])
    assert run.status == "finished" and depth < 1e-8, f"{run.status}, {depth:.1e} m deep after repair"


def test_a_resumed_crowd_has_the_same_bits(tmp_path, monkeypatch):
    scene = pile(80)
    expected = simulated(scene, 0.5)
    with interrupted(monkeypatch, chunks=4, seconds=1e-3):
        cut = simulated(scene, 0.5, out=tmp_path / "run.taut")
    assert cut.status == "interrupted" and 0 < cut.steps < expected.steps, f"{cut.status} after {cut.steps}"
    again = taut.resume(tmp_path / "run.taut", progress=False)
    for name, values in expected.records.as_dict().items():
        other = again.records.as_dict()[name]
        assert other.tobytes() == values.tobytes(), f"{name} differs by up to {np.abs(other - values).max():.1e}"
    assert again.events.equals(expected.events), "events differ"


def test_conditions_with_names_stay_hard_beside_a_crowd():
    scene = pile(120)
    pin = scene.particle((0.3, 2.0, 0.3), fixed=True, name="pin")
    bob = scene.particle((0.3, 1.6, 0.3), velocity=(1, 0, 0), name="bob")
    scene.max_distance(pin, bob, length=0.5, name="rope")
    run = simulated(scene, 1.0)
    longest = -float(run["rope"].error.min())
    softest = float(run.data.overlap.max())
    assert longest < 1e-8 < softest, f"the rope is {longest:.1e} m too long, balls overlap by {softest:.1e} m"
