"""Cloth pinned to what moves freely: balls, rigid bodies, nodes of other cloth; and rigid bodies beside cloth."""

from __future__ import annotations

import numpy as np
import pytest
from test_cloth import HOLDING, PAPER_STEP, gained

import taut
from taut.errors import TautError
from taut.geometry.intersections import crossings
from taut.scene import Scene

SHEET = {"size": (1, 1), "u": (1, 0, 0), "v": (0, 0, 1), "density": 0.2, "stiffness": 20, "damping": 1e-3}
EDGES = {"springs": {"limit": None}, "limit": {}, "paper": {"limit_rule": "paper"}, "hard": {"limit": None,
         "hard": "warp_weft"}}  # fmt: skip
TO = ["ball", "box", "sheet"]


def loaded(to: str, n: int = 6, mass: float = 0.3, held: bool = True, gravity: float = 9.81, **options) -> Scene:
    """A sheet of 0.2 kg, held by one side or not at all, whose other side carries something, turned and moving."""
    scene = Scene(gravity=(0, -gravity, 0))
    last = [n * (n - 1), n * n - 1]
    cloth = {**SHEET, **options}
    if to == "sheet":
        other = scene.cloth(grid=(n, n), origin=(0, 0, 1), velocity=(0, 0, 0.5), **cloth, name="load")
        pins = [{"vertex": n * (n - 1) + k, "to": other.node(k)} for k in range(n)]
    elif to == "box":
        box = scene.rigid((0.5, 0.03, 1.1), mass, shape={"box": (1, 0.1, 0.2)}, velocity=(0, 0.2, 0.5),
                          orientation=((1, 0, 0), 0.3), angular_velocity=(2, 1, 0.5), name="load")  # fmt: skip
        pins = [{"vertex": k, "to": box} for k in last]
    else:
        pins = [{"vertex": last[1], "to": scene.particle((1, 0, 1), mass, velocity=(0.2, 0, 0.5), name="load")}]
    scene.cloth(grid=(n, n), **cloth, pins=[*([0, n - 1] if held else []), *pins], name="cloth")
    return scene


def off(run: taut.Run) -> float:
    """How far pins come apart, at most [m]."""
    rows = [r for info in run.model.constraint_info if ".pin[" in info.name for r in info.rows]
    return float(np.abs(run.records.phi[:, rows]).max())


@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("to", TO)
def test_pins_hold_and_momentum_is_kept(to, edges, simulate):
    """Nothing holds the two together but pins, at ten times the paper's step as well."""
    for method in HOLDING if edges in ("springs", "hard") else HOLDING[:1]:
        for dt in (PAPER_STEP, 10 * PAPER_STEP):
            run = simulate(loaded(to, held=False, gravity=0.0, **EDGES[edges]), method, dt, 0.5)
            p = run.data.momentum.values
            moved = np.abs(p - p[0]).max() / np.abs(p[0]).max()
            assert off(run) < 1e-6 * 0.2, f"{method}, {dt:.3g} s: a pin is off by {off(run):.3g} m"
            assert moved < 1e-9, f"{method}, {dt:.3g} s: momentum is off by {moved:.3g}"
            limit = 0.105 if edges in ("limit", "paper") else np.inf
            assert float(run.data.elongation.max()) < limit


@pytest.mark.parametrize("to", TO)
def test_motion_with_pins_converges_to_that_of_a_general_method(to, simulate, slope):
    def end(method, steps):
        scene = loaded(to, n=4, limit=None, stiffness=50, damping=0.02)
        return simulate(scene, method, 0.12 / steps, 0.12, record_every=steps)

    exact = end("rattle", 3000)
    moved = [exact.records.x[-1, info.slot] for info in exact.model.body_info]
    steps, errors = [24, 48, 96, 192], []
    for count in steps:
        run = end("implicit_first", count)
        x = [run.records.x[-1, info.slot] for info in run.model.body_info]
        errors.append(np.abs(np.subtract(x, moved)).max())
        if to == "box":
            errors[-1] = max(errors[-1], np.abs(run.records.quat[-1] - exact.records.quat[-1]).max())
    order = slope([1 / count for count in steps], errors)
    assert order > 0.8 and errors[-1] < 2e-3, f"order {order:.2f}, errors {errors}"


@pytest.mark.parametrize("mass", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("edges", ["limit", "hard"])
@pytest.mark.parametrize("to", ["ball", "box"])
def test_a_load_of_any_mass_is_carried(to, edges, mass, simulate):
    """From a fifth to 18,000 times the mean mass of a node, 0.2/36 kg. No energy comes from nowhere."""
    for dt in (PAPER_STEP, 1 / 60):
        run = simulate(loaded(to, mass=mass, **EDGES[edges]), "implicit_first", dt, 1.0)
        energy = float(np.ptp(run.data.energy_total.values)) + mass
        assert off(run) < 1e-6 * 0.2, f"{dt:.3g} s: a pin is off by {off(run):.3g} m"
        assert gained(run) < 1e-3 * energy, f"{dt:.3g} s: {gained(run):.3g} J of {energy:.3g} J"
        assert float(run.data.elongation.max()) < 0.105


def test_what_pins_carry_is_the_weight_of_a_box_at_rest(simulate):
    """A box under a sheet that hangs down, off its middle: forces and moments of two pins balance its weight."""
    scene = Scene()
    box = scene.rigid((0.45, -1.1, 0.02), 0.5, shape={"box": (1.2, 0.2, 0.1)}, name="box")
    sheet = {**SHEET, "v": (0, -1, 0), "damping": 0.3, "wind": (0, 0, 0), "drag": 30.0}
    scene.cloth(grid=(6, 6), **sheet, pins=[0, 5, {"vertex": 30, "to": box}, {"vertex": 35, "to": box}])
    scene.drag(box, coefficient=1.0)
    run = simulate(scene, "implicit_first", 1 / 60, 12.0)
    info = {info.name: info for info in run.model.constraint_info}
    names = ("cloth.pin[30]", "cloth.pin[35]")
    pull = np.array([-run.records.lam[-1, list(info[name].rows)] for name in names])  # on the box
    weight = np.array([0, -0.5 * 9.81, 0])
    assert np.abs(pull.sum(axis=0) + weight).max() < 1e-2 * 4.9, f"pins carry {pull.sum(axis=0)} N"
    centre = run.records.x[-1, next(body.slot for body in run.model.body_info if body.name == "box")]
    ends = run.records.x[-1, [info[name].points[0] for name in names]]
    moment = np.cross(ends - centre, pull).sum(axis=0)
    assert np.abs(moment).max() < 1e-2, f"the moment of pins about the box is {moment} N m"


def test_pinning_to_the_middle_of_a_heavy_body_is_pinning_to_a_place(simulate):
    """A body a million times as heavy as the sheet flies on; the sheet moves as if it were pinned to a path."""
    tracks = []
    for heavy in (True, False):
        scene = Scene(gravity=(0, 0, 0))
        to = scene.particle((0, 0, 0), 2e5, velocity=(1, 0, 0)) if heavy else ("t", 0, 0)
        scene.cloth(grid=(6, 6), **SHEET, velocity=(1, 0.3, 0), pins=[{"vertex": 0, "to": to}], name="cloth")
        run = simulate(scene, "implicit_first", PAPER_STEP, 0.5)
        tracks.append(run.records.x[:, run.model.deformables[0].slots])
    apart = np.abs(tracks[0] - tracks[1]).max()
    assert apart < 1e-4, f"the sheets are {apart:.3g} m apart"


def test_a_tumbling_body_alone_keeps_its_angular_momentum_and_energy(simulate):
    scene = Scene(gravity=(0, 0, 0))
    scene.rigid((0, 3, 0), 1.0, inertia=(0.01, 0.02, 0.028), angular_velocity=(0.1, 8, 0.1))
    scene.cloth(grid=(3, 3), limit=None)
    for method in HOLDING:
        run = simulate(scene, method, 1 / 240, 2.0)
        turning = run.data.angular_momentum.values
        changed = np.abs(turning - turning[0]).max() / np.abs(turning[0]).max()
        energy = run.data.energy_total.values
        assert changed < 1e-9, f"{method}: angular momentum is off by {changed:.3g}"
        assert np.ptp(energy) < 1e-3 * energy[0], f"{method}: energy is off by {np.ptp(energy) / energy[0]:.3g}"


def test_a_scalar_coordinate_beside_cloth_goes_its_way(simulate):
    scene = Scene()
    scene.coordinate(0.5, inertia=2.0, rate=1.0, name="q")
    scene.cloth(grid=(4, 4), pins=[0, 3])
    run = simulate(scene, "implicit_first", 1 / 60, 0.5)
    slot = next(info.slot for info in run.model.body_info if info.name == "q")
    assert abs(run.records.x[-1, slot, 0] - 1.0) < 1e-12


def block_on_slope(friction: float, angle: float) -> Scene:
    """A block on four corners, with cloth elsewhere."""
    scene, normal = Scene(), (np.sin(angle), np.cos(angle), 0.0)
    block = scene.rigid(tuple(0.1 * np.array(normal)), 1.0, shape={"box": (0.4, 0.2, 0.4)},
                        orientation=((0, 0, 1), -angle), name="block")  # fmt: skip
    for x in (-0.2, 0.2):
        for z in (-0.2, 0.2):
            scene.half_space(block.at((x, -0.1, z)), point=(0, 0, 0), normal=normal, friction=friction)
    scene.cloth(grid=(3, 3), origin=(0, 5, 0), pins=[0, 2])
    return scene


@pytest.mark.parametrize("friction", [0.0, 0.2, 0.8])
def test_a_block_beside_cloth_slides_or_sticks_as_coulomb_says(friction, simulate):
    angle, time = 0.4, 1.0
    run = simulate(block_on_slope(friction, angle), "implicit_first", PAPER_STEP, time)
    slot = next(info.slot for info in run.model.body_info if info.name == "block")
    way = np.linalg.norm(run.records.x[-1, slot] - run.records.x[0, slot])
    expected = 0.5 * max(0.0, 9.81 * (np.sin(angle) - friction * np.cos(angle))) * time**2
    assert abs(way - expected) < 0.015, f"it slid {way:.4g} m instead of {expected:.4g} m"
    assert np.abs(run.records.quat[-1] - run.records.quat[0]).max() < 2e-3, "it tipped over"


@pytest.mark.parametrize("to", ["corner of a box", "ball", "node"])
def test_a_rope_to_a_node_carries_what_hangs_on_it(to, simulate):
    """max_distance between a node of cloth and something free, or another node, which is pulled away."""
    scene = Scene()
    cloth = scene.cloth(grid=(5, 5), **{**SHEET, "v": (0, -1, 0), "damping": 0.05}, pins=[0, 4])
    if to == "node":
        other = scene.rigid((0.5, -1.2, 0), 0.1, shape={"box": (0.1, 0.1, 0.1)}).at((0, 0.05, 0))
        scene.max_distance(cloth.node(20), other, length=0.55)
        other, length = cloth.node(20), 1.0
    elif to == "ball":
        other = scene.particle((1, -1.2, 0), 0.1, name="load")
        length = 0.25
    else:
        other = scene.rigid((1.05, -1.35, 0), 0.1, shape={"box": (0.1, 0.1, 0.1)}, name="load").at((-0.05, 0.05, 0))
        length = 0.35
    scene.max_distance(cloth.node(24), other, length=length, name="rope")
    run = simulate(scene, "implicit_first", PAPER_STEP, 1.5)
    longest = run.data.constraint_error.sel(constraint="rope").min()
    assert -longest < 1e-3, f"the rope is {-float(longest):.3g} m too long"
    pulled = np.abs(run.data.multiplier.sel(constraint="rope").values[-100:]).mean()
    assert pulled > 0.1, f"the rope hardly pulls: {pulled:.3g} N"


# Meshes that do not deform


def box_on_cloth(held: bool) -> Scene:
    """A cloth whose every node is pinned to a free rigid body is a mesh that can be pushed back."""
    scene, a = Scene(gravity=(0, -9.81 if held else 0, 0)), 0.15
    corners = np.array([[x, y, z] for x in (-a, a) for y in (-a, a) for z in (-a, a)])
    turned = np.array([[np.cos(0.3), -np.sin(0.3), 0], [np.sin(0.3), np.cos(0.3), 0], [0, 0, 1]])
    sides = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6),
             (0, 6, 4), (1, 5, 7), (1, 7, 3)]  # fmt: skip
    body = scene.rigid((0, 0.3, 0), 0.5, shape={"box": (2 * a, 2 * a, 2 * a)}, orientation=((0, 0, 1), 0.3),
                       velocity=(0, -2, 0), name="body")  # fmt: skip
    box = scene.cloth(vertices=corners @ turned.T + [0, 0.3, 0], triangles=sides, density=0.02, limit=None,
                      thickness=0.01, velocity=(0, -2, 0), name="box",
                      pins=[{"vertex": k, "to": body} for k in range(8)])  # fmt: skip
    cloth = scene.cloth(grid=(14, 14), **{**SHEET, "origin": (-0.5, 0, -0.5)}, thickness=0.01, name="cloth",
                        pins=[0, 13, 182, 195] if held else [])  # fmt: skip
    scene.contacts([box], [cloth])
    return scene


@pytest.mark.parametrize("held", [True, False])
def test_a_rigid_mesh_that_falls_on_cloth_is_caught_or_slowed(held, simulate):
    run = simulate(box_on_cloth(held), "implicit_first", PAPER_STEP, 0.6, record_every=4)
    touched = int(run.data.contact_count.max())
    body = next(info.slot for info in run.model.body_info if info.name == "body")
    height, p = run.records.x[:, body, 1], run.data.momentum.values
    triangles = np.concatenate([sheet.triangles for sheet in run.model.deformables])
    for k, x in enumerate(run.records.x):
        pairs = crossings(x, triangles)  # the cloth may pass through itself
        assert not (pairs.min(axis=1, initial=99) < 12).any(), f"frame {k}: triangles cross"
    assert touched > 0 and off(run) < 1e-6 * 0.3, f"{touched} contacts; a pin is off by {off(run):.3g} m"
    assert float(run.data.elongation.max()) < 0.105
    if held:
        assert height[-1] > -0.4, f"it fell to {height[-1]:.3g} m"
    else:
        moved = np.abs(p - p[0]).max() / np.abs(p[0]).max()
        assert moved < 1e-9, f"momentum is off by {moved:.3g}"
        assert -2.0 < (height[-1] - height[-2]) * 60 < -1.3, "it was not slowed by what it carries along"


# What is refused


def test_what_beside_cloth_is_not_known_is_refused_with_a_remedy():
    def scene(limit=0.1):
        found = Scene()
        ball = found.rigid((0.5, 0.5, 0.5), 1.0, shape={"sphere": 0.2}, name="globe")
        return found, found.cloth(grid=(4, 4), limit=limit, thickness=0.01), ball

    told = []
    for limit in (0.1, None):
        tied, cloth, ball = scene(limit)
        tied.distance(cloth.node(3), (1, 1, 0), name="rod")
        told.append((tied, "the constraint 'rod'.*leave it out, or .*rattle"))
    for other in ("cloth", "marble", "floor"):
        rough, cloth, ball = scene()
        rough.particle((2, 0.5, 0.5), 1.0, radius=0.2, name="marble")
        rough.obstacle("half_space", point=(0, -1, 0), normal=(0, 1, 0), name="floor")
        rough.contacts([ball], [other], friction=0.5)
        told.append((rough, "rigid ball 'globe' has friction.*make it a particle, or set friction to 0"))
    two, cloth, ball = scene()
    two.max_distance(ball.at((0.2, 0, 0)), two.rigid((2, 0, 0), 1.0, shape={"sphere": 0.2}).at((0, 0.2, 0)), length=5,
                     name="chain")  # fmt: skip
    told.append((two, "'chain' is between places on two rigid bodies"))
    seam, cloth, ball = scene()
    other = seam.cloth(grid=(4, 4), origin=(1, 0, 0), thickness=0.01, name="other",
                       pins=[{"vertex": 0, "to": cloth.node(3)}])  # fmt: skip
    seam.contacts([cloth], [other])
    told.append((seam, r"'cloth' is sewn to 'other' \('other.pin\[0\]'\)"))
    for found, words in told:
        with pytest.raises(TautError, match=words):
            taut.simulate(found, method="implicit_first", dt=0.01, duration=0.1, progress=False)
