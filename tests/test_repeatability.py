"""Same scene, same method, same machine: the same bits, however the run is cut, stored or started."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from words_methods import SOFT
from words_runs import interrupted

import taut
from taut.methods import METHODS

MAXIMAL = [name for name, m in METHODS.items() if m.hooks.prepare is None and not m.is_for_deformables_only]
# A method that remembers (Adams-Bashforth, an adaptive step) is where an unfaithful checkpoint would show.
REMEMBERING = [("lagrange", {"integrator": "ab2"}), ("reference", {}), ("implicit_second", {}), ("rattle", {})]


def scene() -> taut.Scene:
    """A driven anchor, rods and a rigid body: all that a state holds."""
    scene = taut.Scene(name="all")
    anchor = scene.particle(path=("0.2*sin(3*t)", 0, 0), name="anchor")
    bob = scene.particle((0.5, -0.8, 0.1), velocity=(0.6, 0, 0.3), name="bob")
    box = scene.rigid((1.2, -1.0, 0.1), mass=2.0, shape={"box": (0.3, 0.4, 0.5)}, angular_velocity=(1, 2, 3))
    scene.distance(anchor, bob)
    scene.ball(bob, box.at((-0.7, 0.2, 0)))
    scene.drag(bob, coefficient=0.1)
    return scene


def simulated(method: str, duration: float = 0.5, **options) -> taut.Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", taut.TautWarning)
        options = SOFT.get(method, {}) | options
        return taut.simulate(scene(), method=method, dt=0.002, duration=duration, progress=False, **options)


def fingerprint(run: taut.Run) -> str:
    digest = hashlib.sha256()
    for values in run.records.as_dict().values():
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def assert_same_bits(found: taut.Run, expected: taut.Run) -> None:
    for name, values in expected.records.as_dict().items():
        other = found.records.as_dict()[name]
        assert other.shape == values.shape, f"{name}: {other.shape} and {values.shape}"
        same = other.tobytes() == values.tobytes()
        assert same, f"{name} differs by up to {np.abs(other - values).max():.3g}"


@pytest.mark.parametrize("method", MAXIMAL)
def test_two_runs_have_the_same_bits(method):
    assert_same_bits(simulated(method), simulated(method))


def test_a_fresh_process_finds_the_same_bits():
    here = [fingerprint(simulated(method)) for method in ("implicit_second", "reference")]
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_repeatability import fingerprint, simulated\n"
        "print(*(fingerprint(simulated(method)) for method in ('implicit_second', 'reference')))"
    )
    folder = Path(__file__).parent
    told = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True)
    assert told.stdout.split() == here, f"{told.stdout} instead of {here}"


@pytest.mark.parametrize("method", ["implicit_second", "reference"])
def test_storing_changes_nothing(method, tmp_path):
    expected = simulated(method)
    stored = simulated(method, out=tmp_path / "run.taut")
    assert_same_bits(stored, expected)
    assert_same_bits(taut.open(tmp_path / "run.taut"), expected)


@pytest.mark.parametrize("method, options", REMEMBERING)
def test_keeping_fewer_records_does_not_change_the_motion(method, options):
    every, tenth = simulated(method, **options), simulated(method, record_every=10, **options)
    for name, values in tenth.records.as_dict().items():
        full = every.records.as_dict()[name][::10]
        assert values.tobytes() == full.tobytes(), f"{name} differs by up to {np.abs(values - full).max():.3g}"


def test_cutting_the_loop_into_pieces_does_not_change_the_motion(monkeypatch):
    """The loop comes back to Python after as many steps as the clock allows: that must not show."""
    expected = simulated("implicit_second")
    monkeypatch.setattr("taut.simulation.session.CHUNK_SECONDS", 1e-9)
    assert_same_bits(simulated("implicit_second"), expected)


@pytest.mark.parametrize("method, options", REMEMBERING)
def test_a_resumed_run_is_the_uninterrupted_one(method, options, tmp_path, monkeypatch):
    """Ctrl-C after a few pieces of the loop, then resume from what was stored."""
    expected = simulated(method, **options)
    with interrupted(monkeypatch, chunks=5):
        cut = simulated(method, out=tmp_path / "run.taut", **options)
    assert cut.status == "interrupted" and 0 < cut.steps < expected.steps, f"{cut.status} after {cut.steps}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", taut.TautWarning)
        resumed = taut.resume(tmp_path / "run.taut", progress=False)
    assert resumed.status == "finished", resumed.message
    assert_same_bits(resumed, expected)
    assert_same_bits(taut.open(tmp_path / "run.taut"), expected)


def test_records_are_not_counted_as_linear_solves():
    run = taut.simulate(taut.gallery("two_link"), method="lagrange", dt=0.01, duration=1.0, integrator="euler")
    assert run.info["linear_solves"] == 100, f"{run.info['linear_solves']} solves in 100 Euler steps"
