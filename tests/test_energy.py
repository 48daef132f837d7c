"""Energy: what drivers and forces put in, what impacts and friction take, and what is left: the method's error."""

from __future__ import annotations

import numpy as np
import pytest

import taut
from taut.cli import main
from taut.methods import METHODS
from taut.result.records import Records

FIXED_STEP = [name for name, method in METHODS.items() if not method.adaptive and not method.is_for_deformables_only]
SLACK = 0.25
ROUNDING = 1e-10  # [J] that a few thousand steps may leave


def stretched() -> taut.Scene:
    """Two rods, one of which changes its length, and a spring; moving from the start."""
    scene = taut.Scene(name="stretched")
    a = scene.particle((0, 0, 0), fixed=True)
    b = scene.particle((0.6, -0.8, 0), velocity=(0.8, 0.6, 1.0))
    c = scene.particle((1.2, -0.8, 0.8), velocity=(1.0, 1.0, 0.0))
    scene.distance(a, b, length="1 + 0.3*sin(2*t)")
    scene.distance(b, c)
    scene.spring(c, (1, 0, 0), stiffness=20)
    return scene


def pulled() -> taut.Scene:
    """A rigid body on a spring that a driven point pulls, with everything that has no potential."""
    scene = taut.Scene(name="pulled")
    hand = scene.particle(path=("0.3*sin(2*t)", "0.2*t", 0))
    body = scene.rigid((0, -1, 0), mass=1.0, inertia=(0.15, 0.1, 0.2), angular_velocity=(0.5, 1.0, 2.0))
    bob = scene.particle((0.5, -2, 0), mass=0.5)
    scene.distance(body.at((0, -0.5, 0)), bob)
    scene.spring(hand, body.at((0, 0.5, 0)), stiffness=30, length="0.5 + 0.2*sin(3*t)", damping=0.5)
    scene.drag(bob, coefficient=0.3)
    scene.force(bob, value=("2*sin(4*t)", 0, "t"))
    scene.torque(body, value=(0.1, "0.2*cos(t)", 0))
    return scene


def shaken() -> taut.Scene:
    """A pendulum on an anchor that is driven, without formulas for reduced coordinates."""
    scene = taut.gallery("driven_anchor")
    scene.reduced_map = None
    return scene


DRIVEN = {
    "driven_anchor": lambda: taut.gallery("driven_anchor"),
    "bead_on_hoop": lambda: taut.gallery("bead_on_hoop", rate=3.0, angle=0.8),
    "car_axis": lambda: taut.gallery("car_axis"),
    "shaken": shaken,
    "stretched": stretched,
    "pulled": pulled,
}


def largest_drift(run: taut.Run) -> float:
    return float(np.abs(run.records.energy_drift()).max())


@pytest.mark.parametrize("scene", DRIVEN)
@pytest.mark.parametrize("name", [name for name in FIXED_STEP if not METHODS[name].is_soft])
def test_energy_less_what_drivers_and_forces_did_is_kept_to_the_order_of_the_method(name, scene, simulate, slope):
    made, method = DRIVEN[scene](), METHODS[name]
    reason = method.refusal(taut.build(made))
    if reason:
        pytest.skip(reason)
    steps = [80, 160, 320] if method.order_energy > 2 else [320, 640]
    off = np.array([largest_drift(simulate(made, name, 1 / n, 1.0)) for n in steps])
    seen = np.flatnonzero(off > ROUNDING)[-2:]
    if len(seen) < 2:
        assert off[-1] < ROUNDING, f"{off} J"
        return
    found = slope(1 / np.array(steps)[seen], off[seen])
    assert found > method.order_energy - SLACK, f"falls with order {found:.2f}, declared {method.order_energy}: {off} J"


@pytest.mark.parametrize("scene", DRIVEN)
def test_the_reference_closes_the_balance_over_any_record_interval(scene, simulate):
    run = simulate(DRIVEN[scene](), "reference", 1.0, 2.0, tolerance=1e-12)
    done = float(np.abs(run.records.energy[-1, 2:4]).sum())
    assert done > 1e-5, f"drivers and forces did only {done:.3g} J"
    off = largest_drift(run)
    assert off < 1e-9, f"{off:.3g} J of {done:.3g} J"


def test_scenes_without_drivers_count_nothing():
    """And so do not pay for it."""
    for name in ("two_link", "chain", "four_bar", "spring_to_rod"):
        assert not taut.build(taut.gallery(name)).accumulates_work, name
    for name, scene in DRIVEN.items():
        assert taut.build(scene()).accumulates_work, name


def test_work_of_a_driver_in_closed_form(simulate):
    """A mass lifted along a line: work = kinetic energy + m g y of the given path, at every record."""
    scene = taut.Scene()
    mass = scene.particle((0, 0, 0), mass=2.0, velocity=(0, 3, 0))
    scene.fixed_point(mass, place=(0, "3*sin(t)", 0))
    for name in ("reference", "rattle_fourth", "implicit_second"):
        data = simulate(scene, name, 0.01, 2.0).data
        t = data.time.values
        work = 0.5 * 2.0 * 9.0 * (np.cos(t) ** 2 - 1.0) + 2.0 * 9.81 * 3.0 * np.sin(t)
        off = np.abs(data.energy_driver_work.values - work).max()
        bound = 1e-3 if name == "implicit_second" else 1e-7
        assert off < bound, f"{name}: off by {off:.3g} J"


# Contacts


def falling(restitution: float = 0.0, friction: float = 0.0, height: float = 1.0, speed: float = 0.0) -> taut.Scene:
    scene = taut.Scene(name="falling")
    ball = scene.particle((0, height, 0), mass=2.0, radius=0.1, velocity=(speed, 0, 0), name="ball")
    floor = scene.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0), name="floor")
    scene.contacts([ball], [floor], restitution=restitution, friction=friction)
    return scene


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_an_impact_takes_its_share_of_the_kinetic_energy_and_no_drift_is_left(restitution, simulate):
    """Dropped from 0.9 m: m g 0.9 (1 - e²) at the first impact, and nothing else changes the energy."""
    data = simulate(falling(restitution), "baumgarte", 0.01, 0.6).data
    taken = 2.0 * 9.81 * 0.9 * (1.0 - restitution**2)
    assert abs(float(data.energy_impact[-1]) - taken) < 1e-9, f"{float(data.energy_impact[-1])} J, expected {taken}"
    assert float(abs(data.energy_drift).max()) < 1e-9, f"drift {float(abs(data.energy_drift).max()):.3g} J"


def test_fixed_steps_tell_impact_friction_and_drift_apart(simulate):
    """A ball dropped and thrown: m g 0.9 to the impact, m v²/2 to friction until it rests, the rest falls with h."""
    off = []
    for dt in (0.01, 0.005):
        data = simulate(falling(friction=0.3, speed=3.0), "implicit_first", dt, 1.5).data
        impact, friction = float(data.energy_impact[-1]), float(data.energy_friction[-1])
        assert abs(impact - 2.0 * 9.81 * 0.9) < 50 * dt, f"dt {dt}: impact took {impact:.5g} J"
        assert abs(friction - 9.0) < 50 * dt, f"dt {dt}: friction took {friction:.5g} J"
        off.append(float(abs(data.energy_drift).max()))
    assert off[0] < 0.5 and 1.7 < off[0] / off[1] < 2.3, f"drift {off} J"


def test_sliding_loses_to_friction_alone(simulate):
    data = simulate(falling(friction=0.3, height=0.1, speed=3.0), "implicit_first", 0.01, 1.5).data
    assert abs(float(data.energy_friction[-1]) - 9.0) < 1e-9, f"friction took {float(data.energy_friction[-1])} J"
    assert float(abs(data.energy_impact).max()) == 0.0, f"impacts took {float(data.energy_impact[-1])} J"
    assert float(abs(data.energy_drift).max()) < 1e-9, f"drift {float(abs(data.energy_drift).max()):.3g} J"


def paddle() -> taut.Scene:
    """A driven ball that strikes a free one."""
    scene = taut.Scene(gravity=(0, 0, 0), name="paddle")
    driven = scene.particle(path=(0, "0.6*sin(2*t)", 0), radius=0.1, name="paddle")
    ball = scene.particle((0, 0.5, 0), mass=2.0, radius=0.1, name="ball")
    scene.contacts([driven], [ball], restitution=0.5)
    return scene


@pytest.mark.parametrize("name", ["baumgarte", "implicit_first"])
def test_a_driver_that_strikes_gives_what_the_ball_gains_and_the_impact_takes(name, simulate):
    """Struck at u: P = (1 + e) m u, work P u, gain P²/2m, loss (1 - e²) m u²/2."""
    run = simulate(paddle(), name, 0.005, 0.6)
    (_, _), (gained, _) = run.records.energy[0, :2], run.records.energy[-1, :2]
    work, impact = run.records.energy[-1, 2], run.records.energy[-1, 4]
    u = gained**0.5 / 1.5  # gained = ½ 2 (1.5 u)²
    near = 1e-9 if name == "baumgarte" else 0.05
    assert abs(work - 3.0 * u * u) < near * work, f"work {work:.4g} J, expected {3 * u * u:.4g}"
    assert abs(impact - 0.75 * u * u) < 4 * near * impact, f"impact {impact:.4g} J, expected {0.75 * u * u:.4g}"
    assert largest_drift(run) < 1e-9, f"drift {largest_drift(run):.3g} J"


# What users see


def test_parts_and_drift_add_up_to_the_change_of_energy(simulate):
    run = simulate(pulled(), "implicit_first", 0.01, 1.0)
    data = run.data
    change = float(data.energy_total[-1] - data.energy_total[0])
    parts = run.energy_parts()
    assert set(parts) == {"by drivers", "by forces without potential"}, parts
    assert abs(sum(parts.values()) + run.energy_change() - change) < 1e-12, f"{parts}, {run.energy_change()}, {change}"
    assert float(data.energy_drift[-1]) == run.energy_change()


def test_the_summary_tells_the_parts_apart(capsys):
    main(["run", "bouncing_ball", "--duration", "1"])
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("energy change"))
    assert "besides" in line and "to impacts" in line, line


def test_a_run_of_the_version_before_opens_with_zeros_for_what_it_did_not_keep(simulate, tmp_path, monkeypatch):
    run = simulate(shaken(), "rattle", 0.01, 0.1)
    kept = run.records.energy
    shapes = Records.shapes
    monkeypatch.setattr(Records, "shapes", staticmethod(lambda model: {**shapes(model), "energy": (3,)}))
    object.__setattr__(run.records, "energy", kept[:, :3])
    run.save(tmp_path / "old.taut")
    monkeypatch.undo()
    found = taut.open(tmp_path / "old.taut")
    assert np.array_equal(found.records.energy[:, :3], kept[:, :3])
    assert not found.records.energy[:, 3:].any() and found.data.energy_impact.shape == found.data.time.shape


def test_work_does_not_depend_on_how_often_it_is_recorded(simulate):
    often = simulate(stretched(), "implicit_second", 0.01, 1.0).data.energy_driver_work.values
    seldom = simulate(stretched(), "implicit_second", 0.01, 1.0, record_every=20).data.energy_driver_work.values
    assert np.array_equal(often[::20], seldom), f"apart by {np.abs(often[::20] - seldom).max():.3g} J"
