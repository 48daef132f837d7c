"""Energy of cloth: what limits, contacts, friction, damping and wind take is counted, the rest is the method's."""

from __future__ import annotations

import numpy as np
import pytest
from test_cloth_active import TOLERANCE, longest

import taut
from taut.cloth.algorithms import DEFORMABLE_METHODS

SLACK = 0.3  # of the order that is declared
SHEET = {"grid": (5, 5), "size": (1, 1), "density": 0.2}
HUNG = [0, 4]


def sheet(**options) -> taut.Scene:
    scene = taut.Scene(name="sheet")
    scene.cloth(**SHEET, **options)
    return scene


def sliding(**options) -> taut.Scene:
    """A sheet thrown along a rough floor, onto which it falls."""
    scene = taut.Scene(name="sliding")
    given = {"limit": 0.1, **options}
    cloth = scene.cloth(**SHEET, origin=(-0.5, 0.35, -0.5), thickness=0.01, velocity=(1, 0, 0), **given)
    floor = scene.obstacle("half_space", point=(0, 0.3, 0), normal=(0, 1, 0), name="floor")
    scene.contacts(cloth, [floor], friction=0.3)
    return scene


def lifted() -> taut.Scene:
    """A soft sheet with a limit, whose upper corners are pulled up."""
    up = [{"vertex": k, "to": (k / 4, "0.5*t", 0)} for k in HUNG]
    return sheet(stiffness=5, limit=0.05, pins=up)


# scene, duration [s], steps per second, which entry of the ledger has most in it
COUNTED = {
    "ball": (lambda: taut.gallery("cloth_ball", n=5), 0.3, (1920, 3840), "impact"),
    "damping": (lambda: sheet(stiffness=20, limit=None, damping=0.05, pins=HUNG), 0.5, (240, 960), "force_work"),
    "limit": (lambda: sheet(stiffness=5, limit=0.05, pins=HUNG), 0.5, (240, 960), "impact"),
    "wind": (lambda: sheet(stiffness=20, wind=(3, 0, 2), drag=1.0, pins=HUNG), 0.5, (240, 1920), "force_work"),
    "lifted": (lifted, 0.5, (240, 960), "driver_work"),
    "friction": (sliding, 0.5, (120, 480), "friction"),
    "fold": (lambda: taut.gallery("cloth_fold", n=6), 0.2, (1920, 3840), "impact"),
}


@pytest.mark.parametrize("name", COUNTED)
def test_energy_and_ledger_are_kept_to_the_order_of_the_method(name, simulate, slope):
    make, duration, rates, entry = COUNTED[name]
    runs = [simulate(make(), "implicit_first", 1 / rate, duration) for rate in rates]
    taken = abs(float(runs[-1].data[f"energy_{entry}"][-1]))
    off = np.array([np.abs(run.records.energy_drift()).max() for run in runs])
    found, order = slope(1 / np.array(rates), off), DEFORMABLE_METHODS["implicit_first"].order_energy
    assert off[-1] < 0.5 * taken, f"{off} J are not accounted for, {entry} has {taken:.3g} J"
    assert found > order - SLACK, f"falls with order {found:.2f}, declared {order}: {off} J"


@pytest.mark.parametrize("method", DEFORMABLE_METHODS)
def test_friction_on_a_floor_takes_the_speed_that_is_lost(method, simulate):
    """A sheet that slides to rest without stretching: half of m v², and what its fall gave, are in the ledger."""
    if DEFORMABLE_METHODS[method].refuses(taut.build(sliding())):
        pytest.skip("it knows no contacts")
    run = simulate(sliding(), method, 1 / 240, 0.6)
    energy = run.records.energy - run.records.energy[0]
    lost = -energy[-1, :2].sum()
    assert energy[-1, 5] > 0.09, f"friction took {energy[-1, 5]:.3g} J of 0.1 J"
    off = abs(lost - energy[-1, 4] - energy[-1, 5]) / lost
    assert off < 0.15, f"{off:.3g} of the energy that was lost is not accounted for"


def caught(n: int, mass: float, rule: str, system: str, simulate, duration: float = 0.6) -> taut.Run:
    scene = taut.gallery("cloth_ball", n=n, mass=mass, limit_rule=rule, system=system)
    return simulate(scene, "implicit_first", 1 / 240, duration)


def risen(run: taut.Run) -> float:
    """By how much the energy rose above its least so far, as a share of that at the start."""
    total = run.data.energy_total.values
    return float((total - np.minimum.accumulate(total)).max() / total[0])


@pytest.mark.parametrize("mass", [5.0, 20.0])
@pytest.mark.parametrize("system", ["active", "nodes", "auto"])
@pytest.mark.parametrize("rule", ["exact", "paper"])
@pytest.mark.parametrize("n", [8, 12, 16])
def test_limits_that_stop_a_heavy_ball_give_no_energy(n, rule, system, mass, simulate):
    """Limits and contacts are inelastic, whichever system solves for them, and by either rule; and limits hold."""
    run = caught(n, mass, rule, system, simulate)
    assert run.status == "finished", run.message
    assert risen(run) < 4e-3, f"{risen(run):.3g} of the energy has come back"
    assert longest(run) <= 0.1 + TOLERANCE, f"a spring is {longest(run):.5g} longer"


@pytest.mark.parametrize("system", ["nodes", "auto"])
def test_a_spring_that_comes_to_its_limit_within_a_step_does_not_push(system, simulate):
    """By the paper's rule a limit may resist shrinkage until the end of a step, which must not throw the ball back."""
    for n, mass in ((8, 5.0), (12, 20.0)):
        run = caught(n, mass, "paper", system, simulate)
        up = float(run["ball"].velocity.values[:, 1].max())
        assert up < 0.35, f"a ball of {mass:g} kg came with 7 m/s and leaves with {up:.3g} (n = {n})"


@pytest.mark.parametrize("rule", ["exact", "paper"])
def test_the_ledger_has_what_limits_took_also_of_springs_that_are_released_at_the_end(rule, simulate):
    """Multipliers that resist shrinkage stand in energy_impact like all others."""
    run = caught(12, 20.0, rule, "nodes", simulate)
    total = run.data.energy_total.values
    off = np.abs(np.asarray(run.records.energy_drift())).max() / (total[0] - total[-1])
    assert off < 0.03, f"{off:.3g} of what was lost is not accounted for"
