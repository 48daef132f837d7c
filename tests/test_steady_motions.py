"""Eigenvalues about steady motions against their closed forms, on both sides of where they become stable."""

from __future__ import annotations

import numpy as np
import pytest

import taut

G = 9.81


def assert_eigenvalues(motions, expected, zeros):
    """Those that are expected, and as many zeros; nothing else."""
    expected = np.array([*expected, *[0.0] * zeros], complex)
    found = motions.eigenvalues
    assert len(found) == len(expected), found
    off = max(np.abs(found - one).min() for one in expected) / np.abs(expected).max()
    assert off < 1e-7 and int((found == 0.0).sum()) == zeros, f"{found} instead of {expected}"


@pytest.mark.parametrize("share", [0.5, 0.999, 1.001, 2.0])
@pytest.mark.parametrize("axial", [0.5, 1.0])  # disc, hoop
def test_an_upright_wheel_falls_below_its_critical_speed_and_no_neutral_motion_counts_above(axial, share):
    """(A + m r²) σ² = m g r - (C + m r²) C v²/(A r²) [Routh 1905]: v² = g r/3 of a disc, g r/4 of a hoop.

    Six zeros: it may stand and face anywhere, and roll faster; heading, its rate and the way sideways are one block.
    """
    m, r = 2.0, 0.3
    A, C = 0.5 * axial * m * r**2, axial * m * r**2
    speed = share * np.sqrt(G * r * (1.0 / 3.0 if axial == 0.5 else 1.0 / 4.0))
    scene = taut.Scene()
    wheel = scene.rigid((0, r, 0), mass=m, inertia=(A, A, C), velocity=(speed, 0, 0),
                        angular_velocity=(0, 0, -speed / r))  # fmt: skip
    scene.rolling(wheel, (0, 0, 0), radius=r, axis=(0, 0, 1))
    motions = taut.linearise(scene)
    rate = np.sqrt(complex((m * G * r - (C + m * r**2) * C * (speed / r) ** 2 / A) / (A + m * r**2)))
    assert_eigenvalues(motions, [rate, -rate], 6)
    assert motions.is_stable == (share > 1.0) and len(motions.frequencies) == int(share > 1.0)


@pytest.mark.parametrize("share", [0.8, 1.2])
def test_a_sleeping_top_wakes_below_its_critical_spin(share):
    """A z̈ - i C ω ż - m g l z = 0 of the tip's x + i z: stable where C² ω² > 4 A m g l."""
    mass, arm, across, along = 0.5, 0.1, 0.007, 0.001
    spin = share * 2.0 * np.sqrt(across * mass * G * arm) / along
    scene, own = taut.Scene(), across - mass * arm**2
    top = scene.rigid((0, arm, 0), mass=mass, inertia=(own, along, own), angular_velocity=(0, spin, 0))
    scene.ball(top.at((0, -arm, 0)), (0, 0, 0))
    motions = taut.linearise(scene)
    assert not motions.turning.any()
    rates = np.roots([across, -1j * along * spin, -mass * G * arm])
    assert_eigenvalues(motions, [*rates, *rates.conj()], 2)
    assert motions.is_stable == (share > 1.0)


@pytest.mark.parametrize("speed", [1.5, -1.5])
def test_a_trailer_follows_and_folds_up_when_it_is_pushed(speed):
    """Its hitch moves along a line: θ̇ = -(v/L) sin θ."""
    scene = taut.Scene(gravity=(0, 0, 0))
    car, trailer = (scene.rigid((x, 0, 0), mass=3.0, inertia=1.0, planar=True, velocity=(speed, 0, 0)) for x in (0, -1))
    scene.hinge(trailer.at((0.6, 0, 0)), car.at((-0.4, 0, 0)), axis=(0, 0, 1))
    for axle in (car.at((0.5, 0, 0)), car.at((-0.3, 0, 0)), trailer.at((-0.2, 0, 0))):
        scene.skate(axle, direction=(1, 0, 0), normal=(0, 0, 1))
    motions = taut.linearise(scene)
    assert_eigenvalues(motions, [-speed / 0.8], 4)
    assert motions.is_stable == (speed > 0.0)
