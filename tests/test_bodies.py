"""Rigid bodies: planar ones, solids from meshes, and what results tell of them."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest
from scipy.special import ellipk

import taut

EXACT = {"method": "reference", "tolerance": 1e-12}


def double_pendulum(planar: bool, z: float = 0.0) -> taut.Scene:
    """Two rods with a spring in the elbow; the second may stand in another plane."""
    scene = taut.Scene()
    given = {"mass": 1.0, "inertia": 1 / 12 if planar else (0.2, 0.2, 1 / 12), "planar": planar}
    upper = scene.rigid((0.5, 0, 0), name="upper", **given)
    lower = scene.rigid((1.0, 0.5, z), orientation=("z", pi / 2), name="lower", **given)
    scene.hinge(upper.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="shoulder")
    elbow = scene.hinge(lower.at((-0.5, 0, 0)), upper.at((0.5, 0, 0)), axis=(0, 0, 1), name="elbow")
    scene.spring_on(elbow, stiffness=3.0, name="spring")
    return scene


def test_planar_bodies_move_as_spatial_ones_with_four_rows_instead_of_ten(simulate):
    spatial, planar = double_pendulum(False), double_pendulum(True, z=0.3)
    rows = taut.build(spatial).row_count, taut.build(planar).row_count
    assert rows == (10, 4), f"rows: {rows}"
    assert int((taut.build(planar).bodies.inverse_mass > 0).sum()) == 6, "a planar body has three unknowns"
    runs = [simulate(scene, dt=0.1, duration=2.0, **EXACT) for scene in (spatial, planar)]
    for read in (lambda run: run["elbow"].angle, lambda run: run["shoulder"].reaction.sel(component="force")):
        first, second = (read(run).values for run in runs)
        apart = np.abs(first - second).max()
        assert np.abs(first).max() > 1 and apart < 1e-9, f"apart by {apart:.3g}"


@pytest.mark.parametrize("joint, rows", [
    (lambda s, a, b: s.hinge(a, b, axis=(0, 0, 1)), 2), (lambda s, a, b: s.ball(a, b), 2),
    (lambda s, a, b: s.slider(a, b, axis=(1, 2, 0)), 2), (lambda s, a, b: s.weld(a, b), 3),
    (lambda s, a, b: s.slider(a, b, axis=(1, 0, 0)), 2), (lambda s, a, b: s.point_on_line(a, b, axis=(1, 2, 0)), 1),
])  # fmt: skip
def test_joints_of_planar_bodies_have_independent_rows_alone(joint, rows):
    scene = taut.Scene()
    a = scene.rigid((-0.3, -0.1, 0), mass=1.0, inertia=0.1, planar=True)
    b = scene.rigid((-0.2, 0.2, 0), mass=2.0, inertia=0.2, planar=True, orientation=("z", -pi / 2))
    joint(scene, a.at((0.3, 0.1, 0)), b.at((0.2, 0.2, 0)))
    model = taut.build(scene)
    run = taut.simulate(scene, method="lagrange", dt=0.01, duration=0.01, progress=False)
    assert model.row_count == rows, f"{model.row_count} rows"
    assert not run.info.get("singular_systems"), run.notes


@pytest.mark.parametrize("given, words", [
    ({"velocity": (0, 0, 1)}, "keeps its z"), ({"angular_velocity": (1, 0, 0)}, "turns about z"),
    ({"path": (0, 0, "t**2")}, "path leaves the plane"),
])  # fmt: skip
def test_a_planar_body_that_leaves_its_plane_is_refused(given, words):
    with pytest.raises(taut.TautError, match=words):
        taut.Scene().rigid((0, 0, 0), mass=1.0, inertia=1.0, planar=True, **given)


def test_planar_bodies_are_kept_in_scene_files(tmp_path):
    scene = double_pendulum(True)
    assert taut.load(scene.save(tmp_path / "planar.yaml")) == scene


def tetrahedron(path, order=((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))):
    corners = ((0, 0, 0), (2, 0, 0), (0, 3, 0), (0, 0, 4))
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in order]
    path.write_text("\n".join(lines))
    return path


def test_a_closed_mesh_gives_mass_and_inertia(tmp_path):
    """A corner with edges a, b, c: V = abc/6, I_xx = 3 m (b² + c²)/80, I_xy = m ab/80 about the centre of mass."""
    scene = taut.Scene()
    scene.rigid((0, 0, 0), shape={"mesh": tetrahedron(tmp_path / "corner.obj")}, density=2.0, name="corner")
    body = scene.bodies["corner"]
    a, b, c, m = 2, 3, 4, 8.0
    expected = m / 80 * np.array([[3 * (b * b + c * c), a * b, a * c], [a * b, 3 * (a * a + c * c), b * c],
                                  [a * c, b * c, 3 * (a * a + b * b)]])  # fmt: skip
    assert abs(body.mass - m) < 1e-12, f"mass {body.mass}"
    assert np.abs(np.array(body.inertia) - expected).max() < 1e-12, f"inertia {body.inertia}"
    (tmp_path / "scene.yaml").write_text("taut: 1\nbodies:\n- {kind: rigid, name: corner, position: [0, 0, 0], "
                                         "shape: {mesh: corner.obj}, density: 2.0}\n")
    assert taut.load(tmp_path / "scene.yaml").bodies["corner"].inertia == body.inertia


@pytest.mark.parametrize("make, words", [
    (lambda folder: folder / "none.stl", "there is no mesh file"),
    (lambda folder: tetrahedron(folder / "open.obj", ((0, 2, 1), (0, 1, 3))), "is not closed"),
    (lambda folder: (folder / "bad.obj").write_text("v one") and folder / "bad.obj", "could not be read as a mesh"),
])  # fmt: skip
def test_a_mesh_without_a_volume_is_refused_by_name(make, words, tmp_path):
    with pytest.raises(taut.TautError) as told:
        taut.Scene().rigid((0, 0, 0), mass=1.0, shape={"mesh": make(tmp_path)}, name="part")
    assert words in str(told.value) and "rigid 'part'" in str(told.value), f"said: {told.value}"


# What results tell


def tumbling(simulate, **given):
    scene = taut.Scene()
    box = scene.rigid((1, 2, 0), mass=2.0, shape={"box": (0.3, 0.5, 0.9)}, angular_velocity=(1, 3, 2), name="box",
                      orientation=((1, 1, 0), 0.4), velocity=(0, 1, 0))
    scene.ball(box.at((0.2, 0.3, -0.1)), (0, 2.5, 0), name="hold")
    scene.spring(box.at((-0.1, 0, 0.4)), (0, 0, 0), stiffness=9.0, damping=0.4, length=1.0, name="spring")
    scene.drag(box, coefficient=0.3, name="air")
    scene.torque(box, value=(0.1, 0, "0.2*t"), name="twist")
    return simulate(scene, dt=0.004, duration=0.2, start="repair", **EXACT, **given)


def slope(values: np.ndarray, h: float) -> np.ndarray:
    """Central differences of order six, without three records at each end."""
    n = len(values)
    part = [values[3 + k:n - 3 + k] for k in (-3, -2, -1, 1, 2, 3)]
    return (-part[0] + 9 * part[1] - 45 * part[2] + 45 * part[3] - 9 * part[4] + part[5]) / (60 * h)


def test_a_place_on_a_body_has_the_velocity_and_acceleration_of_its_path(simulate):
    run = tumbling(simulate)
    place = run["box"].at((0.3, -0.2, 0.5))
    for lower, upper in ((place.position, place.velocity), (place.velocity, place.acceleration),
                         (run["box"].velocity, run["box"].acceleration),
                         (run["box"].angular_velocity, run["box"].angular_acceleration)):
        error = np.abs(slope(lower.values, 0.004) - upper.values[3:-3]).max()
        assert np.abs(upper.values).max() > 1 and error < 2e-6, f"{upper.name} is off by {error:.3g}"
    spin = run["box"].angular_velocity_body.values
    sizes = [np.linalg.norm(each, axis=1) for each in (spin, run["box"].angular_velocity.values)]
    assert np.abs(sizes[0] - sizes[1]).max() < 1e-12
    moments = 2.0 / 12 * np.array([0.25 + 0.81, 0.09 + 0.81, 0.09 + 0.25])
    kinetic = 0.5 * (moments * spin**2).sum(axis=1) + (run["box"].velocity.values**2).sum(axis=1)
    assert np.abs(kinetic - run.data.energy_kinetic.values).max() < 1e-12, "ω in the body's axes goes with its moments"


def test_forces_by_name_add_up_to_mass_times_acceleration(simulate):
    run = tumbling(simulate)
    named = [run[name] for name in ("hold", "spring", "air", "twist")]
    force = sum(each.force.sel(body="box").values for each in named) + (0.0, -2.0 * 9.81, 0.0)
    error = np.abs(force - 2.0 * run["box"].acceleration.values).max()
    assert error < 1e-9, f"F - m a = {error:.3g} N"
    torque = sum(each.torque.sel(body="box").values for each in named)
    error = np.abs(slope(run["box"].angular_momentum.values, 0.004) - torque[3:-3]).max()
    assert error < 1e-5, f"dL/dt - τ = {error:.3g} N m"
    stretch = np.linalg.norm(run["box"].at((-0.1, 0, 0.4)).position.values, axis=1) - 1.0
    assert np.abs(run["spring"].energy.values - 4.5 * stretch**2).max() < 1e-12
    with pytest.raises(taut.TautError, match="acts on no joint"):
        _ = run["air"].effort


def test_efforts_of_forces_on_joints_are_told_by_name(simulate):
    run = simulate(double_pendulum(True), dt=0.1, duration=1.0, **EXACT)
    error = np.abs(run["spring"].effort.values + 3.0 * run["elbow"].angle.values).max()
    assert error < 1e-12, f"off by {error:.3g} N m"


QUARTER = ellipk(np.sin(1.0) ** 2) / sqrt(9.81 / 1.001)  # of the period of `let_go` [s]


def let_go() -> taut.Scene:
    """A pendulum let go at 2 rad."""
    scene = taut.Scene()
    rod = scene.rigid((np.sin(2), -np.cos(2), 0), mass=1.0, inertia=1e-3, planar=True, orientation=("z", 2.0),
                      name="rod")
    scene.hinge(rod.at((0, 1, 0)), (0, 0, 0), axis=(0, 0, 1), angle=2.0, name="pin")
    return scene


@pytest.fixture(scope="module")
def coarse(simulate):
    """Its first 4.5 periods in records that are 3 s, or 1.1 periods, apart."""
    return simulate(let_go(), dt=3.0, duration=12.0, **EXACT)


def test_moments_of_reference_are_those_of_elliptic_functions_however_far_apart_records_are(coarse):
    found, turns = coarse.crossings(coarse["pin"].angle), coarse.extremes(coarse["pin"].angle)
    assert (len(found), len(turns)) == (9, 8) and found.direction.tolist()[:2] == ["falling", "rising"]
    off = np.abs(found.time.values - QUARTER * (2 * np.arange(9) + 1)).max()
    assert off < 1e-11, f"crossings are off by {off:.3g} s"
    off = np.abs(turns.time.values - QUARTER * (2 * np.arange(8) + 2)).max()
    assert off < 1e-10, f"extremes are off by {off:.3g} s"
    assert np.abs(np.abs(turns.value) - 2.0).max() < 1e-11 and turns.kind.tolist()[:2] == ["minimum", "maximum"]


@pytest.mark.parametrize("quantity", [
    lambda run: run["pin"].rate, lambda run: run["rod"].position.sel(xyz="x"),
    lambda run: run["rod"].at((0, 1.5, 0)).velocity.sel(xyz="y"), lambda run: run["rod"].acceleration.sel(xyz="x"),
    lambda run: run["pin"].force.sel(body="rod", xyz="x"), lambda run: run.data.energy_kinetic - 3.0,
    lambda run: run["rod"].angular_velocity.sel(xyz="z"),
], ids=["rate", "position", "place", "acceleration", "reaction", "arithmetic", "angular_velocity"])  # fmt: skip
def test_a_quantity_asked_for_by_name_is_found_between_records_as_its_function_is(quantity, coarse, request):
    own, named = coarse.crossings(quantity), quantity(coarse)
    assert len(own) >= 8, f"{len(own)} crossings"
    if request.node.callspec.id == "arithmetic":
        assert len(coarse.crossings(named)) < 8, "numbers alone tell nothing between records"
    else:
        assert np.array_equal(coarse.crossings(named).time, own.time), named.name
    left = np.abs(np.asarray(quantity(coarse.dense(own.time)))).max()
    assert left < 1e-9, f"{left:.3g} is left at its zeros"


def test_a_run_is_told_between_records_as_a_run_with_more_records_is(coarse, simulate):
    fine = simulate(let_go(), dt=0.5, duration=12.0, **EXACT)
    found = coarse.dense(fine.records.time)
    for name in ("position", "velocity", "orientation", "multiplier", "energy_potential"):
        apart = float(np.abs(found.data[name].values - fine.data[name].values).max())
        assert apart < 1e-9, f"{name} is apart by {apart:.3g}"


def test_times_outside_of_a_run_and_other_methods_are_refused(coarse, simulate):
    with pytest.raises(taut.TautError, match="goes from 0 to 12 s.*simulate longer"):
        coarse.dense([1.0, 13.0])
    with pytest.raises(taut.TautError, match="that rise"):
        coarse.dense([2.0, 1.0])
    with pytest.raises(taut.TautError, match="only a run of 'reference'"):
        simulate(let_go(), "rattle", 0.1, 0.2).dense([0.15])


@pytest.mark.parametrize("with_rates", [True, False])
def test_crossings_and_extremes_are_found_between_records(with_rates, simulate):
    """Quarter periods K(sin²(1))/ω apart, at -2 and 2 rad in between."""
    run = simulate(let_go(), dt=0.02, duration=6.0, **EXACT)
    given = run["pin"].rate if with_rates else None
    quarter = QUARTER
    values = run["pin"].angle.values  # without a name: nothing but the records is known of it
    found = run.crossings(values, rate=given)
    error = np.abs(found.time.values - quarter * (2 * np.arange(len(found)) + 1)).max()
    assert len(found) > 3 and error < (1e-10 if with_rates else 1e-8), f"crossings are off by {error:.3g} s"
    assert found.direction.tolist()[:2] == ["falling", "rising"]
    turns = run.extremes(values, rate=given)
    error = np.abs(turns.time.values - quarter * (2 * np.arange(len(turns)) + 2)).max()
    assert error < (1e-8 if with_rates else 1e-6), f"extremes are off by {error:.3g} s"
    assert np.abs(np.abs(turns.value) - 2.0).max() < 1e-9 and turns.kind[0] == "minimum"
