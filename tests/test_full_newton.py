"""newton="full": the solution of the symmetric form, in fewer iterations where steps are long."""

import numpy as np
import pytest

import taut
from taut.methods import METHODS

WITH_NEWTON = [name for name, method in METHODS.items() if any(option.name == "newton" for option in method.options)]
SCENES = {"two_link": 0.05, "four_bar": 0.05, "bricard": 0.01, "driven_anchor": 0.05, "angle_hold": 0.05}


def both(simulate, scene, method, dt, steps, **more):
    return [simulate(taut.gallery(scene), method, dt, steps * dt, tolerance=1e-11, newton=form, **more)
            for form in ("symmetric", "full")]


def test_the_methods_of_the_implicit_step_offer_it():
    assert set(WITH_NEWTON) == {"implicit_first", "rattle", "fast_projection"}


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("method", WITH_NEWTON)
@pytest.mark.filterwarnings("ignore::taut.errors.TautWarning")
def test_both_forms_give_the_same_motion_and_hold_the_tolerance(method, scene, simulate):
    """fast_projection moves along another direction in the full form, which is of higher order than its error."""
    usual, full = both(simulate, scene, method, SCENES[scene], 20)
    held = float(np.abs(full.records.phi).max())
    apart = float(np.abs(full.records.x - usual.records.x).max())
    assert full.status == "finished" and held <= 1e-11, f"{full.message} |Φ| {held:.2e}"
    if method == "fast_projection":
        fine = simulate(taut.gallery(scene), method, SCENES[scene] / 10, 20 * SCENES[scene], record_every=10)
        error = float(np.abs(usual.records.x - fine.records.x).max())
        assert apart < 0.1 * error, f"{apart:.2e} m apart, error {error:.2e} m"
    else:
        assert apart < 1e-7, f"{apart:.2e} m apart"


@pytest.mark.parametrize("solver", ["dense", "banded", "sparse", "pcg", "minres", "bicgstab"])
def test_every_solver_serves_the_full_form(solver, simulate):
    one, other = (simulate(taut.gallery("chain", n=8), "implicit_first", 0.05, 0.5, tolerance=1e-11, newton="full",
                           solver=name) for name in ("auto", solver))  # fmt: skip
    apart = float(np.abs(one.records.x - other.records.x).max())
    assert apart < 1e-9 and other.info["failed_solves"] == 0, f"{apart:.2e} m apart"
    assert "BiCGSTAB" in other.info["solver_chosen"], other.info["solver_chosen"]


@pytest.mark.parametrize("scene", ["two_link", "four_bar"])
@pytest.mark.parametrize("method", ["implicit_first", "rattle"])
def test_long_steps_take_less_than_half_the_iterations(method, scene, simulate):
    usual, full = both(simulate, scene, method, 0.3, 33)
    counts = [run.info["corrections"] for run in (usual, full)]
    assert full.status == "finished" and counts[1] < 0.5 * counts[0], counts


def test_without_a_tolerance_the_full_form_has_its_own(simulate):
    run = simulate(taut.gallery("two_link"), "implicit_first", 0.05, 1.0, newton="full")
    assert float(np.abs(run.records.phi).max()) < 1e-9


def test_contacts_and_cloth_refuse_it():
    with pytest.raises(taut.TautError, match="newton"):
        taut.simulate(taut.gallery("bouncing_ball"), "implicit_first", 0.01, 0.1, newton="full")
