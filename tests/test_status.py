"""A run is "finished" only where its records can be the motion of the scene."""

from __future__ import annotations

import re

import numpy as np
import pytest

import taut
from taut.cli import main
from taut.errors import TautWarning
from taut.scene import gallery

pytestmark = pytest.mark.filterwarnings("ignore::taut.errors.TautWarning")


def run_of(scene: taut.Scene, method: str, dt: float, duration: float, **options) -> taut.Run:
    return taut.simulate(scene, method=method, dt=dt, duration=duration, progress=False, **options)


def test_a_constraint_off_by_more_than_its_own_scale_is_a_divergence():
    """A step of 2.5 s for rods of 10 m: the run goes on, all its steps are kept, and the first at fault is named."""
    run = run_of(gallery("two_link"), "implicit_second", 2.5, 100.0)
    assert run.status == "diverged" and len(run.records) == 41, run
    words = r"step (\d+), t = \S+ s: constraint '(upper|lower)' is off by \S+ m, more than its own scale of 10 m"
    named = re.match(words, run.message)
    assert named, run.message
    first, row = int(named[1]), ["upper", "lower"].index(named[2])
    beyond = np.abs(run.records.phi) > 10.0
    assert beyond[first, row] and not beyond[:first].any() and run.info["diverged_step"] == first, run.message


def test_energy_from_nowhere_is_a_divergence():
    """A stiff spring under a step that is too large: there is no constraint that could tell."""
    run = run_of(gallery("spring_to_rod", stiffness=1e5), "lagrange", 0.02, 0.4, integrator="symplectic")
    assert run.status == "diverged" and "energy have grown by" in run.message, run
    assert np.isfinite(run.records.x).all() and len(run.records) == 21, run


def bob_with(gyration: float) -> taut.Scene:
    """A pendulum of 1 m whose bob of 1 kg has next to no inertia of its own."""
    scene = taut.Scene(gravity=(0, -9.81, 0))
    bob = scene.rigid((1, 0, 0), mass=1.0, inertia=gyration**2 * np.eye(3), name="bob")
    scene.hinge(bob.at((-1, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="pin")
    return scene


@pytest.mark.parametrize(
    "method", ["lagrange", "baumgarte", "implicit_first", "implicit_second", "rattle", "reference"]
)
def test_rows_lost_in_rounding_do_not_finish(method):
    """(arm/gyration)² = 1e6 is borne by all, as the point mass moves; at 1e12 the pin is not held, and that is said."""
    borne, lost = (run_of(bob_with(gyration), method, 1e-3, 0.5) for gyration in (1e-3, 1e-6))
    point = taut.Scene(gravity=(0, -9.81, 0))
    point.distance(point.particle((1, 0, 0), mass=1.0, name="bob"), (0, 0, 0))
    exact = taut.simulate(point, method="reference", dt=1e-2, duration=0.5)["bob"].position[-1]
    assert borne.status == "finished" and np.abs(borne["bob"].position[-1] - exact).max() < 3e-3, borne
    assert lost.status == "diverged" and "'bob', with a moment of inertia of 1e-12 kg m²" in lost.message, lost.message
    assert "Give 'bob' a moment of at least 1e-07 kg m²" in lost.message, lost.message


def test_a_diverged_run_is_stored_whole_and_ends_with_1(tmp_path, capsys):
    out = str(tmp_path / "out.taut")
    code = main(["run", "two_link", "--dt", "2.5", "--duration", "100", "--out", out])
    error = capsys.readouterr().err
    assert code == 1 and "diverged: step" in error and out in error, f"{code}: {error}"
    stored = taut.open(out)
    assert stored.status == "diverged" and len(stored.records) == 41 and stored.message in error + ".", stored


@pytest.mark.parametrize("value", ["100*sin(20*t)", "50"])
def test_what_given_forces_bring_in_is_no_divergence(value):
    """Without gravity, from rest: all energy comes from a force, and is a thousand times that of crossing the scene."""
    scene = taut.Scene(gravity=(0, 0, 0))
    bob = scene.particle((1, 0, 0), mass=0.01)
    scene.distance((0, 0, 0), bob)
    scene.force(bob, value=("0", value, "0"))
    bar = scene.rigid((0, 3, 0), mass=1.0, inertia=(0.01, 0.01, 0.01))
    scene.torque(bar, value=("0", value, "0"))
    run = run_of(scene, "rattle", 0.002, 1.0)
    assert run.status == "finished", run.message
    assert run.records.energy[-1, 0] > 100.0, run


def test_what_drivers_bring_in_is_no_divergence():
    """A bob that a crank throws around: all energy is work of the driver."""
    scene = taut.Scene(gravity=(0, 0, 0))
    crank = scene.particle(path=("0.1*cos(80*t)", "0.1*sin(80*t)", "0"))
    scene.distance(crank, scene.particle((0.6, 0, 0), velocity=(0, 8, 0)))
    run = run_of(scene, "rattle", 0.0005, 1.0)
    assert run.status == "finished", run.message


def test_notes_keep_all_that_was_told_also_when_stored(tmp_path):
    scene = gallery("two_link")
    scene.distance("middle", "tip", name="twice")
    with pytest.warns(TautWarning, match="redundant") as told:
        run = run_of(scene, "implicit_first", 0.01, 0.05, out=tmp_path / "out.taut")
    texts = [str(one.message).rstrip(".") for one in told]
    assert texts and all(text in run.notes for text in texts), (texts, run.notes)
    assert any("redundant constraints are handled" in note for note in run.notes), run.notes
    assert taut.open(tmp_path / "out.taut").notes == run.notes


@pytest.mark.parametrize(("spin", "rings"), [(0.0, False), (3.0, True)])
def test_velocities_that_ring_about_the_motion_are_told(spin, rings):
    """A pendulum that is thrown: implicit_improved keeps its places, while Φ̇ grows to the size of v at any step."""
    scene = taut.Scene()
    bob = scene.particle((1, 0, 0), mass=1.0, velocity=(0, -spin, 0))
    scene.distance((0, 0, 0), bob, name="rod")
    for dt in (0.01, 0.001):
        run = run_of(scene, "implicit_improved", dt, 3.0)
        exact = run_of(scene, "reference", 3.0, 3.0)
        off = np.abs(run.records.x[-1] - exact.records.x[-1]).max()
        assert run.status == "finished" and off < 400 * dt**2, f"{off:.3g} m off; {run.message}"
        told = [text for text in run.notes if "velocities break constraint 'rod' at up to" in text]
        assert bool(told) == rings, f"dt = {dt}: Φ̇ up to {np.abs(run.records.rate).max():.3g} m/s, told {run.notes}"


def test_a_start_that_breaks_a_rate_tells_it_in_its_unit():
    scene = taut.Scene()
    wheel = scene.rigid((0, 0, 0), mass=1.0, inertia=(1, 1, 1))
    pin = scene.hinge(wheel, (0, 0, 0), axis=(0, 0, 1), name="pin")
    scene.drive(pin, angle="2*t", name="motor")
    with pytest.warns(TautWarning, match="breaks constraint 'motor' at a rate of -2 rad/s; it was made consistent"):
        run_of(scene, "rattle", 0.01, 0.02)


OWN_ERROR = r"energy changed by (\S+) J of (\S+) J through the method's own error"


@pytest.mark.parametrize(("name", "method", "dt"), [
    ("four_bar_rigid", "rattle", 0.2),
    ("four_bar", "rattle", 0.2),
    ("double_pendulum_rigid", "implicit_second", 0.05),
    ("double_pendulum_rigid", "post_stabilization", 0.05),
    ("bicycle", "fast_projection", 0.02),
    ("spinning_t_handle", "implicit_second", 0.2),
])  # fmt: skip
def test_energy_that_the_method_makes_or_loses_is_told(name, method, dt):
    """The amount told is the drift of the records; with a small step nothing is told."""
    scene = gallery(name)
    run = run_of(scene, method, dt, scene.suggested.get("duration", 5.0))
    drift = run.records.energy_drift()
    told = [found for note in run.notes if (found := re.search(OWN_ERROR, note))]
    assert run.status == "finished" and len(told) == 1, f"{np.abs(drift).max():.3g} J: {run.status}, {run.notes}"
    off = drift[np.argmax(np.abs(drift))]
    assert abs(float(told[0][1]) - off) < 0.01 * abs(off), f"{told[0][0]}; {off:.4g} J"
    fine = run_of(scene, "rattle", 0.001, 1.0)
    assert not any(re.search(OWN_ERROR, note) for note in fine.notes), fine.notes


def test_energy_that_dampers_and_drivers_take_is_not_the_method_s():
    scene = taut.Scene()
    bar = scene.rigid((0.5, 0, 0), mass=1.0, inertia=(0.01, 0.1, 0.1))
    scene.hinge(bar.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="pin")
    scene.spring_on("pin", stiffness=0.0, damping=2.0)
    run = run_of(scene, "rattle", 0.002, 5.0)
    lost = run.records.energy[0, :2].sum() - run.records.energy[-1, :2].sum()
    assert lost > 1.0 and not any(re.search(OWN_ERROR, note) for note in run.notes), (lost, run.notes)


def test_a_step_that_is_too_large_is_not_called_a_singular_position():
    """The governor's joints leave no position singular, and its step of 0.1 s is too large for Newton's method."""
    run = run_of(gallery("flyball_governor"), "generalized_alpha", 0.1, 1.0)
    assert run.status == "diverged" and "singular" not in run.message and "smaller dt" in run.message, run.message
    assert "residuals" not in run.message, run.message


def test_generalized_alpha_does_not_jump_to_another_branch_of_a_linkage():
    """Two upright bars with a coupler, a parallelogram: where it lies flat, its velocities may be those of a kite."""
    scene = taut.Scene()
    inertia = 1.0 / 12.0
    bars = [scene.rigid((i, 0.5, 0), mass=1.0, inertia=inertia, planar=True, velocity=(0.5, 0, 0),
                        angular_velocity=(0, 0, -1.0)) for i in (0, 1)]  # fmt: skip
    coupler = scene.rigid((0.5, 1, 0), mass=1.0, inertia=inertia, planar=True, velocity=(1, 0, 0))
    for i, bar in enumerate(bars):
        scene.hinge(bar.at((0, -0.5, 0)), (i, 0, 0), axis=(0, 0, 1))
        scene.hinge(coupler.at((i - 0.5, 0, 0)), bar.at((0, 0.5, 0)), axis=(0, 0, 1))
    run = run_of(scene, "generalized_alpha", 0.001, 3.5)
    energy = run.records.energy[:, :2].sum(axis=1)
    off = np.abs(energy - energy[0]).max()
    assert off < 1e-2 * energy[0], f"{run.status}: energy off by {off:.3g} of {energy[0]:.3g} J"
    assert run.status == "finished" or "another branch" in run.message, run.message
