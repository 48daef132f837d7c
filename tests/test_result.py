"""Laws of results: names and forces are right."""

from __future__ import annotations

import numpy as np
import pytest
from words_records import INFO, at_start, made_up, pendulum

import taut
from taut.errors import TautError
from taut.model import build
from taut.model.frames import rotate
from taut.result import Records, Run


def test_a_scene_with_functions_gives_data_alone_and_forces_with_the_scene(tmp_path):
    def circle(q, t):
        return q[0, 0] * q[0, 0] + q[0, 1] * q[0, 1] - 1.0

    scene = taut.Scene(name="own")
    scene.particle((0.6, -0.8, 0), name="bob")
    scene.custom("bob", function=circle, name="own")
    model = build(scene)
    arrays = at_start(model)
    arrays["lam"][:] = 3.0
    Run(scene, model, Records(**arrays), "finished", "", INFO).save(tmp_path / "out.taut")
    run = taut.open(tmp_path / "out.taut")
    assert run["bob"].position.values[0].tolist() == [0.6, -0.8, 0.0]
    with pytest.raises(TautError, match="scene=scene"):
        run["own"].force  # noqa: B018 - asking for it is the test
    with pytest.raises(TautError, match="another scene"):
        taut.open(tmp_path / "out.taut", scene=pendulum())
    force = taut.open(tmp_path / "out.taut", scene=scene)["own"].force.sel(body="bob").values[0]
    np.testing.assert_allclose(force, [3.6, -4.8, 0.0], atol=1e-13, err_msg="λ ∇Φ with λ = 3")


# Names


def test_rows_are_named_in_scene_order_and_hold_the_model_s_numbers():
    scene = taut.Scene()
    scene.particle((1, 0, 0), name="a")
    scene.particle((2, 0, 0), name="b")
    scene.on_plane("b", normal=(0, 0, 1), name="flat")
    scene.distance("a", "b", name="rod")
    scene.fixed_point("a", name="pin")
    scene.distance((0, 5, 0), "b", name="rope")
    model = build(scene)
    run = Run(scene, model, Records(**made_up(model, 2)), "finished", "", INFO)
    names = list(run.data.constraint.values)
    assert names == ["flat", "rod", "pin[0]", "pin[1]", "pin[2]", "rope"], names
    for row, name in enumerate(model.row_names):
        found = run.data.constraint_error.sel(constraint=name).values
        assert (found == run.records.phi[:, row]).all(), f"'{name}' has {found}, not column {row} of Φ"
    assert run["pin"].error.shape == (2, 3) and run["rod"].multiplier.shape == (2,)


def test_dataset_has_only_the_dimensions_that_the_scene_has():
    scene = pendulum()
    model = build(scene)
    data = Run(scene, model, Records(**made_up(model, 3)), "finished", "", INFO).data
    assert set(data.sizes) == {"time", "body", "xyz", "constraint"}, data.sizes
    assert list(data.body.values) == ["bob"], "places in the world are not bodies"
    assert all("units" in data[name].attrs for name in data.data_vars), data


def test_unknown_names_are_refused_with_a_suggestion():
    model = build(pendulum())
    run = Run(pendulum(), model, Records(**at_start(model)), "finished", "", INFO)
    with pytest.raises(TautError, match="Did you mean 'rod'"):
        run["rode"]
    with pytest.raises(TautError, match="is a particle and has no orientation"):
        run["bob"].orientation  # noqa: B018 - asking for it is the test


# Forces


def test_pendulum_force_is_the_closed_form():
    """T = m (g cos θ + v²/L), towards the pivot."""
    scene = pendulum()
    model = build(scene)
    tension = 2.0 * (9.81 * 0.8 + 1.0)
    arrays = at_start(model)
    arrays["lam"][:] = -tension
    run = Run(scene, model, Records(**arrays), "finished", "", INFO)
    force = run["rod"].force.isel(time=0)
    expected = -tension * np.array([0.6, -0.8, 0.0])
    np.testing.assert_allclose(force.sel(body="bob"), expected, atol=1e-13, err_msg="on the bob")
    np.testing.assert_allclose(force.sel(body="world"), -expected, atol=1e-13, err_msg="on the world")
    assert not run["rod"].torque.any(), "a particle is not turned"
    momentum = run.data.momentum.values[0]
    np.testing.assert_allclose(momentum, [1.6, 1.2, 0.0], atol=1e-15, err_msg="m v")
    spin = run.data.angular_momentum.values[0, 2]
    assert abs(spin - 2.0) < 1e-15, f"m L v = 2, but {spin}"


def tilted_box() -> taut.Scene:
    """A body whose principal axes are not its own, turned and spinning."""
    scene = taut.Scene()
    inertia = [[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.0]]
    box = scene.rigid((1, 2, 3), mass=3.0, inertia=inertia, orientation=((1, 1, 0), 0.7), velocity=(1, 0, -1),
                      angular_velocity=(0.3, -0.2, 0.5), name="box")
    arm = rotate(np.array(scene.bodies["box"].orientation), np.array([0.5, 0, 0.2]))
    scene.ball(box.at((0.5, 0, 0.2)), (1 + arm[0], 2 + arm[1], 3 + arm[2]), name="joint")
    return scene


def test_ball_joint_force_and_torque_are_those_of_its_place():
    scene = tilted_box()
    model = build(scene)
    arrays = at_start(model)
    arrays["lam"][:] = 1.0, 2.0, 3.0
    run = Run(scene, model, Records(**arrays), "finished", "", INFO)
    force, torque = (
        array.isel(time=0).sel(body="box").values for array in (run["joint"].force, run["joint"].torque)
    )
    arm = rotate(np.array(scene.bodies["box"].orientation), np.array([0.5, 0, 0.2]))
    assert np.allclose(np.abs(force), [1, 2, 3], atol=1e-14), force
    np.testing.assert_allclose(torque, np.cross(arm, force), atol=1e-14, err_msg="arm × force")


def test_orientation_and_spin_are_given_in_the_user_s_frames():
    scene = tilted_box()
    body, model = scene.bodies["box"], build(scene)
    run = Run(scene, model, Records(**at_start(model)), "finished", "", INFO)
    found = run["box"].orientation.values[0]
    np.testing.assert_allclose(found, body.orientation, atol=1e-14, err_msg="orientation")
    found = run["box"].angular_velocity.values[0]
    np.testing.assert_allclose(found, body.angular_velocity, atol=1e-14, err_msg="angular velocity")
    turn = np.array(body.orientation)
    own = rotate(turn * (1, -1, -1, -1), np.array(body.angular_velocity))
    spin = rotate(turn, np.array(body.inertia) @ own) + 3.0 * np.cross(body.position, body.velocity)
    found = run.data.angular_momentum.values[0]
    np.testing.assert_allclose(found, spin, atol=1e-13, err_msg="L = x × m v + R I Rᵀ ω")


@pytest.mark.parametrize("every", [1, 2])
def test_force_is_that_of_the_chart_in_which_the_step_began(every):
    """The edges turn past 45° in one step; λ still belongs to the rows chosen before: Φ = (u × w) / s."""
    scene = taut.Scene()
    for name, place in {"a": (0, 0, 0), "b": (1, 0.9, 0), "c": (3, 0, 0), "d": (4, 0.9, 0)}.items():
        scene.particle(place, name=name)
    scene.parallel("a", "b", "c", "d", name="both")
    model = build(scene)
    arrays = at_start(model, 2)
    arrays["time"][1] = INFO["dt"] * every
    turned = np.array([0.9, 1.0, 0.0])
    for end, start in (("b", "a"), ("d", "c")):
        slots = {info.name: info.slot for info in model.body_info}
        arrays["x"][1, slots[end]] = arrays["x"][1, slots[start]] + turned
        arrays["v"][1, slots[end]] = np.array([-0.1, 0.1, 0.0]) / INFO["dt"]
    arrays["lam"][:] = 0.0, 1.0  # the second row is then the z-component
    run = Run(scene, model, Records(**arrays), "finished", "", {**INFO, "record_every": every})
    found = run["both"].force.sel(body="b").values[1]
    expected = np.array([turned[1], -turned[0], 0.0]) / 1.81
    np.testing.assert_allclose(found, expected, atol=1e-15, err_msg="∂Φ_z/∂b = (w_y, -w_x, 0) / s")


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("name", ["four_bar", "parallel_edges", "bead_on_curve"])
def test_power_of_constraint_forces_is_multiplier_times_rate(name, every):
    """Σ F·v + τ·ω = λ·dΦ/dt: force and torque belong to the recorded λ, chart by chart."""
    run = taut.simulate(taut.gallery(name), dt=0.01, duration=1.0, record_every=every, progress=False)
    for info in run.model.constraint_info:
        result = run[info.name]
        power, size = 0.0, 0.0
        for body in result.force.body.values:
            if body == "world":
                continue
            force = result.force.sel(body=body).values
            kind = next(entry.kind for entry in run.model.body_info if entry.name == body)
            terms = [force[:, :1] * run[body].rate.values[:, None]] if kind == "coordinate" else [
                force * run[body].velocity.values]
            if kind == "rigid":
                terms.append(result.torque.sel(body=body).values * run[body].angular_velocity.values)
            power = power + sum(term.sum(axis=1) for term in terms)
            size = size + sum(np.abs(term).sum(axis=1) for term in terms)
        expected = (result.multiplier * result.rate).values.reshape(len(run.records), -1).sum(axis=1)
        miss = np.max(np.abs(power - expected) / (1.0 + size))
        assert miss < 1e-12, f"'{info.name}': power is off by {miss:.2g} of its terms"
