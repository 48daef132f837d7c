"""Rank is decided at each configuration, for every solver: redundant rows, near misses, singular positions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from words_linalg import System, relative, shortest_least_squares

import taut
from taut.methods import METHODS

DIRECT = ("dense", "banded", "sparse")
# Methods that hold Bricard's loop at 1 ms, and how far from `reference` they may be after 0.6 s: by their order.
HOLDING = {"implicit_first": 2e-2, "baumgarte": 1e-9, "implicit_second": 1e-6, "rattle": 1e-6, "rattle_fourth": 1e-9}


def dense_system(J: np.ndarray) -> System:
    """A system whose rows touch every slot."""
    m, n = J.shape
    slots = n // 3
    row_ptr, slot = np.arange(0, m * slots + 1, slots), np.tile(np.arange(slots), m)
    return System(row_ptr, slot, J.reshape(-1, 3), np.ones((slots, 3)))


def deficient(seed: int, condition: float, scale: float, redundant: int) -> System:
    """20 rows whose independent part has the given condition number in A, in random units from 1/scale to scale."""
    rng = np.random.default_rng(seed)
    m, n = 20, 36
    left = np.linalg.qr(rng.normal(size=(m - redundant, m - redundant)))[0]
    right = np.linalg.qr(rng.normal(size=(n, m - redundant)))[0]
    J = left * np.geomspace(1.0, condition**-0.5, m - redundant) @ right.T
    J = np.vstack([J, rng.normal(size=(redundant, m - redundant)) @ J])[rng.permutation(m)]
    return dense_system(J * np.exp(rng.uniform(-np.log(scale), np.log(scale), m))[:, None])


@pytest.mark.parametrize("solver", DIRECT)
@pytest.mark.parametrize("redundant", (1, 5))
@pytest.mark.parametrize(("condition", "scale"), ((1e2, 1.0), (1e6, 1.0), (1e2, 1e4)))
def test_redundant_rows_cost_no_digits_of_multipliers(condition, scale, redundant, solver):
    worst = 0.0
    for seed in range(5):
        system = deficient(seed, condition, scale, redundant)
        weight = np.sqrt(np.diag(system.A))
        b = system.A @ (np.random.default_rng(seed).normal(size=system.m) / weight)
        lam, dependent, status = system.solve(solver, b)
        assert dependent > 0 and status == 0, (dependent, status)
        worst = max(worst, relative(weight * lam, weight * shortest_least_squares(system.A, b)))
    assert worst < 1e-14 * condition * scale, f"λ is off by {worst:.2g} of the largest"


@pytest.mark.parametrize("solver", ("minres", "pcg"))
@pytest.mark.parametrize("conflict", (0.0, 1e-9, 1.0))
def test_iterations_solve_deficient_systems_or_say_so(conflict, solver):
    for seed in range(5):
        system = deficient(seed, 1e2, 1.0, 3)
        b = system.A @ np.random.default_rng(seed).normal(size=system.m)
        b += conflict * np.random.default_rng(seed + 50).normal(size=system.m)
        lam, _, status = system.solve(solver, b)
        expected = system.A @ shortest_least_squares(system.A, b)
        error = relative(system.A @ lam, expected)
        assert status == 1 or error < 1e-8, f"status {status}, A λ off by {error:.2g}"


@pytest.mark.parametrize("solver", DIRECT)
@pytest.mark.parametrize("small", (1e-2, 1e-3, 3e-4, 1e-4, 1e-6))
def test_a_null_vector_that_ends_in_small_entries_is_found(small, solver):
    """Its zero is spread over two pivots, neither of which is small enough to be called zero."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=12)
    z[-1] = small
    J = rng.normal(size=(12, 18))
    J -= np.outer(z, z @ J) / (z @ z)
    system = dense_system(J)
    b = system.A @ rng.normal(size=12) + 1e-9 * z
    lam, dependent, _ = system.solve(solver, b)
    error = relative(lam, shortest_least_squares(system.A, b))
    assert dependent > 0 and error < 1e-9, (dependent, error)


@pytest.mark.parametrize("solver", DIRECT)
def test_a_regular_system_with_small_pivots_is_not_called_singular(solver):
    """A light straight chain with a load of 100,000 times its mass."""
    J = np.array([[1.0, 0, 0, 0, 0, 0], [-1.0, 0, 0, 10**-2.5, 0, 0]])
    system = dense_system(J)
    lam, dependent, _ = system.solve(solver, np.array([1.0, 0.0]))
    error = relative(lam, np.linalg.solve(system.A, [1.0, 0.0]))
    assert dependent == 0 and error < 1e-9, (dependent, error)


def sideways(order: list[int]) -> taut.Scene:
    """120 rods on hinges about z, which gravity along z bends like one beam; joints are written in the given order."""
    scene = taut.Scene(gravity=(0, 0, -10.0))
    rods = [
        scene.rigid((i + 0.5, 0, 0), mass=1.0, inertia=(0.01, 0.1, 0.1), name=f"rod_{i}") for i in range(len(order))
    ]
    for i in order:
        before = rods[i - 1].at((0.5, 0, 0)) if i else (0, 0, 0)
        scene.hinge(rods[i].at((-0.5, 0, 0)), before, axis=(0, 0, 1), name=f"joint_{i}")
    return scene


@pytest.mark.parametrize("order", ("outwards", "inwards", "mixed"))
def test_a_long_chain_of_rods_is_not_called_singular_however_it_is_written(order):
    """A's smallest eigenvalue is n⁻⁴ of its largest; still the joint at the ground carries all the rods."""
    n = 120
    numbers = {"outwards": list(range(n)), "inwards": list(range(n))[::-1],
               "mixed": list(np.random.default_rng(0).permutation(n))}[order]  # fmt: skip
    run = taut.simulate(sideways(numbers), "implicit_first", dt=0.001, duration=0.002, progress=False)
    root = run["joint_0"]
    force, torque = (float(abs(values.sel(body="rod_0")[-1]).max()) for values in (root.force, root.torque))
    assert run.info["singular_systems"] == 0, run.info
    assert abs(force / (10.0 * n) - 1) < 1e-6, f"{force:.9g} N at the ground, not {10 * n}"
    about_centre = 10.0 * n * n / 2 - 0.5 * 10.0 * n
    assert abs(torque / about_centre - 1) < 1e-6, f"{torque:.9g} N m, not {about_centre:g}"


# Bricard's mechanism


@pytest.fixture(scope="module")
def bricard(simulate):
    """The motion of the loop, by `reference`; how its hinges are written does not matter."""
    runs = [simulate(taut.gallery("bricard", hinges=h), "reference", 0.1, 0.6) for h in ("parallel", "balls", "joints")]
    apart = max(np.abs(runs[0].data.position.values - run.data.position.values).max() for run in runs[1:])
    assert apart < 1e-10, f"ways to write a hinge differ by {apart:.2g} m"
    return runs[0]


@pytest.mark.parametrize("hinges", ("parallel", "balls"))
@pytest.mark.parametrize(("name", "solver"), [(n, "auto") for n in HOLDING] + [("implicit_second", s) for s in DIRECT])
def test_bricards_mechanism_moves(name, solver, hinges, bricard, simulate):
    scene = taut.gallery("bricard", hinges=hinges)
    run = simulate(scene, name, 0.001, 0.6, record_every=100, solver=solver)
    apart = np.abs(run.data.position.values - bricard.data.position.values).max()
    assert apart < HOLDING[name], f"off by {apart:.2g} m"
    moved = np.abs(run.data.position[-1] - run.data.position[0]).max()
    assert moved > 0.1, f"it moved by {float(moved):.2g} m only"
    assert run.info["doubtful_systems"] == 0 < run.info["singular_systems"], run.info
    load = np.abs(run.records.lam[-1]).max() / np.abs(bricard.records.lam[-1]).max()
    assert load < (10.0 if hinges == "balls" else 1.1), f"λ is {load:.2g} times as large"


@pytest.mark.parametrize("name", ("lagrange", "baumgarte"))
def test_methods_without_projection_keep_their_order_on_a_redundant_loop(name, bricard, simulate):
    """Beside the motion, where they soon are, its redundant row contradicts the others."""
    exact = bricard.data.position.values[-1]
    scene = taut.gallery("bricard", hinges="joints")
    rough, fine = (np.abs(simulate(scene, name, 0.6 / n, 0.6).data.position.values[-1] - exact).max() for n in (4, 8))
    assert rough < 5e-3, f"4 steps: off by {rough:.2g} m"
    assert fine < rough / 2**3.5, f"8 steps: off by {fine:.2g} m, after {rough:.2g} m with 4"


@pytest.mark.parametrize("left", ("one", "two"))
@pytest.mark.parametrize("name", ("lagrange", "baumgarte", "reference"))
def test_a_row_that_is_kept_out_takes_over_when_the_other_is_switched_off(name, left, simulate):
    def swinging(*rods: tuple[str, str | None]) -> taut.Scene:
        scene = taut.Scene()
        bob, guide = scene.particle((1, 0, 0), name="bob"), scene.particle((1, -1, 0), name="guide")
        for rod, when in rods:
            scene.distance(bob, (0, 0, 0), name=rod, **({"when": when} if when else {}))
        scene.distance(bob, guide, name="lower")
        return scene

    when = {"one": None, "two": None} | {{"one": "two", "two": "one"}[left]: "t < 0.3"}
    both = simulate(swinging(*when.items()), name, 0.005, 0.6)
    single = simulate(swinging(("one", None)), name, 0.005, 0.6)
    apart = np.abs(both.data.position.values[-1] - single.data.position.values[-1]).max()
    assert apart < 1e-6, f"the second rod moved a body by {apart:.2g} m"


# Positions where J loses rank


@pytest.mark.parametrize("tolerance", (1e-9, 1e-11, None))
def test_the_reference_passes_singular_positions_at_any_tolerance(tolerance, simulate):
    run = simulate(taut.gallery("four_bar", n=4), "reference", 0.02, 3.0, tolerance=tolerance)
    energy = run.data.energy_total.values
    drift = np.abs(energy - energy[0]).max()
    assert drift < 1e-6, f"energy is off by {drift:.2g} J"


@pytest.mark.parametrize("dt", np.geomspace(0.001, 0.003, 8))
def test_a_four_bar_passes_its_singular_position_wherever_steps_end(dt, simulate):
    run = simulate(taut.gallery("four_bar", n=1), "rattle_fourth", float(dt), 3.5)
    energy = run.data.energy_total.values
    drift = np.abs(energy - energy[0]).max()
    assert drift < 1e-6, f"energy is off by {drift:.2g} J"


def test_a_doubtful_rank_is_told():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = taut.simulate(taut.gallery("four_bar", n=2), "reference", dt=0.02, duration=1.5, progress=False)
    assert run.info["doubtful_systems"] > 0
    assert any("nearly singular" in note for note in run.notes), run.notes


def test_a_redundant_loop_far_from_singular_positions_is_in_no_doubt(simulate):
    """Bricard's: stages of a step stand off its constraints, where the redundant row is none."""
    run = simulate(taut.gallery("bricard"), "reference", 0.1, 2.0)
    assert run.info["doubtful_systems"] == 0 and run.info["singular_systems"] > 0, run.notes


@pytest.mark.parametrize("name", METHODS)
def test_the_remedy_for_a_failed_step_is_one_that_helps(name):
    method = METHODS[name]
    assert ("smaller dt" in method.hooks.remedy) != (method.adaptive or method.rings), method.hooks.remedy


@pytest.mark.parametrize("arms", (2, 3, 4))
def test_long_arms_on_one_hub_are_not_taken_for_singular(arms):
    scene = taut.Scene()
    hub = scene.rigid((0, 0, 0), shape={"box": [0.2, 0.2, 0.2]}, mass=1.0, name="hub")
    scene.hinge(hub, (0, 0, 0), axis=(0, 0, 1), name="pin")
    for arm in range(arms):
        angle, before = 2.0 * np.pi * arm / arms, hub
        for i in range(120):
            centre = ((i + 0.5) * np.cos(angle), (i + 0.5) * np.sin(angle), 0.0)
            rod = scene.rigid(centre, shape={"box": [1, 0.05, 0.05]}, mass=1.0, orientation=("z", angle))
            scene.hinge(rod.at((-0.5, 0, 0)), before, axis=(0, 0, 1))
            before = rod.at((0.5, 0, 0))
    run = taut.simulate(scene, "lagrange", dt=1e-6, duration=2e-6, progress=False)
    assert (run.info["singular_systems"], run.info["doubtful_systems"]) == (0, 0), run.notes


def upright_angles(run: taut.Run) -> np.ndarray:
    """Of the upright links of four-bars in a row, which are equal on the branch that they begin on."""
    count = sum(info.name.startswith("upright_") for info in run.model.body_info)
    arms = [run.data.position.sel(body=f"upright_{i}").values - (i, 0, 0) for i in range(count)]
    return np.unwrap([np.arctan2(arm[:, 1], arm[:, 0]) for arm in arms], axis=1)


@pytest.mark.parametrize("dt", np.geomspace(0.0009, 0.0035, 6))
@pytest.mark.parametrize("loops", [1, 4, 20])
def test_generalized_alpha_passes_flat_loops_on_their_branch_wherever_steps_end(loops, dt, simulate):
    run = simulate(taut.gallery("four_bar", n=loops), "generalized_alpha", float(dt), 3.5 if loops < 20 else 1.4)
    angles, energy = upright_angles(run), run.records.energy[:, :2].sum(axis=1)
    parted = np.abs(angles - angles[0]).max()
    assert parted < 1e-8, f"the links part by {parted:.3g} rad: another branch"
    drift = np.abs(energy - energy[0]).max() / run.records.energy[:, 0].max()
    assert drift < 20.0 * dt**2, f"energy is off by {drift:.2g} of the largest kinetic energy"
    assert np.abs(run.records.phi).max() < 1e-12, f"|Φ| {np.abs(run.records.phi).max():.3g}"


@pytest.mark.parametrize("rho", [0.5, 0.8, 1.0])
def test_places_of_generalized_alpha_do_not_slip_along_the_branch_of_a_flat_linkage(rho, simulate):
    """A step that ends next to the flat position: Φ = 0 does not tell where along the branch a place is."""
    scene = taut.gallery("four_bar", n=1, speed=2.631582096201642)
    run = simulate(scene, "generalized_alpha", 0.0018973482552326916, 0.6, rho=rho)
    energy = run.records.energy[:, :2].sum(axis=1)
    assert np.abs(energy - energy[0]).max() < 0.01, f"energy is off by {np.abs(energy - energy[0]).max():.3g} J"
    third = np.abs(np.diff(run.data.position.values, 3, axis=0)).max()
    assert third < 1e-5, f"a place is off by {third:.3g} m in one step"


def test_generalized_alpha_is_of_second_order_across_a_flat_position(simulate, slope):
    scene = taut.gallery("four_bar", n=4)
    exact = simulate(scene, "reference", 1.5, 1.5).records
    steps = [1.5 / n for n in (375, 750, 1500)]
    runs = [simulate(scene, "generalized_alpha", h, 1.5).records for h in steps]
    for what in ("x", "v"):
        errors = [np.abs(getattr(run, what)[-1] - getattr(exact, what)[-1]).max() for run in runs]
        assert abs(slope(steps, errors) - 2.0) < 0.2, f"{what}: order {slope(steps, errors):.3f}, errors {errors}"


def test_a_run_that_can_not_pass_a_singular_position_says_where_and_between_what():
    """Loops that lie flat at once: what can not keep the branch ends there, on the branch, and names constraints."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = taut.simulate(taut.gallery("four_bar", n=40), "rattle", dt=0.002, duration=1.4, progress=False)
    angles = upright_angles(run)
    parted = np.abs(angles - angles[0]).max()
    assert parted < 1e-6, f"the links part by {parted:.3g} rad: another branch"
    if run.status != "finished":
        assert run.status == "diverged" and "is singular" in run.message and "'left_" in run.message, run.message
        assert abs(np.sin(angles[0][-1])) < 0.05, f"it ended at {angles[0][-1]:.3g} rad, which is not flat"


def test_rattle_keeps_its_branch_with_forty_loops_at_a_smaller_step(simulate):
    run = simulate(taut.gallery("four_bar", n=40), "rattle", 0.001, 1.4)
    energy = run.data.energy_total.values
    assert run.status == "finished" and np.abs(energy - energy[0]).max() < 0.02, np.abs(energy - energy[0]).max()
