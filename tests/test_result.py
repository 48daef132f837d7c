"""Laws of results: bits survive storing, killing and resuming; names and forces are right."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time as clock
from pathlib import Path

import numpy as np
import pytest

import taut
from taut.errors import TautError
from taut.model import build
from taut.model.frames import rotate
from taut.result import Records, Run, Store
from taut.result.store import StoredRecords

INFO = {"method": "by hand", "dt": 0.5, "record_every": 1, "options": {}, "steps_done": 4}


def pendulum() -> taut.Scene:
    scene = taut.Scene(name="pendulum")
    scene.particle((0.6, -0.8, 0.0), mass=2.0, velocity=(0.8, 0.6, 0.0), name="bob")
    scene.distance((0, 0, 0), "bob", name="rod")
    return scene


def made_up(model, count: int, first: int = 0) -> dict[str, np.ndarray]:
    """Records in which every number tells its own place."""
    found = {}
    for name, shape in Records.shapes(model).items():
        k = np.arange(first, first + count, dtype=float).reshape(-1, *(1 for _ in shape))
        found[name] = np.sin(k) + np.arange(int(np.prod(shape))).reshape(shape)
    return found


def at_start(model, count: int = 1) -> dict[str, np.ndarray]:
    """Records that stay at the initial state, with zeros for the rest."""
    found = {name: np.zeros((count, *shape)) for name, shape in Records.shapes(model).items()}
    slots = int(model.bodies.slots)
    found["x"][:], found["quat"][:], found["v"][:] = model.x[:slots], model.quat, model.v[:slots]
    return found


def assert_same_bits(found: dict, expected: dict) -> None:
    for name, values in expected.items():
        assert found[name].tobytes() == values.tobytes(), f"'{name}' differs after reading back"


# Storing


def test_records_read_in_part_are_those_of_the_whole_and_are_checked(tmp_path, monkeypatch):
    monkeypatch.setattr("taut.result.store.CHUNK_BYTES", 2000)  # whole chunks after a few records
    scene, path = pendulum(), tmp_path / "out.taut"
    model = build(scene)
    arrays = made_up(model, 50)
    Run(scene, model, Records(**arrays), "finished", "", INFO).save(path)
    store = Store.open(path)
    for begin, end in [(0, 50), (0, 1), (3, 4), (7, 31), (12, None), (49, 50), (44, 99), (50, 60), (20, 10)]:
        wanted = {name: values[begin:end] for name, values in arrays.items()}
        assert_same_bits(store.read(begin, end), wanted)
        assert_same_bits({"x": store.read_one("x", begin, end)}, {"x": wanted["x"]})
    at = np.array([40, 2, 17])
    lazy = taut.open(path, lazy=True).records
    assert_same_bits(lazy.part(at).as_dict(), {name: values[at] for name, values in arrays.items()})
    assert_same_bits(lazy.as_dict(), arrays)
    (path / "records.zarr" / "x" / "c.1.0.0").unlink()
    lazy, chunk = taut.open(path, lazy=True).records, store._header["chunk"]
    assert_same_bits(lazy.part(np.arange(chunk)).as_dict(), {name: v[:chunk] for name, v in arrays.items()})
    for ask in (lambda: lazy.x, lambda: lazy.part(np.array([chunk])).x, lambda: lazy.places(np.array([chunk]))):
        with pytest.raises(TautError, match=r"c\.1\.0\.0 is missing"):
            ask()
    again = taut.open(path, lazy=True, recover=True).records
    assert_same_bits(again.as_dict(), {name: v[:chunk] for name, v in arrays.items()})


def test_energies_that_an_earlier_version_did_not_keep_are_zero_also_where_they_are_read_late(tmp_path, monkeypatch):
    model, path = build(pendulum()), tmp_path / "out.taut"
    shapes = {**Records.shapes(model), "energy": (3,)}
    monkeypatch.setattr(Records, "shapes", lambda model: shapes)
    store = Store.create(path, pendulum(), model, 4, INFO)
    store.append(made_up(model, 4), {}, 4)
    store.finish("finished", "", {})
    whole, late = Records(**store.read()), StoredRecords(store)
    assert late.energy.shape == (4, 6) and late.energy.tobytes() == whole.energy.tobytes()
    assert late.energy_drift().tobytes() == whole.energy_drift().tobytes()


def test_saved_run_reads_back_to_the_last_bit(tmp_path):
    scene = pendulum()
    model = build(scene)
    arrays = made_up(model, 5)
    arrays["lam"][:3, 0] = -0.0, np.nan, 5e-324
    arrays["phi"][:] = -0.0  # a chunk of nothing but fill must not lose its sign
    run = Run(scene, model, Records(**arrays), "finished", "", INFO)
    run.save(tmp_path / "out.taut")
    again = taut.open(tmp_path / "out.taut")
    assert_same_bits(again.records.as_dict(), arrays)
    assert again.data.identical(run.data), f"datasets differ:\n{again.data}\n{run.data}"
    assert again.scene == scene and again.status == "finished" and again.info["options"] == {}


@pytest.mark.parametrize("seed", range(3))
def test_records_appended_in_any_pieces_with_reopening_are_the_same(tmp_path, seed, monkeypatch):
    monkeypatch.setattr("taut.result.store.CHUNK_BYTES", 2000)  # whole chunks after a few records
    rng = np.random.default_rng(seed)
    scene = pendulum()
    model = build(scene)
    store = Store.create(tmp_path / "out.taut", scene, model, 100, INFO)
    done = 0
    while done < 100:
        count = min(int(rng.integers(0, 25)), 100 - done)
        state = {"x": np.full(3, float(done + count))}
        store.append(made_up(model, count, done), state, 2 * (done + count))
        state["x"][:] = -1.0  # the caller's arrays go on changing
        done += count
        if rng.random() < 0.5:
            store.commit()
            store.release()
            store = Store.open(tmp_path / "out.taut", to_write=True)
            assert len(store) == done, f"{len(store)} of {done} records count"
    store.finish("finished", "", {"wall_time": 1.0})
    store = Store.open(tmp_path / "out.taut")
    assert_same_bits(store.read(), made_up(model, 100))
    kept, step = store.state()
    assert (kept["x"][0], step) == (100.0, 200), f"state {kept['x'][0]} at step {step}, expected 100 and 200"


KILLED = """
import sys
sys.path.insert(0, {tests!r})
from test_result import *
from taut.result import store as module
module.CHUNK_BYTES = 50_000
model = build(pendulum())
store, done = Store.create({path!r}, pendulum(), model, 10**7, INFO), 0
print("go", flush=True)
while True:
    count = 1 + 37 * done % 301
    done += count
    store.append(made_up(model, count, done - count), {{"x": np.full(20_000, float(done))}}, 3 * done)
"""


def test_a_killed_process_leaves_a_store_whose_committed_part_is_right(tmp_path):
    rng = np.random.default_rng()
    model = build(pendulum())
    paths = [tmp_path / f"{i}.taut" for i in range(4)]
    for pair in (paths[:2], paths[2:]):
        code = [KILLED.format(tests=str(Path(__file__).parent), path=str(path)) for path in pair]
        children = [subprocess.Popen([sys.executable, "-c", c], stdout=subprocess.PIPE) for c in code]
        for child in children:
            assert child.stdout.readline() == b"go\n"
            clock.sleep(rng.uniform(0.05, 0.5))
            child.send_signal(signal.SIGKILL)
            child.wait()
            child.stdout.close()
    for path in paths:
        store = Store.open(path)
        assert_same_bits(store.read(), made_up(model, len(store)))
        assert len(store) > 0, "nothing was committed before the process was killed"
        state, step = store.state()
        found = (state["x"][0], state["x"][-1], step)
        assert found == (len(store), len(store), 3 * len(store)), f"{found} with {len(store)} records"
    run = taut.open(paths[0])
    assert run.status == "interrupted" and "--resume" in run.message, f"{run.status}: {run.message}"


def test_an_existing_run_is_replaced_only_when_asked(tmp_path):
    scene, path = pendulum(), tmp_path / "out.taut"
    model = build(scene)
    first, second = (Records(**made_up(model, 4, k)) for k in (0, 10))
    Run(scene, model, first, "finished", "", INFO).save(path)
    with pytest.raises(TautError, match="exists"):
        Run(scene, model, second, "finished", "", INFO).save(path)
    assert_same_bits(taut.open(path).records.as_dict(), first.as_dict())
    Run(scene, model, second, "finished", "", INFO).save(path, overwrite=True)
    assert_same_bits(taut.open(path).records.as_dict(), second.as_dict())
    assert [p.name for p in tmp_path.iterdir()] == ["out.taut"], f"left over: {list(tmp_path.iterdir())}"


def test_a_folder_that_is_not_a_run_is_never_overwritten(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    with pytest.raises(TautError, match="not a stored run"):
        Store.create(tmp_path / "thesis", pendulum(), build(pendulum()), 1, INFO, overwrite=True)
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"


@pytest.mark.parametrize("where", ["missing/out.taut", "file/out.taut"])
def test_an_impossible_path_is_one_message_and_leaves_nothing(tmp_path, where):
    (tmp_path / "file").write_text("")
    with pytest.raises(TautError, match="can not be written") as caught:
        Store.create(tmp_path / where, pendulum(), build(pendulum()), 1, INFO)
    assert where in str(caught.value), caught.value
    assert [p.name for p in tmp_path.iterdir()] == ["file"], f"left over: {list(tmp_path.iterdir())}"


def test_a_full_disk_keeps_what_was_committed(tmp_path):
    model, path = build(pendulum()), tmp_path / "out.taut"
    store = Store.create(path, pendulum(), model, 10_000, INFO)
    store.append(made_up(model, 10), {}, 10)
    store.commit()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises(TautError, match="out.taut' can not be written"):
            store.append(made_up(model, 5000, 10), {}, 5010)
            store.commit()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert_same_bits(Store.open(path).read(), made_up(model, 10))


def test_what_is_not_a_run_is_refused(tmp_path):
    for path, reason in ((tmp_path / "none.taut", "there is no"), (tmp_path, "not a stored run")):
        with pytest.raises(TautError, match=reason):
            taut.open(path)


def test_a_damaged_store_is_one_message(tmp_path):
    model = build(pendulum())
    store = Store.create(tmp_path / "out.taut", pendulum(), model, 4, INFO)
    with pytest.raises(TautError, match="no records"):
        taut.open(store.path)
    (store.path / "commit.npz").write_bytes(b"torn")
    with pytest.raises(TautError, match="damaged"):
        taut.open(store.path)


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
