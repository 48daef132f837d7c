"""Every kind of constraint: J, Φ_t and γ are the derivatives of its own Φ, on particles and rigid bodies.

    F(s) = Φ(q ⊞ s v, t + s):    F' = J v + Φ_t,    F'' = γ + J a_driven         (1)
    G(s) = Φ(q ⊞ s v, t):        G' = J v                                        (2)
    H(s) = Φ(q, t + s):          H' = Φ_t,          H'' = γ at v = 0             (3)
    R(s) = A v + b at q ⊞ s v and t + s:            R'  = γ + J a_driven         (4)

Derivatives of F, G, H and R come from central differences of order 8. (4) is for conditions on velocities, whose Φ is
zero and whose A is J and b is Φ_t.
"""

from __future__ import annotations

import numpy as np
import pytest
from words_constraints import POSITIONS, TIME, VELOCITIES, Probe, scene_of

import taut
from taut.compiled import entry
from taut.constraints import KINDS, Kind
from taut.model.evaluate import begin_step
from taut.model.frames import multiply, rotate


@entry
def choose_charts(system, t, x, quat, v):
    begin_step(system, t, x, quat, v)


@pytest.fixture(scope="module", params=POSITIONS)
def probe(request) -> Probe:
    return Probe(scene_of(request.param), seed=len(request.param))


@pytest.fixture(scope="module", params=VELOCITIES)
def moving(request) -> Probe:
    return Probe(scene_of(request.param), seed=len(request.param))


def assert_close(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    assert np.abs(expected).max() > 0 or "Φ_t" in what or "γ" in what, f"{what}: the example shows nothing"
    error = np.abs(found - expected).max() / max(1.0, np.abs(expected).max())
    assert error < 2e-7, f"{what} is off by {error:.2g}: {found} instead of {expected}"


def test_every_kind_has_an_example():
    without = [kind.name for kind in KINDS.values() if not kind.examples]
    assert not without, f"without an example: {without}"


def positions(probe: Probe) -> np.ndarray:
    """Which rows are conditions on positions."""
    return np.flatnonzero(probe.model.rows.at_velocity == 0)


def velocities(probe: Probe) -> np.ndarray:
    rows = np.flatnonzero(probe.model.rows.at_velocity)
    assert len(rows), "the example shows nothing"
    return rows


def test_jacobian_is_the_derivative_along_any_velocity(probe):
    rows, rate = positions(probe), probe.at().b.copy()
    assert_close(rate[rows], probe.first(lambda s: probe.at(s).phi[rows]), "J v")  # (2)


def test_phi_t_is_the_derivative_in_time(probe):
    rows, phi_t = positions(probe), probe.at().phi_t.copy()
    assert_close(phi_t[rows], probe.first(lambda s: probe.at(0.0, TIME + s).phi[rows]), "Φ_t")  # (3)


def test_gamma_is_the_second_derivative_along_the_motion(probe):
    rows, gamma = positions(probe), probe.at().gamma.copy()
    assert_close(gamma[rows], probe.second(lambda s: probe.at(s, TIME + s).phi[rows]), "γ")  # (1)


def test_gamma_at_rest_is_the_second_derivative_in_time(probe):
    rows, still = positions(probe), np.zeros_like(probe.v)
    gamma = probe.at(v=still).gamma.copy()
    assert_close(gamma[rows], probe.second(lambda s: probe.at(0.0, TIME + s, still).phi[rows]), "γ at rest")  # (3)


def test_gamma_is_the_derivative_of_a_condition_on_velocities_along_the_motion(moving):
    rows = velocities(moving)
    work = moving.at()
    gamma = work.gamma[rows] + work.mu[rows]
    assert_close(gamma, moving.first(lambda s: (w := moving.at(s, TIME + s)).b[rows] + w.phi_t[rows]), "γ")  # (4)


def test_a_condition_on_velocities_has_no_error_of_position_and_is_linear_in_velocities(moving):
    rows = velocities(moving)
    work = moving.at()
    J, b = work.J.copy(), work.phi_t.copy()
    assert not work.phi[rows].any(), f"Φ is {work.phi[rows]}"
    work = moving.at(v=-2.5 * moving.v[:, ::-1])
    blocks = np.isin(np.concatenate([np.repeat(np.arange(moving.model.row_count), np.diff(moving.model.rows.ptr)),
                                     moving.model.rows.spin_row]), rows)  # fmt: skip
    assert np.abs(J[blocks]).max() > 0, "the example shows nothing"
    assert np.abs(work.J - J)[blocks].max() < 1e-14, "A depends on velocities"
    assert np.abs(work.phi_t - b)[rows].max() < 1e-14, "b depends on velocities"


def assert_written(probe: Probe) -> None:
    before = [array.copy() for array in (probe.at().phi, probe.at().J, probe.at().phi_t, probe.at().gamma)]
    work = probe.system.work
    for array in (work.phi, work.J, work.phi_t, work.gamma):
        array[...] = np.nan
    work = probe.at()
    for array, expected in zip((work.phi, work.J, work.phi_t, work.gamma), before):
        assert np.array_equal(array, expected), f"{array} was {expected}"


def test_every_entry_is_written_whatever_was_there(probe):
    """Kernels must not add to what the last step left."""
    assert_written(probe)


def test_every_entry_of_a_condition_on_velocities_is_written(moving):
    assert_written(moving)


def knows_no_direction(kind: Kind) -> bool:
    """Kinds of points alone: nothing that they are given says where in the world something is."""
    world = {"vector", "constant_vector", "quaternion", "text", "texts"}
    given = bool(kind.points) and not kind.frames and not kind.coordinates and kind.rechart is None
    return given and world.isdisjoint(a.type for a in kind.arguments)


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS.values() if knows_no_direction(kind)])
def test_size_of_phi_is_unchanged_by_a_rigid_motion(kind):
    """Places in the world are moved along, so the whole arrangement turns as one."""
    probe = Probe(scene_of(kind), seed=1)
    turn = np.array([0.5, -0.1, 0.7, 0.5]) / np.linalg.norm([0.5, -0.1, 0.7, 0.5])
    before = probe.at().phi.copy()
    probe.x = rotate(np.broadcast_to(turn, (len(probe.x), 4)), probe.x) + np.array([3.0, -2.0, 1.0])
    probe.quat = multiply(np.broadcast_to(turn, probe.quat.shape), probe.quat)
    after = probe.at().phi.copy()
    rows = max(KINDS[kind].rows, 1)  # several are a vector: it turns along and keeps its length
    before, after = (np.linalg.norm(phi.reshape(-1, rows), axis=1) for phi in (before, after))
    assert np.abs(before).max() > 1e-3, "the example must be off the constraint to show anything"
    assert np.abs(after - before).max() < 1e-14, f"{after} instead of {before}"


def test_parallel_edges_stay_parallel_in_every_direction_of_space():
    """The chart follows the edges, so that Φ = 0 and full rank hold wherever they point."""
    scene = taut.Scene()
    places = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (2, 1, 0)], float)
    scene.parallel(*(scene.particle(place) for place in places))
    probe = Probe(scene, seed=0)
    for turn in np.random.default_rng(3).standard_normal((50, 4)):
        turn /= np.linalg.norm(turn)
        probe.x = rotate(np.broadcast_to(turn, (4, 4)), places)
        choose_charts(probe.system, 0.0, probe.x, probe.quat, probe.v)
        work = probe.at()
        assert np.abs(work.phi).max() < 1e-15, f"Φ is {work.phi} after turning by {turn}"
        J = work.J.reshape(2, 12)
        smallest = np.linalg.svd(J, compute_uv=False)[-1]
        assert smallest > 0.5, f"the smallest singular value of J is {smallest:.2g} after turning by {turn}"


def test_driven_bodies_enter_the_derivatives():
    """(1) with a driven particle and a driven rigid body, whose accelerations are given."""
    scene = taut.Scene()
    free = scene.particle((1, 1, 1))
    shaken = scene.particle(path=("0.3*sin(3*t)", "t**2", 0))
    wheel = scene.rigid((0, 0, 2), path=("t**3", 0, 2), rotation=((1, 2, 2), "2*t + 0.5*t**2"))
    scene.distance(free, shaken)
    scene.distance(free, wheel.at((0.5, 0.2, 0.1)))
    scene.ball(free, wheel.at((0.2, -0.3, 0.4)))
    probe = Probe(scene, seed=5)

    def phi(s):
        return probe.at(s, TIME + s).phi.copy()

    work = probe.at()
    rate, second = work.b + work.phi_t, work.gamma + work.mu
    assert_close(rate, probe.first(phi), "J v + Φ_t")
    assert_close(second, probe.second(phi), "J a + γ")
