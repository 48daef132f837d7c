"""Obstacles, groups of contacts and joints in switches: agreement with runs pieced together by hand, events, files."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

import taut
from taut.contact.algorithms import CONTACT_METHODS

G, CUT = 9.81, 0.43
EVENTS = [name for name, method in CONTACT_METHODS.items() if method.algorithm == "event_driven"]
NAMES = [*EVENTS, "implicit_first"]


def trapdoor(start=(0.2, 1.0, 0.0), velocity=(0.5, 0.0, 0.0), door: dict | None = None, **group) -> taut.Scene:
    """A ball slides on a door above a floor."""
    scene = taut.Scene(name="trapdoor")
    ball = scene.particle(start, velocity=velocity, mass=2.0, radius=0.1, name="ball")
    things = [scene.obstacle("half_space", "floor", point=(0, -0.2, 0), normal=(0, 1, 0))]
    if door is not None:
        things.append(scene.obstacle("half_space", "door", point=(0, 0.9, 0), normal=(0, 1, 0), **door))
    scene.contacts([ball], things, restitution=0.5, name="touching", **group)
    return scene


@pytest.mark.parametrize("name", NAMES)
def test_a_door_that_opens_gives_the_run_that_is_pieced_together_from_two_scenes(name, simulate):
    h = 0.01
    run = simulate(trapdoor(door={"until": CUT}), name, h, 1.2)
    first = simulate(trapdoor(door={}), name, h, CUT)
    state = first.data.isel(time=-1)
    second = simulate(trapdoor(tuple(state.position.values[0]), tuple(state.velocity.values[0])), name, h, 1.2 - CUT)
    both = np.concatenate([first.data.position.values[:-1, 0], second.data.position.values[:, 0]])
    apart = np.abs(run.data.position.values[:, 0] - both).max()
    assert apart < 1e-9, f"{name}: {apart:.3g} m apart"
    switched = run.events[run.events.kind == "switched off"]
    assert list(switched.constraint) == ["door"] and abs(switched.time.iloc[0] - CUT) < 1e-12, run.events
    impacts = run.events[run.events.kind == "impact"]
    if CONTACT_METHODS[name].order > 1:
        assert abs(impacts.time.iloc[0] - CUT - sqrt(2 * 1.1 / G)) < 1e-9, impacts  # from 1.0 m to -0.1 m


@pytest.mark.parametrize("name", [n for n in EVENTS if CONTACT_METHODS[n].shortest < 0.5])
def test_steps_with_contacts_are_cut_where_a_switch_is(name, simulate):
    """At 0.437 s, between steps, and at a place that a condition names."""
    fall = sqrt(2 * 1.1 / G)
    timed = simulate(trapdoor(door={"until": 0.437}), name, 0.01, 1.2)
    placed = simulate(trapdoor(door={"active": "ball.x < 0.4185"}), name, 0.01, 1.2)  # 0.5 m/s from 0.2 m: 0.437 s
    for run in (timed, placed):
        when = run.events[run.events.kind == "switched off"].time.to_numpy()
        impact = run.events[run.events.kind == "impact"].time.to_numpy()[0]
        assert np.abs(when - 0.437).max() < 1e-9 and len(when) == 1, when
        assert abs(impact - 0.437 - fall) < (5e-3 if CONTACT_METHODS[name].order == 1 else 1e-9), impact
    kinds = [(event.kind, event.constraint) for event in placed.events.itertuples()]
    assert kinds[:2] == [("activation", "ball|door"), ("switched off", "door")], "trial steps leave no events"
    assert len(set(map(tuple, placed.events[["time", "kind", "constraint"]].to_numpy()))) == len(placed.events)


def test_the_reference_takes_a_switch_beside_inequalities(simulate):
    """A pendulum over a floor whose string is cut: as with baumgarte in small steps."""
    def scene() -> taut.Scene:
        made = taut.Scene(name="cut")
        bob = made.particle((1, 0, 0), radius=0.1, name="bob")
        made.distance((0, 0, 0), bob, name="string", when="bob.x > -2", until=0.55)
        floor = made.obstacle("half_space", "floor", point=(0, -1.5, 0), normal=(0, 1, 0))
        made.contacts(bob, floor, restitution=0.7, name="bounce", active="t < 5")
        return made
    truth = simulate(scene(), "reference", 0.05, 1.5)
    near = simulate(scene(), "baumgarte", 0.0025, 1.5, integrator="rk4")
    apart = np.abs(truth.data.position.values - near.data.position.values[::20]).max()
    assert apart < 1e-6, f"{apart:.3g} m"
    assert {"switched off", "impact"} <= set(truth.events.kind)


def test_balls_of_a_group_pass_through_each_other_until_it_is_on(simulate):
    def scene(**switch) -> taut.Scene:
        made = taut.Scene(name="two", gravity=(0, 0, 0))
        balls = [made.particle((s, 0, 0), velocity=(-s, 0, 0), radius=0.1, name=f"b{k}")
                 for k, s in enumerate((-1.0, 1.0))]  # fmt: skip
        made.contacts(balls, restitution=1.0, name="pair", **switch)
        return made
    free = simulate(scene(from_=1.5), "rattle", 0.01, 2.0)
    assert np.allclose(free.data.position.values[-1, :, 0], [1, -1], atol=1e-9), "they passed"
    assert list(free.events.kind) == ["switched on"] and list(free.events.constraint) == ["pair"]
    met = simulate(scene(when="b0.x > -0.5"), "rattle", 0.01, 2.0)
    assert np.allclose(met.data.position.values[-1, :, 0], [-1 - 0.2 + 0.0, 1.2], atol=0.011), met.data.position[-1]
    assert list(met.events.kind) == ["switched on", "impact"] and met.events.time[0] == pytest.approx(0.5, abs=1e-9)


def swinging(**switch) -> taut.Scene:
    scene = taut.Scene(name="swinging")
    bar = scene.rigid((0.5, 0, 0), mass=2.0, inertia=(0.01, 0.2, 0.2), name="bar")
    scene.hinge(bar.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="pin")
    scene.force(bar, value=(0, 60, 0), name="push", **switch)
    return scene


@pytest.mark.parametrize("condition", ["pin.angle < -0.5", "pin.angle_rate < -3", "pin.rate < -3"])
def test_a_condition_on_a_joint_holds_from_the_moment_at_which_its_coordinate_gets_there(condition, simulate):
    run = simulate(swinging(when=condition), "reference", 0.05, 0.7)
    (switched,) = run.events.itertuples()
    free = simulate(swinging(from_=9.0), "reference", 0.05, 0.7)
    quantity, level = (free["pin"].angle, -0.5) if "angle <" in condition else (free["pin"].rate, -3.0)
    moment = float(free.crossings(quantity, level).time[0])
    assert switched.kind == "switched on" and abs(switched.time - moment) < 1e-7, (switched.time, moment)
    by_time = simulate(swinging(from_=switched.time), "reference", 0.05, 0.7)
    assert np.abs(run.data.position.values - by_time.data.position.values).max() < 1e-8


def test_a_condition_on_a_joint_is_looked_at_in_the_pose_of_the_start(simulate):
    scene = swinging(active="pin.angle > -0.2")
    run = simulate(scene, "rattle", 0.01, 0.02)
    assert run.data.velocity.values[-1, 0, 1] > 0.0, "it is pushed upwards from the start"


def test_switches_of_obstacles_and_contacts_are_kept_in_scene_files(tmp_path):
    scene = trapdoor(door={"until": 0.5, "active": "ball.x < 3"}, from_=0.1, ease=0.02)
    scene.save(tmp_path / "scene.yaml")
    text = (tmp_path / "scene.yaml").read_text()
    again = taut.load(tmp_path / "scene.yaml")
    assert again.groups == scene.groups and again.obstacles == scene.obstacles and "from: 0.1" in text, text
    schema = taut.scene.format.schema()["properties"]
    assert {"from", "until", "active", "when", "ease"} <= schema["contacts"]["items"]["properties"].keys()
    assert all("until" in part["properties"] for part in schema["obstacles"]["items"]["anyOf"])


@pytest.mark.parametrize(("wrong", "words"), [
    (lambda: trapdoor(door={"when": "t > 1"}, when="t > 2"), "'touching' with 'door'.*both have a condition"),
    (lambda: trapdoor(door={}, active="ball.x"), "contacts 'touching': active.*compar"),
    (lambda: trapdoor(door={"active": "bell.x > 1"}), "obstacle 'door': active.*'bell'.*ball"),
    (lambda: trapdoor(door={}, until=1.0, from_=2.0), "contacts 'touching'.*never"),
    (lambda: trapdoor(door={}, frictoin=1.0), "contacts 'touching' 'frictoin'.*friction"),
    (lambda: swinging(when="pin.angel > 1"), "push.*when.*pin.angel.*pin.angle"),
    (lambda: swinging(when="pim.angle > 1"), "push.*when.*unknown body or joint 'pim'.*pin"),
])  # fmt: skip
def test_bad_switches_are_named_with_the_remedy(wrong, words):
    with pytest.raises(taut.TautError, match=words):
        wrong()


def test_switches_of_crowds_and_of_what_touches_cloth_are_refused_by_name():
    crowd = taut.Scene()
    balls = [crowd.particle((k, 0, 0), radius=0.1) for k in range(70)]
    crowd.contacts(balls, name="crowd", until=1.0)
    with pytest.raises(taut.TautError, match="'crowd' is switched.*more than 2000 pairs.*leave"):
        taut.simulate(crowd, "implicit_first", 0.01, 0.1, progress=False)
    cloth = taut.gallery("cloth_hang", n=4)
    floor = cloth.obstacle("half_space", "floor", point=(0, -9, 0), normal=(0, 1, 0), until=1.0)
    with pytest.raises(taut.TautError, match="'floor' is switched.*leave its switch out"):
        cloth.contacts(list(cloth.deformables)[0], floor)
