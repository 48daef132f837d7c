"""Laws of sheets that touch: solids, balls, other sheets and themselves."""

from __future__ import annotations

import numpy as np
import pytest

import taut
from taut.geometry import grid
from taut.scene import Scene, gallery

STEP = 1 / 240  # [s]


# Distances and crossings, found without taut's own kernels


def outside_sphere(x: np.ndarray, center, radius: float) -> np.ndarray:
    return np.linalg.norm(x - center, axis=-1) - radius


def outside_capsule(x: np.ndarray, start, end, radius: float) -> np.ndarray:
    along = np.subtract(end, start)
    s = np.clip((x - start) @ along / (along @ along), 0, 1)
    return np.linalg.norm(x - start - s[..., None] * along, axis=-1) - radius


def outside_box(x: np.ndarray, center, half) -> np.ndarray:
    q = np.abs(x - center) - half
    return np.linalg.norm(np.maximum(q, 0), axis=-1) + np.minimum(q.max(axis=-1), 0)


def deepest(run: taut.Run, distance) -> float:
    """How deep a node, half as big as its sheet is thick, is in a solid [edges]; 0 at least."""
    worst = 0.0
    for sheet in run.model.deformables:
        free = sheet.slots[run.model.bodies.inverse_mass[sheet.slots, 0] > 0]
        inside = 0.5 * sheet.thickness - distance(run.records.x[:, free])
        worst = max(worst, float(inside.max()) / float(sheet.lengths.mean()))
    return worst


def crossing_records(run: taut.Run) -> list[int]:
    """The records in which triangles cross, by ipctk."""
    ipctk = pytest.importorskip("ipctk", reason="ipctk (extra dev) is the judge of crossings")
    slots = np.concatenate([sheet.slots for sheet in run.model.deformables])
    place = np.full(len(run.model.x), -1)
    place[slots] = np.arange(len(slots))
    faces = place[np.concatenate([sheet.triangles for sheet in run.model.deformables])].astype(np.int32)
    mesh = ipctk.CollisionMesh(run.records.x[0, slots], ipctk.edges(faces), faces)
    return [k for k, x in enumerate(run.records.x) if ipctk.has_intersections(mesh, x[slots])]


POST = 1 + 0.08 + 1e-3  # of cloth_posts, and half the sheet's thickness
SOLIDS = {
    "posts": (lambda: gallery("cloth_posts", n=30), lambda x, t: np.minimum(
        outside_capsule(x, (-POST - t, -0.5, 0), (-POST - t, 2.5, 0), 0.08),
        outside_capsule(x, (POST + t, -0.5, 0), (POST + t, 2.5, 0), 0.08))),
    "sphere": (lambda: gallery("cloth_drape", n=30), lambda x, t: outside_sphere(x, (0, 0, 0), 0.3)),
    "table": (lambda: gallery("cloth_drape", n=30, over="table"),
              lambda x, t: outside_box(x, (0, 0.2, 0), (0.35, 0.1, 0.35))),
    "floor": (lambda: gallery("cloth_fold", n=30), lambda x, t: x[..., 1]),
}  # fmt: skip


@pytest.mark.parametrize("dt", [STEP, 10 * STEP])
@pytest.mark.parametrize("name", SOLIDS)
def test_no_node_is_inside_a_solid_and_no_triangles_cross_in_any_record(name, dt, simulate):
    make, distance = SOLIDS[name]
    run = simulate(make(), "implicit_first", dt, 1.2)
    half = 0.5 * run.model.deformables[0].thickness
    depth = deepest(run, lambda x: distance(x, half))
    assert depth < 1e-3, f"a node is {depth:.3g} edges deep"
    assert int(run.data.contact_count.max()) > 0, "nothing touches"
    most = float(run.data.elongation.max())
    assert most <= 0.105, f"an edge is {most:.4g} longer"
    crossing = crossing_records(run)
    assert not crossing, f"triangles cross in {len(crossing)} of {len(run.records)} records, first in {crossing[0]}"


@pytest.mark.parametrize("n, dt", [(12, STEP), (12, 1 / 60), (12, 1 / 24), (24, STEP), (24, 1 / 60), (24, 1 / 24)])
def test_a_ball_at_30_metres_per_second_does_not_go_through(n, dt, simulate):
    """It would be 4 m behind the sheet at the end; stretched by ten percent the sheet reaches back by 0.5 m."""
    run = simulate(gallery("cloth_posts", n=n, balls=1, speed=30), "implicit_first", dt, 0.25)
    behind = float(run["ball_0"].position.sel(xyz="z").max())
    assert behind < 0.7, f"the ball is {behind:.3g} m behind the sheet"


# Statics and friction


def on_plane(slope: float, friction: float, **options) -> Scene:
    """A sheet on a plane that falls along x by `slope` [rad]."""
    scene = Scene()
    u, normal = (np.cos(slope), -np.sin(slope), 0), (np.sin(slope), np.cos(slope), 0)
    sheet = scene.cloth(grid=(7, 7), size=(0.6, 0.6), origin=tuple(0.005 * np.array(normal)), u=u, thickness=0.01,
                        density=0.2, stiffness=100, **options)  # fmt: skip
    plane = scene.obstacle("half_space", point=(0, 0, 0), normal=normal, name="plane")
    scene.contacts(sheet, [plane], friction=friction)
    return scene


def test_the_forces_of_a_floor_carry_the_weight_of_a_sheet(simulate):
    run = simulate(on_plane(0.0, 0.3), "implicit_first", STEP, 0.5)
    weight = 9.81 * 0.2 * 0.36
    carried = run.data.contact_force.sum("body").values[-1]
    assert abs(carried[1] - weight) < 1e-3 * weight, f"{carried[1]:.6g} N of {weight:.6g} N"
    assert np.abs(carried[[0, 2]]).max() < 1e-3 * weight, f"{carried} N along the floor"
    moved = np.abs(run.records.x[-1] - run.records.x[0]).max()
    assert moved < 1e-4, f"the sheet moved by {moved:.3g} m"


@pytest.mark.parametrize("dt", [1 / 24, 1 / 960, 1 / 3840])
def test_a_sheet_that_lies_on_the_floor_stays_there_at_any_step(dt, simulate):
    run = simulate(on_plane(0.0, 0.3), "implicit_first", dt, 0.25)
    later = len(run.records) // 2
    speed = np.abs(np.diff(run.records.x[later:], axis=0)).max() / dt
    carried = run.data.contact_force.sum("body").values[later:, 1].mean() / (9.81 * 0.2 * 0.36)
    assert speed < 1e-3 and abs(carried - 1) < 0.01, f"it hops with {speed:.3g} m/s; {carried:.4g} of its weight"


def test_a_sheet_sticks_on_a_slope_below_the_angle_of_friction(simulate):
    slope = 0.3
    run = simulate(on_plane(slope, 1.2 * np.tan(slope)), "implicit_first", STEP, 1.0)
    slid = np.linalg.norm(run.records.x[-1] - run.records.x[0], axis=1).max()
    # Friction is regularised: what sticks creeps with less than 1 mm/s, once the first step is over.
    assert slid < 1.5e-3, f"it slid by {slid:.3g} m in 1 s"


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_a_sheet_slides_with_the_acceleration_of_coulombs_law(share, simulate):
    slope = 0.4
    friction = share * np.tan(slope)
    run = simulate(on_plane(slope, friction), "implicit_first", STEP, 0.5)
    expected = 9.81 * (np.sin(slope) - friction * np.cos(slope))
    speed = run.data.velocity.values @ (np.cos(slope), -np.sin(slope), 0)
    found = (speed[-1] - speed[60]) / (run.records.time[-1] - run.records.time[60])
    off = np.abs(found - expected).max()
    assert off < 0.015 * 9.81 * np.sin(slope), f"{found.mean():.5g} instead of {expected:.5g} m/s²"


@pytest.mark.parametrize("mass", [0.01, 1.0])
def test_a_ball_comes_to_rest_in_a_sheet_that_carries_it(mass, simulate):
    """Held at four corners, damped by the air; the sheet pushes the ball up with its weight."""
    scene = Scene()
    sheet = scene.cloth(grid=(9, 9), origin=(-0.5, 0, -0.5), density=0.2, stiffness=100, damping=0.2, thickness=0.01,
                        pins=[0, 8, 72, 80])  # fmt: skip
    ball = scene.particle((0, 0.2051, 0), mass=mass, radius=0.2, name="ball")
    scene.contacts([ball], sheet, friction=0.5)
    scene.drag(coefficient=0.05)
    run = simulate(scene, "implicit_first", STEP, 4.0, record_every=24)
    force, weight = run.data.contact_force.sel(body="ball").values[-1], 9.81 * mass
    speed = float(np.abs(run["ball"].velocity.values[-1]).max())
    assert speed < 1e-3, f"it still moves with {speed:.3g} m/s"
    assert abs(force[1] - weight) < 1e-3 * weight, f"{force[1]:.5g} N carry {weight:.5g} N"


# Sheets on sheets


def two_sheets(friction: float = 0.3) -> Scene:
    """A sheet that falls on another one, which is held at its corners."""
    scene = Scene()
    low = scene.cloth(grid=(8, 8), origin=(-0.5, 0, -0.5), thickness=0.02, pins=[0, 7, 56, 63], name="low")
    high = scene.cloth(grid=(7, 7), size=(0.5, 0.5), origin=(-0.27, 0.1, -0.22), thickness=0.02, name="high")
    scene.contacts(low, high, friction=friction)
    scene.drag(coefficient=0.01)
    return scene


def test_a_sheet_that_falls_on_another_stays_on_it(simulate):
    run = simulate(two_sheets(), "implicit_first", STEP, 2.5, record_every=4)
    crossing = crossing_records(run)
    assert not crossing, f"triangles cross in {len(crossing)} records, first in {crossing[0]}"
    high, low = (run.records.x[-1, run.model.deformables[k].slots] for k in (1, 0))
    assert high[:, 1].mean() > low[:, 1].min(), "it is below the other one"
    weight = 9.81 * 0.2 * 0.25
    force = dict(zip(run.data.body.values.tolist(), run.data.contact_force.values[-1, :, 1]))
    carried, pressed = (sum(f for node, f in force.items() if node.startswith(name)) for name in ("high", "low"))
    assert abs(carried - weight) < 0.01 * weight, f"{carried:.5g} N carry {weight:.5g} N"
    assert abs(carried + pressed) < 1e-12 * weight, f"{carried:.5g} N up and {pressed:.5g} N down"


def test_sheets_nearer_than_their_thickness_are_moved_apart(simulate):
    scene = Scene(gravity=(0, 0, 0))
    a = scene.cloth(grid=(8, 8), thickness=0.02, name="a")
    b = scene.cloth(grid=(8, 8), thickness=0.02, origin=(0.01, 0.004, 0.02), name="b")
    scene.contacts(a, b)
    run = simulate(scene, "implicit_first", STEP, 0.5)
    heights = [run.records.x[:, sheet.slots, 1].mean(axis=1) for sheet in run.model.deformables]
    apart = heights[1] - heights[0]
    assert not crossing_records(run) and apart[-1] > 0.015, f"they are {apart[-1]:.3g} m apart"
    speed = np.abs(run.records.v).max()
    assert speed < 0.5, f"they are thrown apart with {speed:.3g} m/s"


def folded(n: int = 13) -> Scene:
    """A strip folded over, its upper half falling on the lower one, which lies on the floor."""
    scene = Scene()
    radius = 0.05
    half = 0.5 * (1 - np.pi * radius)  # two straight parts and a half circle
    s = np.linspace(0, 1, n)
    angle = np.clip((s - half) / radius, 0, np.pi)
    across = np.minimum(s, half) - np.maximum(s - (1 - half), 0) + radius * np.sin(angle)
    up = 0.01 + radius - radius * np.cos(angle)
    vertices = np.array([(x, y, z) for z in np.linspace(0, 0.5, n) for x, y in zip(across, up)])
    triangles = grid(n, n).triangles
    sheet = scene.cloth(vertices=vertices, triangles=triangles, stiffness=50, thickness=0.015, self_contact=True)
    floor = scene.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0), name="floor")
    scene.contacts(sheet, [floor], friction=0.5)
    return scene


def test_a_folded_sheet_lies_on_itself(simulate):
    run = simulate(folded(), "implicit_first", STEP, 1.0, record_every=2)
    crossing = crossing_records(run)
    assert not crossing, f"triangles cross in {len(crossing)} records, first in {crossing[0]}"
    assert deepest(run, lambda x: x[..., 1]) < 1e-3
    layers = run.records.x[-1, :, 1]
    assert layers.max() > 0.015, f"the upper layer is {layers.max():.3g} m above the floor: where is it?"


# What is moved


def test_pins_follow_places_paths_and_bodies(simulate):
    scene = Scene()
    arm = scene.rigid(path=(0, "0.2*sin(2*t)", 0), rotation=((0, 1, 0), "0.3*t"), name="arm")
    hook = scene.particle((1, 0, 0), fixed=True, name="hook")
    pins = [{"vertex": 0, "to": arm}, {"vertex": 7, "to": hook}, {"vertex": 56, "to": (0, "0.1*t", "1 + 0.05*t")}, 63]
    sheet = scene.cloth(grid=(8, 8), pins=pins, thickness=0.01)
    run = simulate(scene, "implicit_first", STEP, 1.0)
    at = [run[sheet.node(i).name].position.values for i in (0, 7, 56, 63)]
    t = run.data.time.values
    expected = [np.stack([0 * t, 0.2 * np.sin(2 * t), 0 * t], axis=1), [[1, 0, 0]],
                np.stack([0 * t, 0.1 * t, 1 + 0.05 * t], axis=1), [[1, 0, 1]]]  # fmt: skip
    off = max(np.abs(a - b).max() for a, b in zip(at, expected))
    assert off < 1e-12, f"a pinned node is {off:.3g} m off its place"
    most = float(run.data.elongation.max())
    assert most <= 0.105, f"an edge is {most:.4g} longer"


def test_a_moving_obstacle_pushes_a_sheet_and_does_not_enter_it(simulate):
    scene = Scene(gravity=(0, 0, 0))
    sheet = scene.cloth(grid=(10, 10), origin=(-0.5, 0, -0.5), thickness=0.01, pins=[0, 9])
    fist = scene.obstacle("outside_sphere", center=(0, "-0.3 + 0.8*t", 0.1), radius=0.2, name="fist")
    scene.contacts(sheet, [fist], friction=0.2)
    run = simulate(scene, "implicit_first", STEP, 0.6)
    center = np.zeros((len(run.records), 1, 3))
    center[:, 0] = np.stack([0 * run.records.time, -0.3 + 0.8 * run.records.time, 0.1 + 0 * run.records.time], axis=1)
    depth = deepest(run, lambda x: np.linalg.norm(x - center, axis=2) - 0.2)
    raised = run.records.x[-1, :, 1].max()
    assert depth < 1e-3 and raised > 0.25, f"a node is {depth:.3g} edges deep; raised by {raised:.3g} m"
