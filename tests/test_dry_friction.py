"""Dry friction on joints: it holds below its limit, slides by Coulomb's law above it, and says where it can not."""

from __future__ import annotations

import numpy as np
import pytest
from words_runs import interrupted

import taut
from taut.methods import METHODS
from taut.result import Store, older
from taut.result.records import Records

STICKING = [name for name, method in METHODS.items() if method.sticks and method.coordinates == "maximal"]
INERTIA, MASS, GRAVITY = 0.4, 2.0, 9.81


def wheel(torque, load=None, rate=0.0):
    """A wheel on an axis askew in space, without gravity."""
    scene = taut.Scene(gravity=(0, 0, 0))
    body = scene.rigid((0, 0, 0), mass=MASS, inertia=(INERTIA,) * 3, name="body")
    pin = scene.hinge(body, (0, 0, 0), axis=(1, 2, 2), rate=rate, name="pin")
    scene.joint_friction(pin, torque=torque, name="dry")
    if load is not None:
        scene.motor(pin, torque=load, name="load")
    return scene


def pendulum(torque, angle=0.3):
    scene = taut.Scene(gravity=(0, -GRAVITY, 0))
    arm = np.array([0.5 * np.sin(angle), -0.5 * np.cos(angle), 0.0])
    body = scene.rigid(arm, mass=MASS, inertia=(0.1, 0.1, 0.1), name="body")
    pin = scene.hinge(body.at(-arm), (0, 0, 0), axis=(0, 0, 1), name="pin")
    scene.joint_friction(pin, torque=torque, name="dry")
    return scene


def block(force, incline=0.5, **given):
    """A block on inclined rails."""
    scene = taut.Scene(gravity=(0, -GRAVITY, 0))
    body = scene.rigid((0, 0, 0), mass=MASS, inertia=(1, 1, 1), name="body")
    rail = scene.slider(body, (0, 0, 0), axis=(np.cos(incline), -np.sin(incline), 0), name="rail", **given)
    scene.joint_friction(rail, force=force, name="dry")
    return scene


def chain(factor, links=6):
    """A horizontal arm whose joints hold `factor` times what gravity asks of them, and what that is."""
    scene = taut.Scene(gravity=(0, -GRAVITY, 0))
    before, loads = None, []
    for i in range(links):
        body = scene.rigid((0.5 + i, 0, 0), shape={"box": (1.0, 0.1, 0.1)}, mass=1.0, name=f"link{i}")
        pin = scene.hinge(body.at((-0.5, 0, 0)), before.at((0.5, 0, 0)) if before else (0, 0, 0), axis=(0, 0, 1),
                          name=f"pin{i}")  # fmt: skip
        loads.append(GRAVITY * sum(0.5 + k for k in range(links - i)))
        scene.joint_friction(pin, torque=factor * loads[-1], name=f"dry{i}")
        before = body
    return scene, loads


@pytest.mark.parametrize("method", STICKING)
def test_a_joint_below_its_limit_stays_where_it_is_for_minutes(method, simulate):
    load = MASS * GRAVITY * 0.5 * np.sin(0.3)
    run = simulate(pendulum(1.02 * load), method=method, dt=0.01, duration=180.0, record_every=100)
    moved = np.abs(run["pin"].angle.values).max()
    assert moved < 1e-12, f"the pendulum creeps by {moved:.3g} rad"
    effort = float(run["dry"].effort[-1])
    # The J of fast_projection belongs to where bodies would fall in a step.
    near = 0.02 * load if method == "fast_projection" else 1e-4 if METHODS[method].rings else 1e-9
    assert abs(effort - load) < near, f"friction holds with {effort:.9g} N m, the load is {load:.9g} N m"
    run = simulate(block(1.01 * MASS * GRAVITY * np.sin(0.5)), method=method, dt=0.01, duration=60.0, record_every=100)
    moved = np.abs(run["rail"].displacement.values).max()
    assert moved < 1e-12, f"the block creeps by {moved:.3g} m"


@pytest.mark.parametrize("method", STICKING)
def test_a_load_that_changes_below_the_limit_moves_nothing_in_the_mean(method, simulate):
    """Within a step friction is constant, so that a joint gives by some h² and comes back: there is no creep."""
    run = simulate(wheel(1.0, "0.9*sin(3*t)"), method=method, dt=2e-3, duration=40.0, record_every=25)
    angle = np.abs(run["pin"].angle.values)
    first, last = angle[: len(angle) // 2].max(), angle[len(angle) // 2 :].max()
    assert last < 4e-6 and last < 1.01 * first + 1e-10, f"{first:.3g} rad in the first half, then {last:.3g} rad"


@pytest.mark.parametrize("method", STICKING)
def test_a_sliding_joint_slows_down_as_coulomb_says_and_stops(method, simulate):
    """I q̈ = -T: stops after I ω/T at I ω²/(2T), and friction has taken T times the angle."""
    h, torque, rate = 1e-3, 0.3, 2.0
    run = simulate(wheel(torque, rate=rate), method=method, dt=h, duration=4.0)
    t, angle, rates = run.records.time, run["pin"].angle.values, run["pin"].rate.values
    slides = t < INERTIA * rate / torque - h
    error = np.abs(rates - (rate - torque / INERTIA * t))[slides].max()
    assert error < 1e-11, f"the rate of the sliding wheel is off by {error:.3g} rad/s"
    first_order = METHODS[method].order == 1
    end = INERTIA * rate**2 / (2 * torque)
    assert abs(angle[-1] - end) < (2 * h if first_order else 2 * h**2), f"stops at {angle[-1]:.9g}, not {end:.9g} rad"
    assert abs(rates[-1]) < 1e-15, f"it still turns at {rates[-1]:.3g} rad/s"
    work = float(run.data.energy_force_work[-1]) + torque * angle[-1]
    assert abs(work) < (2 * h if first_order else h**2), f"the work is off by {work:.3g} J from torque times angle"
    if not first_order:
        assert float(abs(run.data.energy_drift).max()) < 1e-12


@pytest.mark.parametrize("method", ["implicit_second", "rattle", "generalized_alpha"])
def test_a_joint_breaks_away_when_the_load_passes_the_limit(method, simulate):
    """A load t against a limit of 1: from t = 1 on I q̈ = t - 1, so that q = (t - 1)³/(6 I)."""
    errors = []
    for h in (4e-3, 2e-3):
        run = simulate(wheel(1.0, "t"), method=method, dt=h, duration=2.0)
        t, angle = run.records.time, run["pin"].angle.values
        assert np.abs(angle[t < 1.0]).max() < h**2
        errors.append(abs(angle[-1] - 1 / (6 * INERTIA)))
    assert errors[1] < 0.3 * errors[0] < 1e-4, f"errors {errors} do not fall with h²"


@pytest.mark.parametrize("method", ["implicit_first", "rattle"])
def test_all_joints_of_an_arm_hold_together_or_fall(method, simulate):
    scene, loads = chain(1.01)
    run = simulate(scene, method=method, dt=2e-3, duration=10.0, record_every=50)
    moved = max(np.abs(run[f"pin{i}"].angle.values).max() for i in range(len(loads)))
    found = [float(run[f"dry{i}"].effort[-1]) for i in range(len(loads))]
    assert moved < 1e-12, f"the arm creeps by {moved:.3g} rad"
    assert np.allclose(found, loads, rtol=1e-9), f"efforts {found}, loads {loads}"
    run = simulate(chain(0.99)[0], method=method, dt=2e-3, duration=0.5, record_every=50)
    assert float(run["pin0"].angle[-1]) < -1e-4, "the first joint has to give way"


@pytest.mark.filterwarnings("ignore:.*redundant")
@pytest.mark.parametrize("load, holds", [(5.9, True), (6.1, False)])
def test_joints_of_a_loop_share_a_load_up_to_the_sum_of_their_limits(load, holds, simulate):
    """All angles of a parallelogram change by the same amount: limits 1, 2, 2, 1 hold 6 N m, however it is shared."""
    scene = taut.Scene(gravity=(0, 0, 0))
    a = scene.rigid((0, 0.5, 0), shape={"box": (0.1, 1, 0.1)}, mass=1, name="a")
    b = scene.rigid((0.5, 1, 0), shape={"box": (1, 0.1, 0.1)}, mass=1, name="b")
    c = scene.rigid((1, 0.5, 0), shape={"box": (0.1, 1, 0.1)}, mass=1, name="c")
    z = {"axis": (0, 0, 1)}
    pins = [scene.hinge(a.at((0, -0.5, 0)), (0, 0, 0), name="A", **z),
            scene.hinge(b.at((-0.5, 0, 0)), a.at((0, 0.5, 0)), name="B", **z),
            scene.hinge(b.at((0.5, 0, 0)), c.at((0, 0.5, 0)), name="C", **z),
            scene.hinge(c.at((0, -0.5, 0)), (1, 0, 0), name="D", **z)]  # fmt: skip
    for pin, limit in zip(pins, (1, 2, 2, 1)):
        scene.joint_friction(pin, torque=limit)
    scene.motor(pins[0], torque=load)
    run = simulate(scene, method="implicit_first", dt=2e-3, duration=1.0, record_every=10)
    moved = np.abs(run["A"].angle.values).max()
    assert moved < 1e-12 if holds else moved > 0.01, f"it moves by {moved:.3g} rad"


@pytest.mark.parametrize("method, tolerance", [("implicit_first", 5e-3), ("rattle", 1e-6)])
def test_a_joint_at_rest_gives_way_to_an_impact(method, tolerance, simulate):
    """A bounded force is nothing against an impulse: the block takes over the ball's velocity, then stops by itself."""
    scene = taut.Scene(gravity=(0, 0, 0))
    block = scene.rigid((0, 0, 0), shape={"sphere": 0.1}, mass=1.0, name="block")
    rail = scene.slider(block, (0, 0, 0), axis=(1, 0, 0), name="rail")
    scene.joint_friction(rail, force=5.0, name="dry")
    ball = scene.rigid((-0.3, 0, 0), shape={"sphere": 0.1}, mass=1.0, velocity=(1, 0, 0), name="ball")
    scene.contacts([ball, block], restitution=1.0)
    run = simulate(scene, method=method, dt=1e-3, duration=1.0)
    end = float(run["rail"].displacement[-1])
    assert abs(end - 1 / (2 * 5.0)) < tolerance, f"the block goes {end:.6g} m, not 0.1 m"
    assert abs(float(run["rail"].rate[-1])) < 1e-14


def test_friction_holds_again_after_it_was_switched_on(simulate):
    scene = taut.Scene(gravity=(0, 0, 0))
    body = scene.rigid((0, 0, 0), mass=MASS, inertia=(INERTIA,) * 3, name="body")
    pin = scene.hinge(body, (0, 0, 0), axis=(0, 0, 1), rate=1.0, name="pin")
    scene.joint_friction(pin, torque=0.4, from_=0.5, name="dry")
    run = simulate(scene, method="rattle", dt=1e-3, duration=2.0)
    end = float(run["pin"].angle[-1])
    assert abs(end - (0.5 + 0.5)) < 1e-6, f"half a second at 1 rad/s, then I ω²/(2T) = 0.5 rad: {end:.9g}"


@pytest.mark.parametrize("method", ["reference", "radau"])
def test_methods_that_can_not_hold_say_so_once(method, simulate):
    run = simulate(wheel(1.0, 0.5), method=method, dt=0.1, duration=1.0)
    told = [note for note in run.notes if "dry friction" in note]
    assert len(told) == 1 and "'dry'" in told[0] and "creeps" in told[0], run.notes
    run = simulate(wheel(1.0, 0.5), method="rattle", dt=0.1, duration=1.0)
    assert not [note for note in run.notes if "dry friction" in note]


def test_a_run_with_friction_goes_on_bit_by_bit_after_an_interruption(tmp_path, monkeypatch):
    scene, _ = chain(0.5, links=3)
    given = {"method": "rattle", "dt": 2e-3, "duration": 0.6}
    whole = taut.simulate(scene, **given)
    with interrupted(monkeypatch, steps=100):
        part = taut.simulate(scene, out=tmp_path / "run", durable=False, **given)
    assert part.status == "interrupted" and part.steps < 300
    run = taut.resume(tmp_path / "run", progress=False, durable=False)
    assert run.status == "finished" and np.array_equal(run.records.x, whole.records.x), "it went on differently"


# Runs stored before joint friction could stick


def arm_with_friction():
    """A joint with friction between places of the world that other forces name, before it and after it."""
    scene = pendulum(torque=3.0)
    scene.spring((1, 1, 0), "body", stiffness=3.0, length=0.4, name="left")
    scene.joint_friction("pin", torque=2.0, name="more")
    scene.spring("body", (-1, 1, 0), stiffness=5.0, length=0.4, name="right")
    return scene


@pytest.fixture
def as_before(monkeypatch):
    """Runs are stored as they were before: a smooth law, and no slots where forces of friction are kept."""
    create, append, shapes = Store.create.__func__, Store.append, Records.shapes

    def shapes_before(model):
        less = len(older.keepers(model))
        return {name: (shape[0] - less, *shape[1:]) if name in older.OF_SLOTS and shape[0] else shape
                for name, shape in shapes(model).items()}  # fmt: skip

    def create_before(cls, path, scene, model, *given, **named):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Records, "shapes", staticmethod(shapes_before))
            store = create(cls, path, scene, model, *given, **named)
        store.fit(model)
        return store

    def append_before(store, chunk, state, step, *events):
        slots = store._lacking
        count = len(state["x"])
        state = {name: np.delete(values, slots, axis=0) if values.ndim and len(values) == count else values
                 for name, values in state.items()}  # fmt: skip
        append(store, chunk, state, step, *events)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "create", classmethod(create_before))
        patch.setattr(Store, "append", append_before)
        patch.setattr("taut.simulation.session.with_friction", lambda system, *_: system)
        yield patch


@pytest.mark.parametrize("method", ["rattle", "implicit_first", "reference"])
def test_a_run_of_before_goes_on_with_its_smooth_law_and_tells_its_forces(method, tmp_path, as_before, monkeypatch):
    given = {"method": method, "dt": 1e-3, "duration": 0.2, "progress": False, "durable": False}
    whole = taut.simulate(arm_with_friction(), **given)
    with interrupted(monkeypatch, steps=100):
        taut.simulate(arm_with_friction(), **given, out=tmp_path / "run.taut")
    as_before.undo()
    shape = taut.open(tmp_path / "run.taut").records.x.shape
    run = taut.resume(tmp_path / "run.taut", progress=False)
    again = taut.open(tmp_path / "run.taut")
    assert run.status == "finished" and shape[1:] == whole.records.x.shape[1:], (run.status, shape)
    for one in (run, again):
        for name in ("dry", "more", "left", "right"):
            off = np.abs(one[name].force.values - whole[name].force.values).max() / 10.0
            off = max(off, np.abs(one[name].torque.values - whole[name].torque.values).max())
            assert off < 1e-12, f"{name}: {off:.1e}"
        off = np.abs(one.records.x - whole.records.x).max()
        assert off < 1e-13, f"{off:.1e} m"
