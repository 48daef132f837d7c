"""Rough poses: a repaired joint ends with its declared axes along each other, never opposed, or is refused by name."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import taut
from taut.constraints import KINDS
from taut.initial.alignment import misalignment
from taut.joints.base import AXIS

INERTIA = [[0.3, 0.05, 0.02], [0.05, 0.4, 0.01], [0.02, 0.01, 0.5]]
WITH_AXES = [kind.name for kind in KINDS.values() if set(AXIS) <= set(kind.arguments)]
EXTRA = {"screw": {"pitch": 0.3}}


def quaternion(rotation: Rotation) -> tuple[float, ...]:
    x, y, z, w = rotation.as_quat()
    return float(w), float(x), float(y), float(z)


def rough(kind: str, count: int, degrees: float, seed: int, planar: bool = False) -> taut.Scene:
    """A chain of bodies that start anywhere; each joint's axes are off by an angle about a random direction."""
    random = np.random.default_rng(seed)
    scene = taut.Scene()
    before, carrier = (0, 0, 0), Rotation.identity()
    for k in range(count):
        spin = np.array([0.0, 0.0, random.standard_normal()]) if planar else random.standard_normal(3)
        place = random.standard_normal(3) * (0.3, 0.3, 0.0 if planar else 0.3) + (k, 0, 0)
        frame = Rotation.from_rotvec(spin)
        body = scene.rigid(place, mass=random.uniform(0.5, 2.0), inertia=0.3 if planar else INERTIA, planar=planar,
                           orientation=quaternion(frame), name=f"body{k}")  # fmt: skip
        off = np.array([0.0, 0.0, 1.0]) if planar else random.standard_normal(3)
        error = Rotation.from_rotvec(np.radians(degrees) * off / np.linalg.norm(off))
        if kind == "weld":
            given = {"orientation": quaternion(carrier.inv() * error * frame)}
        else:
            axis = np.cross(off, random.standard_normal(3))
            axis /= np.linalg.norm(axis)
            given = {"axis_a": frame.inv().apply(axis), "axis_b": (carrier.inv() * error).apply(axis)}
        getattr(scene, kind)(body.at((-0.5, 0, 0)), before, **given, **EXTRA.get(kind, {}), name=f"joint{k}")
        before, carrier = body.at((0.5, 0.1, 0)), frame
    return scene


def start_of(run: taut.Run) -> taut.model.arrays.State:
    state = run.model.initial_state()
    state.quat[:] = run.records.quat[0]
    state.x[: run.records.x.shape[1]] = run.records.x[0]
    return state


def repaired(scene: taut.Scene) -> taut.Run:
    return taut.simulate(scene, "rattle", dt=1e-3, duration=1e-3, start="repair", progress=False)


@pytest.mark.filterwarnings("ignore::taut.TautWarning")
@pytest.mark.parametrize("degrees", [60.0, 120.0, 170.0, 179.99, 180.0])
@pytest.mark.parametrize("kind", ["weld", *WITH_AXES])
def test_a_rough_pose_ends_with_declared_axes_along_each_other(kind, degrees):
    for count in (1, 4):
        run = repaired(rough(kind, count, degrees, seed=int(degrees) + count))
        wrong = np.degrees(misalignment(run.model, start_of(run)).max())
        phi = np.abs(run.records.phi[0]).max()
        assert phi < 1e-9 and wrong == 0.0, f"{count} joints: Φ = {phi:.1e}, axes {wrong:.4g}° apart"


@pytest.mark.filterwarnings("ignore::taut.TautWarning")
@pytest.mark.parametrize("degrees", [120.0, 180.0])
def test_welds_in_a_plane_end_as_declared(degrees):
    run = repaired(rough("weld", 3, degrees, seed=3, planar=True))
    wrong = np.degrees(misalignment(run.model, start_of(run)).max())
    assert np.abs(run.records.phi[0]).max() < 1e-9 and wrong == 0.0, f"axes {wrong:.4g}° apart"


@pytest.mark.parametrize("degrees", [179.99, 180.0])
@pytest.mark.parametrize("kind", ["weld", "hinge"])
def test_a_start_with_opposed_axes_is_refused_though_every_row_nearly_holds(kind, degrees):
    scene = taut.Scene()
    body, angle = scene.rigid((0, 0, 0), mass=1.0, inertia=INERTIA, name="body"), np.radians(degrees)
    axes = {"axis_a": (1, 0, 0), "axis_b": (np.cos(angle), np.sin(angle), 0)}
    getattr(scene, kind)(body, (0, 0, 0), **({"orientation": ("z", angle)} if kind == "weld" else axes), name="joint")
    with pytest.raises(taut.TautError, match=r"'joint\[\d\]' by 3\.14 rad.*start='repair'"):
        taut.simulate(scene, "rattle", dt=1e-3, duration=1e-3, progress=False)


def test_opposed_axes_between_planar_bodies_are_refused():
    scene = taut.Scene()
    body = scene.rigid((0, 0, 0), mass=1.0, inertia=0.3, planar=True, name="body")
    scene.hinge(body, (0, 0, 0), axis_a=(0, 0, 1), axis_b=(0, 0, -1), name="pin")
    with pytest.raises(taut.TautError, match="hinge 'pin': its axes oppose each other along z.*turn one"):
        taut.build(scene)


def opposed_between_walls(kind: str) -> taut.Scene:
    """A body welded to the world at 0, and once more, turned by half a turn."""
    scene = taut.Scene()
    body = scene.rigid((0, 0, 0), mass=1.0, inertia=INERTIA, name="body")
    scene.weld(body, (0, 0, 0), name="first")
    given = {"orientation": ("z", np.pi)} if kind == "weld" else {"axis_a": (1, 0, 0), "axis_b": (-1, 0, 0)}
    getattr(scene, kind)(body, (0, 0, 0), **given, name="second")
    return scene


@pytest.mark.filterwarnings("ignore::taut.TautWarning")
@pytest.mark.parametrize("start", ["project", "repair"])
@pytest.mark.parametrize("kind", ["weld", "hinge"])
def test_axes_that_other_joints_keep_opposed_are_refused_by_name(kind, start):
    with pytest.raises(taut.TautError, match=r"'second\[\d\]' by"):
        taut.simulate(opposed_between_walls(kind), "rattle", dt=1e-3, duration=1e-3, start=start, progress=False)


def rough_four_bar(seed: int, degrees: float) -> taut.Scene:
    """Three bars between two pins, each turned out of its place and moved by up to 0.2 m; one end is welded on."""
    random = np.random.default_rng(seed)
    scene = taut.Scene()
    corners = [np.array(c, float) for c in ((0, 0, 0), (0, 1, 0), (2, 1.5, 0), (2, 0, 0))]
    before = tuple(corners[0])
    for k, (start, end) in enumerate(zip(corners, corners[1:])):
        half = np.linalg.norm(end - start) / 2
        along = (end - start) / (2 * half)
        off = random.standard_normal(3)
        turned = Rotation.from_rotvec(np.radians(degrees) * off / np.linalg.norm(off))
        frame = turned * Rotation.from_euler("z", np.arctan2(along[1], along[0]))
        bar = scene.rigid((start + end) / 2 + random.uniform(-0.2, 0.2, 3), mass=1.0, inertia=(0.1, 0.2, 0.3),
                          orientation=quaternion(frame), name=f"bar{k}")  # fmt: skip
        scene.hinge(bar.at((-half, 0, 0)), before, axis_a=(0, 0, 1), axis_b=(0, 0, 1), name=f"pin{k}")
        before = bar.at((half, 0, 0))
    tip = scene.rigid(tuple(corners[3]), mass=0.1, inertia=(0.01, 0.02, 0.02), name="tip")
    scene.weld(tip, before, orientation=("z", 0.5), name="end")
    scene.hinge(tip, tuple(corners[3]), axis_a=(0, 0, 1), axis_b=(0, 0, 1), name="ground")
    return scene


@pytest.mark.filterwarnings("ignore::taut.TautWarning")
@pytest.mark.parametrize("degrees", [40.0, 100.0, 170.0])
def test_a_loop_from_a_rough_pose_is_assembled_with_its_axes_along_each_other(degrees):
    for seed in range(4):
        run = repaired(rough_four_bar(seed, degrees))
        wrong = np.degrees(misalignment(run.model, start_of(run)).max())
        phi = np.abs(run.records.phi[0]).max()
        assert phi < 1e-9 and wrong == 0.0, f"seed {seed}: Φ = {phi:.1e}, axes {wrong:.4g}° apart"
