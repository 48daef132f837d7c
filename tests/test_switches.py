"""Constraints and forces that are switched by time or by conditions: laws for every method and every kind."""

from __future__ import annotations

import json

import numpy as np
import pytest
from words_constraints import add, cast

import taut
from taut.analysis.mechanics.doctor import examine
from taut.constraints import KINDS
from taut.forces import KINDS as FORCES
from taut.methods import METHODS
from taut.simulation.dense import dense

ABLE = [m.name for m in METHODS.values() if m.step is not None and m.coordinates != "reduced"]
OPTIONS = {"penalty": {"alpha": 1e4, "beta": 10.0}}
CUT, END = 0.4, 0.8


def pendulum(**switch) -> taut.Scene:
    scene = taut.Scene(name="pendulum")
    scene.particle((1, 0, 0), velocity=(0, 0, 0.5), name="bob")
    scene.distance("bob", (0, 0, 0), name="string", **switch)
    return scene


def free_flight(run: taut.Run, since: float) -> np.ndarray:
    """How far the bob is from the parabola that it had at the time `since`, at the end."""
    now = run.data.sel(body="bob", time=since, method="nearest")
    t = float(run.data.time[-1]) - since
    fallen = now.position.values + t * now.velocity.values - [0, 0.5 * 9.81 * t**2, 0]
    return run.data.position.sel(body="bob").values[-1] - fallen


@pytest.fixture(scope="module")
def exact(simulate) -> taut.Run:
    return simulate(pendulum(until=CUT), "reference", 0.1, END)


@pytest.mark.parametrize("method", ABLE)
def test_what_a_string_held_flies_on_a_parabola_once_it_is_cut_to_the_order_of_the_method(method, simulate, exact):
    runs = {n: simulate(pendulum(until=CUT), method, END / n, END, **OPTIONS.get(method, {})) for n in (40, 80)}
    after = runs[40].data.sel(time=slice(CUT + 1e-9, None))
    assert (after.multiplier == 0).all() and (after.constraint_error == 0).all()
    assert list(runs[40].events.kind) == ["switched off"] and abs(runs[40].events.time[0] - CUT) < 1e-12
    # Order 1 of symplectic Euler: half a step of gravity; all others follow a parabola exactly.
    bound = 0.5 * 9.81 * (END - CUT) * END / 40 if METHODS[method].order == 1 else 1e-10
    flown = free_flight(runs[40], CUT + END / 40)
    assert np.abs(flown).max() < bound, flown
    if method not in ("penalty", "reference"):  # whose string stretches; which is the yardstick
        wanted = exact.data.position.sel(body="bob").values[-1]
        off = [np.abs(run.data.position.sel(body="bob").values[-1] - wanted).max() for run in runs.values()]
        order = np.log2(off[0] / off[1])
        print(f"{method}: {off}, order {order:.2f}")
        assert order > METHODS[method].order - 0.35 or off[1] < 1e-9


@pytest.mark.parametrize("method", [name for name in ABLE if METHODS[name].shortest < 0.5 and name != "penalty"])
def test_a_step_is_cut_at_the_time_of_a_switch(method, simulate):
    """A time inside a step costs no accuracy."""
    off = []
    for until in (0.3123, 0.32):
        wanted, found = (simulate(pendulum(until=until), name, h, END).data.position.sel(body="bob").values[-1]
                         for name, h in (("reference", 0.1), (method, 0.02)))  # fmt: skip
        off.append(np.abs(found - wanted).max())
    print(f"{method}: off by {off[0]:.2g} m, where the switch is the end of a step by {off[1]:.2g} m")
    assert off[0] < 2.0 * off[1] + 1e-9


@pytest.mark.parametrize("method", ABLE)
def test_a_distance_that_does_not_hold_is_taken_over_smoothly(method, simulate):
    """Neither place nor velocity jumps, the acceleration is bounded by that of the blend, and Φ ends at zero."""
    ease, h = 0.2, 0.005
    tolerance = {"tolerance": 1e-11} if METHODS[method].takes_tolerance and method != "reference" else {}
    scene = taut.Scene(name="caught", gravity=(0, 0, 0))
    scene.particle((1, 0, 0), velocity=(0.5, 0.3, 0), name="bob")
    scene.distance("bob", (0, 0, 0), length=1.3, from_=0.1, ease=ease, name="string")
    run = simulate(scene, method, h, 0.6, **tolerance, **OPTIONS.get(method, {}))
    v = run.data.velocity.sel(body="bob").values
    worst = np.abs(np.diff(v, axis=0)).max() / h
    away, rate = 1.3 - np.hypot(1.05, 0.03), 0.5
    bound = 1.1 * (5.78 * away / ease**2 + 5.0 * rate / ease)
    left = np.abs(run.data.constraint_error.values[-1]).max()
    print(f"{method}: acceleration {worst:.3g} of {bound:.3g} m/s², Φ {left:.2g} m in the end")
    assert worst < bound
    apart = np.linalg.norm(run.data.position.sel(body="bob").values[-1])
    assert abs(apart - 1.3) == pytest.approx(left, abs=1e-12), "after the ease, Φ is what was asked"
    held = tolerance or METHODS[method].order_position is None
    assert left < (1e-9 if held else 3e-2 if method == "penalty" else 1e-4)


@pytest.mark.parametrize("method", ["lagrange", "implicit_second", "rattle", "reference"])
def test_energy_is_accounted_for_across_switches(method, simulate):
    """What easing and a spring that comes and goes give and take stands in the ledger."""
    scene = taut.Scene(name="ledger")
    scene.particle((1, 0, 0), name="bob")
    scene.distance("bob", (0, 0, 0), length=1.2, from_=0.1, ease=0.2, name="string")
    scene.spring("bob", (0, 0, 0), stiffness=50.0, length=0.7, from_=0.05, until=0.35, name="spring")
    runs = [simulate(scene, method, h, 0.5) for h in (0.01, 0.005)]
    drift = [float(abs(run.data.energy_drift).max()) for run in runs]
    change = float(abs(runs[0].data.energy_total - runs[0].data.energy_total[0]).max())
    print(f"{method}: drift {drift} of a change of {change:.3g} J")
    assert change > 1.0 and drift[1] < max(0.35 * drift[0], 1e-7)


def test_a_force_acts_between_its_times_and_nowhere_else(simulate):
    scene = taut.Scene(name="push", gravity=(0, 0, 0))
    scene.particle((0, 0, 0), mass=2.0, name="a")
    scene.force("a", value=(3, 0, 0), from_=0.2, until=0.5, name="push")
    for method in ("implicit_second", "rattle"):
        run = simulate(scene, method, 0.01, 1.0)
        assert run.data.velocity.sel(body="a").values[-1] == pytest.approx([0.45, 0, 0], abs=1e-14)
    assert list(run.events.kind) == ["switched on", "switched off"]
    assert run.events.time.values == pytest.approx([0.2, 0.5])
    acting = np.abs(run["push"].force.values).sum(axis=(1, 2)) > 0
    assert acting.sum() == 30, "at the records between, the first of which was kept before it began"


def motor(condition: str) -> taut.Scene:
    scene = taut.Scene(name="motor")
    arm = scene.rigid((0.5, 0, 0), shape={"box": (1, 0.1, 0.1)}, density=100, name="arm")
    pin = scene.hinge(arm.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="pin")
    scene.motor(pin, torque=8.0, active=condition, name="motor")
    return scene


def test_a_motor_is_switched_by_a_condition_at_the_moment_at_which_it_changes(simulate):
    """Where the arm is below -0.3 m it is pushed; event times are those of the crossing, for any method."""
    scene = motor("arm.y < -0.3")
    runs = {method: simulate(scene, method, 0.01, 2.0) for method in ("rattle", "reference")}
    events = {method: run.events for method, run in runs.items()}
    assert list(events["reference"].kind[:3]) == ["switched on", "switched off", "switched on"]
    assert events["rattle"].time.values[:3] == pytest.approx(events["reference"].time.values[:3], abs=2e-4)
    run = runs["reference"]
    pushed = run["motor"].effort.values > 0
    y = run.data.position.sel(body="arm").values[:, 1]
    assert (pushed == (y < -0.3)).all() and pushed.any() and not pushed.all()
    assert float(abs(run.data.energy_drift).max()) < 1e-8


def test_when_latches_and_active_does_not(simulate):
    for word, kinds in (("when", ["switched on"]), ("active", ["switched on", "switched off"])):
        scene = taut.Scene(name="thrown")
        scene.particle((0, 0, 0), velocity=(0, 3, 0), name="a")
        scene.force("a", value=(0.1, 0, 0), name="side", **{word: "a.y > 0.2"})
        assert list(simulate(scene, "rattle", 0.01, 0.6).events.kind) == kinds


def test_a_velocity_condition_is_taken_over_without_a_jump(simulate):
    """A skate that is put down while it slides sideways: the slip fades, and then it is gone."""
    scene = taut.Scene(name="skate", gravity=(0, 0, 0))
    scene.rigid((0, 0, 0), mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 1), name="blade")
    scene.skate("blade", direction=(1, 0, 0), normal=(0, 1, 0), from_=0.1, ease=0.2, name="edge")
    run = simulate(scene, "rattle", 0.01, 0.5)
    side = run.data.velocity.sel(body="blade").values[:, 2]
    assert side[10] == 1.0 and np.abs(np.diff(side)).max() < 1.1 * 1.875 / 0.2 * 0.01
    assert abs(side[-1]) < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_a_constraint_of_any_kind_that_is_off_is_as_if_it_were_not_there(kind, simulate):
    runs: list[taut.Run] = []
    unilateral = False
    for switch in ({"from_": 1e6}, None):
        scene = taut.Scene(name=kind)
        bodies = cast(scene)
        example = KINDS[kind].examples[0]
        if switch is not None:
            add(scene, bodies, kind, example._replace(arguments=example.arguments | switch))
        else:  # what the example needs of others
            for point in example.points:
                if hasattr(point, "kind") and point.kind:
                    add(scene, bodies, point.kind, point)
        unilateral = unilateral or scene.is_unilateral
        if unilateral:  # so that the same algorithm runs
            scene.half_space("p", point=(0, -1e3, 0), normal=(0, 1, 0), name="abyss")
        method = "implicit_first" if unilateral else "implicit_second"
        runs.append(simulate(scene, method, 0.01, 0.03, start="as_given"))
    names = list(runs[1].data.body.values)  # joints of examples are broken at the start, so forces are large
    there, without = (run.data.position.sel(body=names).values for run in runs)
    assert np.allclose(there, without, rtol=0, atol=1e-9)
    own = [name for name in runs[0].data.constraint.values if name.split("[")[0] not in
           {str(n).split("[")[0] for n in runs[1].data.constraint.values}]
    assert own and (runs[0].data.multiplier.sel(constraint=own) == 0).all()


@pytest.mark.parametrize("method", ["implicit_first", "baumgarte", "rattle"])
def test_an_inequality_is_switched_too(method, simulate):
    """A floor that opens, and one that appears inside a ball and lifts it out without a jump."""
    scene = taut.Scene(name="trapdoor")
    scene.particle((0, 0.1, 0), radius=0.1, name="ball")
    scene.half_space("ball", point=(0, 0, 0), normal=(0, 1, 0), until=0.1, name="trapdoor")
    scene.half_space("ball", point=(0, -0.02, 0), normal=(0, 1, 0), from_=0.2, ease=0.2, name="net")
    run = simulate(scene, method, 0.005, 1.0)
    y = run.data.position.sel(body="ball").values[:, 1]
    v = run.data.velocity.sel(body="ball").values[:, 1]
    assert np.abs(y[:21] - 0.1).max() < 1e-6 and y[40] < 0.1 - 0.04
    assert np.abs(np.diff(v)).max() < 0.6 and y[-1] == pytest.approx(0.08, abs=1e-6)
    kinds = run.events[run.events.kind.str.startswith("switched")]
    assert list(kinds.constraint) == ["trapdoor", "net"]


def test_a_reference_run_is_known_between_records_across_a_switch(simulate):
    scene = pendulum(until=0.33)
    coarse, fine = (simulate(scene, "reference", h, 0.5) for h in (0.25, 0.05))
    found = dense(coarse, fine.records.time)
    assert np.abs(found.records.x[:, 0] - fine.records.x[:, 0]).max() < 1e-9


def test_a_restored_simulation_goes_on_bit_for_bit_in_the_middle_of_an_ease():
    scene = taut.gallery("catch_and_throw", catch=0.03, throw=0.15)
    one = taut.Simulation(scene, method="rattle", dt=0.005)
    one.step(9)
    saved = one.save_state()
    one.step(30)
    other = taut.Simulation(scene, method="rattle", dt=0.005)
    other.restore_state(saved)
    other.step(30)
    assert one.state.record.x.tobytes() == other.state.record.x.tobytes()
    assert one.state.record.v.tobytes() == other.state.record.v.tobytes()


def test_the_start_asks_nothing_of_what_is_off():
    scene = taut.Scene(name="later")
    scene.particle((1, 0, 0), velocity=(1, 0, 0), name="bob")
    scene.distance("bob", (0, 0, 0), length=5.0, from_=1.0, name="far")
    scene.distance("bob", (0, 1, 0), active="t > 2", name="near")
    scene.distance("bob", (0, 1, 0), length=9.0, when="bob.y < -100", name="third")
    run = taut.simulate(scene, method="rattle", dt=0.01, duration=0.1, progress=False)
    assert run.notes == [] and run.info["singular_systems"] == 0
    found = {finding.topic: finding.value for finding in examine(scene)}
    assert found["degrees of freedom"] == "3" and found["switched off"] == "far, near, third"


def test_a_scene_with_switches_survives_its_own_file(tmp_path):
    scene = pendulum(from_=0.5, until=2.0, active="bob.y < 0 or bob.vx > 1e-3", ease=0.3)
    scene.force("bob", value=(1, 0, 0), when="not t < 2", name="push")
    path = scene.save(tmp_path / "scene.yaml")
    assert "from: 0.5" in path.read_text() and taut.load(path) == scene


def test_the_schema_has_the_keys_for_every_kind():
    from taut.scene.schema import schema

    sections = schema()["properties"]
    for section, kinds, keys in (("constraints", KINDS, {"from", "until", "active", "when", "ease"}),
                                 ("forces", FORCES, {"from", "until", "active", "when"})):  # fmt: skip
        entries = [entry["properties"] for entry in sections[section]["items"]["anyOf"] if "many" not in
                   entry["properties"]]
        assert {entry["kind"]["const"] for entry in entries} == set(kinds)
        assert all(keys <= entry.keys() for entry in entries)
        assert "ease" in json.dumps(entries) or section == "forces"


@pytest.mark.parametrize(
    ("switch", "words"),
    [
        ({"active": "bob.y"}, ("string", "bob.y", "compare")),
        ({"active": "bob.y <"}, ("string", "can not be read")),
        ({"active": "bobb.y < 0"}, ("string", "bobb", "bob")),
        ({"active": "bob.q < 0"}, ("string", "bob.q")),
        ({"when": "t == 2"}, ("string", "t == 2", "<=")),
        ({"when": "t > __import__('os')"}, ("string", "when")),
        ({"when": ""}, ("string", "when")),
        ({"active": 3}, ("string", "active", "3")),
        ({"from_": 2.0, "until": 1.0}, ("string", "2 s", "1 s", "later")),
        ({"from_": "2"}, ("string", "from", "2")),
        ({"until": 1.0, "ease": 0.0}, ("string", "ease", "greater")),
        ({"ease": 0.5}, ("string", "ease", "switches")),
    ],
)
def test_a_switch_that_makes_no_sense_is_named_with_its_remedy(switch, words):
    with pytest.raises(taut.TautError) as caught:
        pendulum(**switch)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_force_has_no_ease_and_reduced_coordinates_no_switched_constraint():
    scene = pendulum(until=1.0)
    with pytest.raises(taut.TautError, match="ease"):
        scene.force("bob", value=(1, 0, 0), until=1.0, ease=0.1)
    with pytest.raises(taut.TautError, match="'string' is switched"):
        taut.simulate(scene, method="reduced", dt=0.01, duration=0.1)
