"""Laws of contacts of cloth: release rules, bounds on velocities, and events (cloth/release.py, contact_events.py)."""

from __future__ import annotations

import re

import numpy as np
import pytest

import taut
from taut import TautError
from taut.cloth.codes import RELEASE_RULES
from taut.scene import Scene

NODES = {"limit_rule": "exact"}
SYSTEMS = {"nodes": NODES, "active": {"limit_rule": "paper", "system": "active"}}
RULES = list(RELEASE_RULES)
every = pytest.mark.parametrize("system", SYSTEMS)
rules = pytest.mark.parametrize("rule", RULES)
H = 1 / 120


def on_floor(rule: str, system: str, n: int = 3, **options) -> Scene:
    """A small, slack sheet at rest on the floor."""
    scene = Scene()
    given = {"stiffness": 1.0, "damping": 0.0, "thickness": 0.02, "release": rule, **SYSTEMS[system], **options}
    sheet = scene.cloth(grid=(n, n), size=(0.1, 0.1), origin=(0, 0.01, 0), density=0.3, **given)
    scene.contacts(sheet, [scene.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0), name="floor")])
    return scene


def carried(rule: str, system: str) -> Scene:
    """A ball that comes to rest in a sheet hung by its corners."""
    scene = Scene()
    n = 4  # the ball has one place to rest: between the four nodes in the middle
    sheet = scene.cloth(grid=(n, n), origin=(-0.5, 0, -0.5), stiffness=60, damping=2, thickness=0.02, release=rule,
                        pins=[0, n - 1, n * (n - 1), n * n - 1], **SYSTEMS[system])  # fmt: skip
    ball = scene.particle((0.01, 0.215, 0.005), mass=0.4, radius=0.3, name="ball")
    scene.contacts([ball], sheet)
    return scene


@pytest.fixture(scope="module")
def resting():
    found = {}
    for system in SYSTEMS:
        for rule in RULES:
            found[rule, system] = taut.simulate(carried(rule, system), method="implicit_first", dt=H, duration=4,
                                                record_every=3, progress=False)  # fmt: skip
    return found


@every
def test_all_rules_agree_on_where_a_ball_rests_in_a_sheet(resting, system):
    places = {rule: resting[rule, system].records.x[-1] for rule in RULES}
    for rule, x in places.items():
        off = np.abs(x - places["lambda"]).max()
        assert resting[rule, system].status == "finished" and off < 2e-3, f"{rule}: {off:.3g} m off"
    speed = np.abs(resting["lambda", system].records.v[-1]).max()
    assert speed < 0.05, f"it still moves at {speed:.3g} m/s"


@every
@rules
def test_contacts_push_never_pull_and_nothing_gets_inside(resting, rule, system):
    run = resting[rule, system]
    data, edge = run.data, 1 / 3
    names = list(data.body.values)
    ball = names.index("ball")
    nodes = [i for i in range(len(names)) if i != ball]
    way = data.position.values[:, nodes] - data.position.values[:, [ball]]
    gap = np.linalg.norm(way, axis=2) - 0.31
    push = (data.contact_force.values[:, nodes] * way).sum(axis=2) / np.linalg.norm(way, axis=2)
    assert gap.min() > -9e-4 * edge, f"a node is {-gap.min():.3g} m deep"
    assert push.min() >= 0.0 and push.max() > 0.1, f"λ from {push.min():.3g} to {push.max():.3g} N"
    weight = data.contact_force.values[-1, ball, 1]
    assert abs(weight / (0.4 * 9.81) - 1) < 0.1, f"the ball of 3.92 N is carried with {weight:.3g} N"


@every
@rules
def test_what_is_thrown_upward_leaves_at_once_with_the_impulse_that_it_got(rule, system):
    sim = taut.Simulation(on_floor(rule, system), method="implicit_first", dt=H)
    sim.step(10)
    before = sim.state.velocity["cloth[4]"][1]
    mass, up = next(b.mass for b in sim.session.model.body_info if b.name == "cloth[4]"), 300.0
    sim.apply("cloth[4]", force=(0, mass * up, 0))
    sim.step(1)
    wanted, got = H * (up - 9.81), sim.state.velocity["cloth[4]"][1] - before
    assert abs(got / wanted - 1) < 0.02, f"{got:.6g} m/s, without the floor {wanted:.6g} m/s"
    kind, row = np.concatenate(sim.session.events)[-1][1:3]
    assert (kind, sim.session.model.inequality_names[int(row)]) == (1, "cloth[4]|floor"), "it was not released"


@every
@rules
def test_impulses_of_contacts_that_have_ended_are_what_the_floor_gave(rule, system):
    """Newton: Σ impulses = change of momentum - impulse of weight and of what lifts the sheet."""
    sim = taut.Simulation(on_floor(rule, system), method="implicit_first", dt=H)
    bodies = [b for b in sim.session.model.body_info if b.name.startswith("cloth")]
    sim.step(20)
    for body in bodies:
        sim.apply(body.name, force=(0, 3 * 9.81 * body.mass, 0))
    sim.step(10)
    total = sum(b.mass for b in bodies)
    momentum = sum(b.mass * sim.state.velocity[b.name][1] for b in bodies)
    given = momentum + total * 9.81 * 30 * H - 3 * 9.81 * total * 10 * H
    events = np.concatenate(sim.session.events)
    ended = events[events[:, 1] == 1]
    assert len(ended) == 9, f"{len(ended)} of 9 contacts have ended"
    assert abs(ended[:, 4].sum() / given - 1) < 1e-6, f"{ended[:, 4].sum():.6g} N s of {given:.6g} N s"


def sliding(rule: str, system: str) -> Scene:
    scene = Scene()
    sheet = scene.cloth(grid=(3, 3), size=(0.2, 0.2), origin=(0.2, 0.01, -0.1), stiffness=5, thickness=0.02, density=1,
                        velocity=(0.4, 0, 0), release=rule, **SYSTEMS[system])  # fmt: skip
    table = scene.obstacle("outside_box", center=(0, -0.1, 0), half=(0.45, 0.1, 1), name="table")
    scene.contacts(sheet, [table])
    return scene


@every
def test_sliding_over_an_edge_is_released_where_the_face_ends(system, simulate):
    """By the sign of λ alone a contact goes on around the edge."""
    past = {}
    for rule in RULES:
        run = simulate(sliding(rule, system), "implicit_first", H / 2, 0.5)
        assert run.status == "finished" and run.data.overlap.max() < 1e-4
        released = run.events[run.events.kind == "release"].groupby("constraint").time.min()
        position = run.data.position.sel(xyz="x")
        names = [f"cloth[{i}]" for i in (2, 5, 8)]  # the first ones to go over
        times = [(name, released.get(f"{name}|table")) for name in names]
        past[rule] = max(np.inf if t is None else float(position.sel(body=name).interp(time=t)) - 0.45
                         for name, t in times)  # fmt: skip
    for rule in ("voronoi", "paper"):
        assert 0 <= past[rule] < 1.01 * 0.4 * H / 2, f"{rule}: released {past[rule]:.3g} m past the edge"
        assert past["lambda"] > past[rule], f"by λ at {past['lambda']:.3g} m"


@every
def test_bounds_on_velocities_stop_a_node_at_the_point_of_contact(system):
    """n₀·(x' - x₀) = -gap₀: the motion goes up to the plane of contact that was seen from the start of the step."""
    scene = Scene(gravity=(0, 0, 0))
    sheet = scene.cloth(grid=(2, 2), stiffness=1e-3, thickness=0.02, velocity=(0.5, -2, 0.3), approach="velocity",
                        **SYSTEMS[system])  # fmt: skip
    globe = scene.obstacle("outside_sphere", center=(0.05, -0.4, 0.02), radius=0.3, name="globe")
    scene.contacts(sheet, [globe])
    sim = taut.Simulation(scene, method="implicit_first", dt=1e-3)
    centre = np.array([0.05, -0.4, 0.02])
    for _ in range(200):
        x0 = sim.state.position["cloth[0]"]
        x1 = sim.step(1).position["cloth[0]"]
        if len(np.concatenate(sim.session.events)):
            break
    away = x0 - centre
    n0, gap = away / np.linalg.norm(away), np.linalg.norm(away) - 0.31
    assert gap > 1e-5, "it touched already"
    assert abs(n0 @ (x1 - x0) + gap) < 1e-5, f"it went {-(n0 @ (x1 - x0)):.6g} m of {gap:.6g} m"
    assert np.linalg.norm(x1 - centre) >= 0.31 - 1e-6


def test_contacts_between_sheets_are_events_with_names(simulate):
    scene = Scene()
    low = scene.cloth(grid=(3, 3), thickness=0.02, pins=range(9), name="low")
    high = scene.cloth(grid=(2, 2), size=(0.3, 0.3), origin=(0.31, 0.05, 0.33), thickness=0.02, name="high")
    scene.contacts(high, low)
    run = simulate(scene, "implicit_first", H, 0.3)
    names = set(run.events.constraint)
    assert any(name.startswith("high[") and "|low(" in name for name in names), names
    begun = run.events[run.events.kind == "activation"].time.min()
    first = run.data.time.values[(run.data.contact_count.values > 0).argmax()]
    assert abs(begun - first) < 1e-9, f"the first contact pushes at {first:g} s, its event is at {begun:g} s"


def on_sheet(rule: str, place: float = 0.3, speed: float = 0.0) -> Scene:
    """A small sheet that lies on one whose every node is held, a square of 1 m."""
    scene = Scene()
    low = scene.cloth(grid=(3, 3), thickness=0.02, pins=range(9), release=rule, name="low")
    high = scene.cloth(grid=(2, 2), size=(0.2, 0.2), origin=(place, 0.02, 0.33), thickness=0.02, density=1,
                       velocity=(speed, 0, 0), release=rule, name="high")  # fmt: skip
    scene.contacts(high, low)
    return scene


@rules
def test_a_sheet_lifted_from_a_sheet_leaves_at_once_by_every_rule(rule):
    """What forces alone would part gets no push: rows between sheets begin each round without λ."""
    sim = taut.Simulation(on_sheet(rule), method="implicit_first", dt=H)
    sim.step(20)
    bodies = [b for b in sim.session.model.body_info if b.name.startswith("high")]
    before = {b.name: sim.state.velocity[b.name][1] for b in bodies}
    for body in bodies:
        sim.apply(body.name, force=(0, body.mass * 300.0, 0))
    sim.step(1)
    wanted = H * (300.0 - 9.81)
    for name, speed in before.items():
        got = sim.state.velocity[name][1] - speed
        assert abs(got / wanted - 1) < 0.02, f"{name}: {got:.6g} m/s, without the sheet below {wanted:.6g} m/s"
    events = np.concatenate(sim.session.events)
    begun, ended = ((events[:, 1] == kind).sum() for kind in (0, 1))
    assert begun == ended > 0, f"{begun} contacts have begun, {ended} have ended"


@rules
def test_a_node_that_slides_off_a_sheet_leaves_its_triangle_at_the_rim_by_every_rule(rule, simulate):
    run = simulate(on_sheet(rule, place=0.702, speed=0.5), "implicit_first", H, 0.4)
    position, names = run.data.position.sel(xyz="x"), ("high[1]", "high[3]")
    for name in names:
        on_triangles = run.events.constraint.str.match(re.escape(name) + r"\|low\(\d+, \d+, \d+\)")
        last = run.events[on_triangles].time.max()
        past = float(position.sel(body=name).interp(time=last)) - 1.0
        assert 0 < past < 2.01 * 0.5 * H, f"{name} left the last triangle {past:.3g} m past the rim"


@pytest.mark.parametrize("method", ["xpbd", "provot", "implicit_euler"])
def test_a_method_that_can_not_follow_a_rule_names_it(method):
    wishes = {"'cloth' has release 'velocity'.*release 'lambda' only; use implicit_first": {"rule": "velocity"},
              "'cloth' has approach 'velocity'": {"rule": "lambda", "approach": "velocity"}}  # fmt: skip
    for words, options in wishes.items():
        with pytest.raises(TautError, match=words):
            taut.simulate(on_floor(system="nodes", **options), method=method, dt=H, duration=H, progress=False)


def test_words_that_are_no_rules_are_named_and_rules_are_kept_in_files(tmp_path):
    with pytest.raises(TautError, match="release is 'glue'; choose 'lambda', 'velocity', 'voronoi' or 'paper'"):
        Scene().cloth(grid=(2, 2), release="glue")
    with pytest.raises(TautError, match="approach is 3; choose 'position' or 'velocity'"):
        Scene().cloth(grid=(2, 2), approach=3)
    on_floor("paper", "nodes", approach="velocity").save(tmp_path / "sheet.yaml")
    sheet = taut.load(tmp_path / "sheet.yaml").deformables["cloth"]
    assert (sheet.release, sheet.approach) == ("paper", "velocity")
