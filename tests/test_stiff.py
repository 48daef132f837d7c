"""Stiff forces in mechanisms: `generalized_alpha` and `radau`, their matrix, and what `taut doctor` makes of them."""

from __future__ import annotations

import numpy as np
import pytest

import taut
from taut.analysis.mechanics.doctor import examine
from taut.compiled import entry
from taut.linalg.lu import factor_lu, plan_lu, saddle_order, solve_lu
from taut.methods.tangent import factor_tangent, plan_tangent
from taut.model.evaluate import add_scaled, advance_positions, evaluate_constraints, evaluate_forces, form_and_factor

ALPHA = "generalized_alpha"
GOVERNED = ("position", "velocity", "multiplier")
T = 0.1


def governor() -> taut.Scene:
    """Rods of a hundred times the stiffness of the gallery's."""
    return taut.gallery("flyball_governor", stiffness=8e7, damping=4e4)


@entry
def solved(lu, b, out):
    vanished = factor_lu(lu)
    solve_lu(lu, b, out)
    return vanished


@entry
def factored(system, tangent, x, quat, v, inertia, h, reach):
    evaluate_constraints(system, 0.0, x, quat, v, False, system.work.J)
    form_and_factor(system, system.work.J, system.bodies.inverse_mass)
    return factor_tangent(system, tangent, 0.0, x, quat, v, inertia, h, reach)


@entry
def forced(system, x, quat, v, dv, reach, out_x, out_quat, out_v):
    advance_positions(system, x, quat, dv, reach, out_x, out_quat)
    add_scaled(v, 1.0, dv, out_v)
    evaluate_forces(system, 0.0, out_x, out_quat, out_v)


# Motion


@pytest.fixture(scope="module")
def governors(simulate):
    """The governor at T by `reference`, and at steps that are far too long for explicit forces."""
    exact = simulate(governor(), "reference", T, T, tolerance=1e-11).data.isel(time=-1)
    steps = [T / n for n in (50, 100, 200)]
    found = [simulate(governor(), ALPHA, h, T) for h in steps]
    return exact, steps, found


@pytest.mark.parametrize("what", GOVERNED)
def test_the_governor_converges_with_the_square_of_steps_that_stiffness_does_not_dictate(what, governors, slope):
    exact, steps, runs = governors
    errors = [float(np.abs((run.data[what].isel(time=-1) - exact[what]).values).max()) for run in runs]
    fitted = slope(steps, errors)
    assert abs(fitted - 2.0) < 0.2, f"{what}: order {fitted:.3f}, errors {errors}"


def test_explicit_forces_can_not_take_these_steps(governors):
    run = taut.simulate(governor(), method="rattle", dt=governors[1][-1], duration=T, progress=False)
    assert run.status == "diverged", run.message


def test_the_governor_holds_positions_and_velocities(governors):
    for run in governors[2]:
        phi, rate = np.abs(run.records.phi).max(), np.abs(run.records.rate).max()
        assert phi < 1e-12 and rate < 1e-11, f"|Φ| {phi:.3g}, |Φ̇| {rate:.3g}"


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9])
def test_radau_keeps_its_tolerance_in_steps_that_stiffness_does_not_dictate(tolerance, governors, simulate):
    exact, run = governors[0], simulate(governor(), "radau", T, T, tolerance=tolerance)
    error = float(np.abs((run.data.position.isel(time=-1) - exact.position).values).max())
    steps = run.info["corrections"]
    assert error < tolerance, f"asked for {tolerance:g}, off by {error:.3g} m"
    assert steps < 10 * tolerance**-0.25, f"{steps} steps"  # the error that it estimates has order 4 in the step


def oscillator(frequency: float) -> taut.Scene:
    scene = taut.Scene(gravity=(0, 0, 0))
    scene.spring(scene.particle((1.01, 0, 0), name="ball"), (0, 0, 0), stiffness=frequency**2, length=1.0)
    return scene


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_rho_is_what_a_step_leaves_of_an_unresolved_oscillation(rho, simulate):
    """At any stiffness, and without velocities that were not there."""
    run = simulate(oscillator(1e6), ALPHA, 0.01, 1.0, rho=rho)
    x, v = run["ball"].position.values[:, 0] - 1.0, run["ball"].velocity.values[:, 0]
    size = np.hypot(x, 0.01 * v)
    assert size.max() < 0.03, f"from 0.01 m to {size.max():.3g} m"
    assert size[40] < max(1.1 * rho, 0.1) ** 30 + 1e-12, f"after 40 steps {size[40]:.3g} m"


def test_with_rho_of_one_a_linear_oscillation_keeps_its_energy(simulate):
    run = simulate(oscillator(20.0), ALPHA, 0.02, 4.0, rho=1.0)
    energy = run.data.energy_total.values
    assert np.abs(energy / energy[0] - 1).max() < 0.06, f"{energy.min():.4g} to {energy.max():.4g} J"
    late = np.abs(run["ball"].position.values[-100:, 0] - 1.0).max()
    assert late > 0.00999, f"the amplitude of 0.01 m has become {late:.4g} m"


@pytest.mark.parametrize("rho", [-0.1, 1.5])
def test_rho_outside_of_zero_and_one_is_refused(rho):
    with pytest.raises(taut.TautError, match="rho.*it must be at"):
        taut.simulate(oscillator(1.0), method=ALPHA, dt=0.1, duration=0.1, rho=rho)


@pytest.mark.filterwarnings("ignore::taut.TautWarning")
def test_a_redundant_door_has_the_smallest_multipliers_of_reference(simulate):
    exact, found = (simulate(taut.gallery("door_on_two_hinges"), method, h, 0.2).data.multiplier.values[-1]
                    for method, h in (("reference", 0.2), (ALPHA, 0.001)))
    apart = np.abs(found - exact).max() / np.abs(exact).max()
    assert apart < 1e-5, f"apart by {apart:.3g} of the largest"


def test_a_coordinate_without_mass_along_a_curve_is_led_at_any_step(simulate, slope):
    """Newton's method swings about it, and the step is taken again with care."""
    exact = simulate(taut.gallery("bead_on_curve"), "reference", 2.0, 2.0, tolerance=1e-11)["bead"].position.values[-1]
    steps = (0.02, 0.01, 0.005)
    errors = [np.abs(simulate(taut.gallery("bead_on_curve"), ALPHA, h, 2.0)["bead"].position.values[-1] - exact).max()
              for h in steps]  # fmt: skip
    assert abs(slope(steps, errors) - 2.0) < 0.2, f"order {slope(steps, errors):.3f}, errors {errors}"


@pytest.mark.parametrize("name, given", [("heavy_top", {"spin": 20.0}), ("slider_crank", {}), ("stewart_platform", {})])
def test_multipliers_are_of_second_order_from_the_first_step_on(name, given, simulate, slope):
    steps, errors = (0.004, 0.002, 0.001), []
    for h in steps:
        exact, found = (simulate(taut.gallery(name, **given), method, h, 3 * h).records.lam[1:]
                        for method in ("reference", ALPHA))
        errors.append(np.abs(found - exact).max(axis=1) / np.abs(exact).max())
    for k, error in enumerate(np.array(errors).T):
        assert slope(steps, error) > 1.75, f"step {k + 1}: order {slope(steps, error):.3f}, errors {error}"


# The matrix


def test_a_saddle_point_system_is_solved_in_its_order():
    """Bodies of three unknowns in a tree with a loop, unsymmetric S, rows of J on one or two bodies."""
    random = np.random.default_rng(3)
    pairs = [(0, 1), (1, 2), (1, 3), (3, 4), (4, 0), (2,)]
    nodes = [np.arange(3 * k, 3 * k + 3) for k in range(5)]
    n, m = 15, len(pairs)
    A = np.zeros((n + m, n + m))
    for k in nodes:
        A[np.ix_(k, k)] = np.diag(random.uniform(1, 9, 3)) + 0.3 * random.standard_normal((3, 3))
    A[np.ix_(nodes[1], nodes[2])] = 0.2 * random.standard_normal((3, 3))
    for r, pair in enumerate(pairs):
        for k in pair:
            A[n + r, nodes[k]] = random.standard_normal(3)
            A[nodes[k], n + r] = -A[n + r, nodes[k]]
    rows, columns = np.nonzero(A)
    perm = saddle_order(nodes, [np.array(pair) for pair in pairs])
    assert sorted(perm.tolist()) == list(range(n + m))
    lu, at = plan_lu(rows, columns, perm)
    lu.val[at] = A[rows, columns]
    b, out = random.standard_normal(n + m), np.zeros(n + m)
    assert solved(lu, b, out) == 0
    error = np.abs(A @ out - b).max()
    assert error < 1e-12, f"residual {error:.3g}"
    assert not lu.y.any(), "the room of the next factor is not clean"


def many_forces() -> taut.Scene:
    """Every declaration of which points feel each other, on particles and rigid bodies."""
    scene = taut.Scene()
    balls = [scene.particle((0.7 * i, 0.1 * i * i, 0), velocity=(0, 0.3 * i, 0.1), name=f"ball_{i}") for i in range(5)]
    bar = scene.rigid((0, 1, 0), mass=2.0, inertia=(0.1, 0.2, 0.25), angular_velocity=(1, 2, 3), name="bar")
    disc = scene.rigid((1, 1, 0), mass=1.0, inertia=(0.1, 0.1, 0.15), name="disc")
    pin = scene.hinge(disc, bar.at((1, 0, 0)), axis=(0, 0, 1), name="pin")
    scene.springs(*balls[:4], pairs=(0, 1, 1, 2, 2, 3), stiffness=50.0, damping=2.0)
    scene.drag(*balls, coefficient=0.5)
    scene.wind(*balls[:3], triangles=(0, 1, 2))
    scene.spring(balls[4], bar.at((0, 0.2, 0)), stiffness=80.0, damping=1.0, length=0.5)
    scene.spring_on(pin, stiffness=30.0, damping=3.0, rest=0.2)
    scene.custom_force(balls[0], formula=("-3*ball_0.x", "0", "-ball_0.vz"))
    return scene


def test_the_matrix_of_the_forces_is_their_derivative_by_every_unknown():
    """Columns found together are the same as one by one, and no force is felt where none is expected."""
    model = taut.build(many_forces())
    system, tangent = model.system(stages=4), plan_tangent(model)
    h, reach = 0.01, 0.004
    assert factored(system, tangent, model.x.copy(), model.quat.copy(), model.v.copy(), 2.0, h, reach) == 0
    lu, n = tangent.lu, len(tangent.slot)
    found = np.zeros((len(lu.perm), len(lu.perm)))
    for i, row in enumerate(lu.perm):
        for q in range(int(lu.ptr[i]), int(lu.ptr[i + 1])):
            found[row, lu.perm[lu.idx[q]]] = lu.val[q]
    masses = np.diag(model.bodies.mass[tangent.slot, tangent.axis])
    expected = 2.0 * masses - h * one_by_one(model, system, tangent, reach)
    error = np.abs(found[:n, :n] - expected).max() / np.abs(expected).max()
    assert error < 1e-6, f"off by {error:.3g} of the largest entry"


def one_by_one(model, system, tangent, reach, size=1e-6):
    """∂f/∂v + reach ∂f/∂q by central differences."""
    columns = []
    for u in range(len(tangent.slot)):
        sides = []
        for sign in (1.0, -1.0):
            x, quat, v, dv = model.x.copy(), model.quat.copy(), model.v.copy(), np.zeros_like(model.v)
            dv[tangent.slot[u], tangent.axis[u]] = sign * size
            forced(system, model.x, model.quat, model.v, dv, reach, x, quat, v)
            sides.append(system.work.f[tangent.slot, tangent.axis].copy())
        columns.append((sides[0] - sides[1]) / (2 * size))
    return np.array(columns).T


# Limits of joints


def damped_arm() -> taut.Scene:
    """Four light links that fall onto the limits of their hinges; dampers too strong for explicit steps of 10 ms."""
    scene = taut.Scene()
    link = None
    for i in range(4):
        here = scene.rigid((0.2 * i + 0.1, 0, 0), mass=1.0, inertia=(0.001, 0.01, 0.01), name=f"link_{i}")
        to = (0, 0, 0) if link is None else link.at((0.1, 0, 0))
        joint = scene.hinge(here.at((-0.1, 0, 0)), to, axis=(0, 0, 1), name=f"joint_{i}")
        scene.spring_on(joint, stiffness=1.0, damping=5.0 * i)
        scene.joint_limit(joint, lower=-0.35, upper=0.35)
        link = here
    return scene


# After an impact dampers settle within 0.1 ms, which steps of 10 ms of generalized_alpha do not resolve.
@pytest.mark.parametrize("method, bound", [("generalized_alpha", 3e-2), ("radau", 1e-7)])
def test_stiff_dampers_beside_limits_do_not_dictate_the_step(method, bound, simulate):
    truth, run = (simulate(damped_arm(), name, 0.01, 1.0) for name in ("reference", method))
    assert [*run.events.constraint] == [*truth.events.constraint] and len(run.events) >= 4
    for i in range(4):
        angle = f"joint_{i}"
        assert float(abs(run[angle].angle - truth[angle].angle).max()) < bound
    assert taut.simulate(damped_arm(), method="rattle", dt=0.01, duration=0.1).status == "diverged"
    assert next(f.value for f in examine(damped_arm(), 0.01) if f.topic == "method") == ALPHA


# What is told before a run


def test_the_doctor_suggests_it_where_forces_are_too_fast_for_the_step():
    def method(scene, dt):
        return next(f.value for f in examine(scene, dt) if f.topic == "method")

    assert method(oscillator(1e3), 0.01) == ALPHA
    assert method(oscillator(1e3), 1e-5) != ALPHA
    spinning = taut.Scene(gravity=(0, 0, 0))
    spinning.rigid((0, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.2), angular_velocity=(0, 0, 500.0))
    assert method(spinning, 0.01) == "reference"
