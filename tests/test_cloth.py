"""Laws of sheets whose edges are held by multipliers: lengths, limits, momentum, energy, convergence, same bits.

Sheets are small here; `taut bench cloth` measures large ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from words_runs import interrupted

import taut
from taut.scene import Scene, gallery

HOLDING = ["implicit_first", "fast_projection"]
UNCONSTRAINED = ["substeps", "symplectic", "adams_bashforth"]
PAPER_STEP = 1 / 240  # [s]; laws hold at ten times it, too


def irregular(n: int, wave: float) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """A unit square of irregular triangles, wavy by `wave` [m], and two of its corners."""
    from scipy.spatial import Delaunay

    random = np.random.default_rng(2)
    p = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, n)]), axis=2).reshape(-1, 2)
    inner = ((p > 0) & (p < 1)).all(axis=1)
    p[inner] += 0.3 / (n - 1) * random.uniform(-1, 1, (inner.sum(), 2))
    x = np.stack([p[:, 0], wave * np.sin(5 * p[:, 0]) * np.cos(4 * p[:, 1]), p[:, 1]], axis=1)
    return x, Delaunay(p).simplices.astype(int), [0, n - 1]


def hard_sheets() -> dict[str, Scene]:
    """Sheets with hard edges: few enough, and too many."""
    cloth = {"density": 0.2, "stiffness": 50, "bending": 0.05, "damping": 1e-3, "limit": None}
    scenes = {name: Scene() for name in ("grid", "wavy mesh", "flat mesh", "all edges of a flat grid")}
    scenes["grid"].cloth(grid=(12, 12), shear=5, hard="warp_weft", pins=[0, 11], **cloth)
    for name, wave in (("wavy mesh", 0.05), ("flat mesh", 0.0)):
        vertices, triangles, corners = irregular(9, wave)
        scenes[name].cloth(vertices=vertices, triangles=triangles, hard="edges", pins=corners, **cloth)
    # Structural and shear: one diagonal of each cell is an edge of the mesh.
    scenes["all edges of a flat grid"].cloth(grid=(10, 10), shear=5, hard="edges", pins=[0, 9], **cloth)
    return scenes


def stretch(run: taut.Run) -> np.ndarray:
    """(T, e) elongation of all hard edges of all sheets."""
    found = []
    for sheet in run.model.deformables:
        arm = run.records.x[:, sheet.hard_edges[:, 0]] - run.records.x[:, sheet.hard_edges[:, 1]]
        found.append(np.linalg.norm(arm, axis=2) / sheet.hard_lengths - 1)
    return np.concatenate(found, axis=1)


def gained(run: taut.Run) -> float:
    """The largest energy above an earlier one [J]."""
    energy = run.data.energy_total.values
    return float((energy - np.minimum.accumulate(energy)).max())


# Hard edges


@pytest.mark.parametrize("dt", [PAPER_STEP, 1 / 60])
@pytest.mark.parametrize("method", HOLDING)
@pytest.mark.parametrize("sheet", hard_sheets())
def test_hard_edges_keep_their_length_at_every_frame(sheet, method, dt, simulate):
    run = simulate(hard_sheets()[sheet], method, dt, 1.0)
    worst = np.abs(stretch(run)).max()
    assert worst < 1e-6, f"an edge is off by {worst:.3g} of its length"
    fallen = -run.records.x[:, :, 1].min()
    assert fallen > 0.3, f"the sheet fell only {fallen:.3g} m: it locks"


@pytest.mark.parametrize("n", [10, 20])
@pytest.mark.parametrize("method", HOLDING)
def test_a_hanging_sheet_of_any_resolution_keeps_its_edges(method, n, simulate):
    run = simulate(gallery("cloth_hang", n=n), method, PAPER_STEP, 1.0, record_every=4)
    worst = np.abs(stretch(run)).max()
    assert worst < 1e-6, f"an edge is off by {worst:.3g} of its length"


def small_sheet(**options) -> Scene:
    """A sheet that has started to hang and moves: away from the flat start, where edges depend on each other."""
    scene = Scene()
    vertices, triangles, corners = irregular(5, 0.1)
    options = {"stiffness": 50, "hard": "edges", "limit": None, **options}
    scene.cloth(vertices=vertices, triangles=triangles, density=0.2, bending=0.05, damping=1e-3, pins=corners,
                velocity=(0, 0, 0.5), **options)  # fmt: skip
    return scene


DURATION = 0.12  # [s]


def at_end(simulate, scene: Scene, method: str, dt: float, **options) -> np.ndarray:
    run = simulate(scene, method, dt, DURATION, record_every=round(DURATION / dt), **options)
    return run.records.x[-1]


@pytest.mark.parametrize("method", HOLDING)
def test_both_methods_converge_to_the_motion_of_a_general_method(method, simulate, slope):
    exact = at_end(simulate, small_sheet(), "rattle", DURATION / 1536)
    steps = [DURATION / n for n in (24, 48, 96, 192)]
    errors = [np.abs(at_end(simulate, small_sheet(), method, dt) - exact).max() for dt in steps]
    order = slope(steps, errors)
    assert 0.9 < order < 1.2 and errors[-1] < 1e-3, f"order {order:.2f}, errors {errors}"


@pytest.mark.parametrize("limit", [None, 0.02])
@pytest.mark.parametrize("rule", UNCONSTRAINED)
def test_all_ways_of_the_unconstrained_part_converge_to_one_motion(rule, limit, simulate, slope):
    def scene():
        return small_sheet(hard=None, limit=limit, stiffness=5)

    exact = at_end(simulate, scene(), "rattle" if limit is None else "implicit_first", DURATION / 3072)
    steps = [DURATION / n for n in (24, 48, 96, 192)]
    errors = [np.abs(at_end(simulate, scene(), "implicit_first", dt, unconstrained=rule) - exact).max() for dt in steps]
    order = slope(steps, errors)
    assert order > 0.8 and errors[-1] < 1e-3, f"order {order:.2f}, errors {errors}"


@pytest.mark.parametrize("dt", [PAPER_STEP, 1 / 60])
@pytest.mark.parametrize("method", HOLDING)
@pytest.mark.parametrize("sheet", hard_sheets())
def test_energy_of_sheets_with_hard_edges_does_not_grow(sheet, method, dt, simulate):
    """The sheets' weight times their height is 2 J. Where edges lock a sheet, holding them has to do some work."""
    most = gained(simulate(hard_sheets()[sheet], method, dt, 1.0))
    locked = 2e-2 if method == "fast_projection" else 2e-3
    assert most < (1e-6 if sheet in ("grid", "wavy mesh") else locked), f"gained {most:.3g} J"


# Limits

LIMITED = {"cloth_hang": {"hard": False}, "cloth_ball": {}, "cloth_posts": {}, "flag_wind": {}}


def limited(name: str, rule: str, n: int = 20) -> Scene:
    scene = gallery(name, n=n, **LIMITED[name])
    for key, record in scene._deformables.items():
        given = {**record.arguments, "limit_rule": rule, "system": "nodes"}
        scene._deformables[key] = replace(record, limit_rule=rule, system="nodes", arguments=given)
    return scene


@pytest.mark.parametrize("dt", [PAPER_STEP, 10 * PAPER_STEP])
@pytest.mark.parametrize("name", LIMITED)
def test_no_edge_is_longer_than_its_limit_at_any_step(name, dt, simulate):
    run = simulate(limited(name, "exact"), "implicit_first", dt, 1.0)
    most = float(run.data.elongation.max())
    assert most <= 0.105, f"an edge is {most:.4g} longer"
    assert int(run.data.limited_edges.max()) > 0, "no limit acts"
    assert int(run.data.limited_edges[0]) == 0, "a limit acts at rest"


@pytest.mark.parametrize("dt", [PAPER_STEP, 10 * PAPER_STEP])
@pytest.mark.parametrize("name", LIMITED)
def test_the_rule_of_the_paper_keeps_the_limit_at_any_step(name, dt, simulate):
    run = simulate(limited(name, "paper", 12), "implicit_first", dt, 1.0)
    most = float(run.data.elongation.max())
    assert most <= 0.105, f"an edge is {most:.4g} longer"


@pytest.mark.parametrize("name", ["cloth_ball", "cloth_posts"])
def test_without_a_limit_edges_become_much_longer(name, simulate):
    run = simulate(gallery(name, n=12, limit=None), "implicit_first", PAPER_STEP, 1.0)
    most = float(run.data.elongation.max())
    assert most > 0.3, f"an edge is only {most:.4g} longer"
    assert int(run.data.limited_edges.max()) == 0


def test_no_limit_acts_on_a_sheet_that_falls_freely(simulate):
    scene = Scene()
    scene.cloth(grid=(8, 8), limit=0.0 + 1e-9, velocity=(1, 0, 0))
    run = simulate(scene, "implicit_first", 0.01, 0.2)
    assert int(run.data.limited_edges.max()) == 0 and float(run.data.elongation.max()) < 1e-9


@pytest.mark.parametrize("shape", ["grid", "mesh"])
def test_a_limit_of_zero_means_hard_edges(shape):
    vertices, triangles, _ = irregular(4, 0.1)
    given = {"grid": (4, 4)} if shape == "grid" else {"vertices": vertices, "triangles": triangles}
    zero, hard = (Scene().cloth(**given, **how).record for how in (
        {"limit": 0}, {"limit": None, "hard": "warp_weft" if shape == "grid" else "edges"}))  # fmt: skip
    assert np.array_equal(zero.hard_edges, hard.hard_edges) and len(hard.hard_edges) > 20
    assert zero.limit is None and sorted(zero.springs) == sorted(hard.springs)


# Momentum and energy


def ball_and_cloth(**options) -> Scene:
    scene = Scene(gravity=(0, 0, 0))
    sheet = scene.cloth(grid=(10, 10), origin=(-0.5, 0, -0.5), density=0.2, stiffness=50, damping=1e-3,
                        thickness=0.01, velocity=(0.3, 0.1, 0), **options)  # fmt: skip
    ball = scene.particle((0.05, 0.3, 0.02), mass=1.0, velocity=(0, -5, 0.5), radius=0.15, name="ball")
    scene.contacts([ball], sheet, friction=0.2)
    return scene


@pytest.mark.parametrize("dt", [PAPER_STEP, 10 * PAPER_STEP])
@pytest.mark.parametrize("options", [{}, {"hard": "warp_weft", "limit": None}, {"limit_rule": "paper"}], ids=str)
def test_momentum_of_a_ball_and_a_free_sheet_is_kept(options, dt, simulate):
    run = simulate(ball_and_cloth(**options), "implicit_first", dt, 0.5)
    p, angular = run.data.momentum.values, run.data.angular_momentum.values
    touched = int(run.data.contact_count.max())
    off = np.abs(p - p[0]).max() / np.abs(p[0]).max()
    assert touched > 0 and off < 1e-9, f"momentum is off by {off:.3g}, {touched} contacts"
    turned = np.abs(angular - angular[0]).max()
    # Forces act along edges at the end of the step, but velocities are those of its chord: first order in h.
    assert turned < 10 * dt, f"angular momentum is off by {turned:.3g} kg m²/s"
    most, share = gained(run), 0.01 if dt == PAPER_STEP else 0.05
    start = float(run.data.energy_total[0])
    assert most < share * start, f"gained {most:.3g} J of {start:.3g} J"


@pytest.mark.parametrize("dt", [PAPER_STEP, 10 * PAPER_STEP])
@pytest.mark.parametrize("name", ["cloth_hang", "cloth_ball", "cloth_posts"])
def test_energy_of_sheets_at_their_limit_does_not_grow(name, dt, simulate):
    """Gravity is in the potential; nothing drives these. Tolerances let in a share of what moves about."""
    run = simulate(limited(name, "exact"), "implicit_first", dt, 1.0)
    scale, share = max(float(run.data.energy_kinetic.max()), 1.0), 1e-5 if dt == PAPER_STEP else 0.01
    assert gained(run) < share * scale, f"gained {gained(run):.3g} J of {scale:.3g} J"


# The same bits


def carrying_a_box() -> Scene:
    scene = Scene()
    box = scene.rigid((0.5, 0, 1.1), 0.3, shape={"box": (1, 0.1, 0.2)}, angular_velocity=(1, 2, 0))
    scene.cloth(grid=(6, 6), u=(1, 0, 0), v=(0, 0, 1), stiffness=20, name="cloth",
                pins=[0, 5, {"vertex": 30, "to": box}, {"vertex": 35, "to": box}])  # fmt: skip
    return scene


def active(n: int) -> Scene:
    scene = Scene()
    scene.cloth(grid=(n, n), stiffness=50, damping=1e-3, pins=[0, n - 1], limit_rule="paper", system="active")
    return scene


REPEATED = {
    "hard": lambda: gallery("cloth_hang", n=8),
    "limit": lambda: gallery("cloth_hang", n=8, hard=False),
    "paper": lambda: limited("cloth_hang", "paper", 8),
    "active": lambda: active(8),
    "ball": lambda: gallery("cloth_ball", n=8),
    "drape": lambda: gallery("cloth_drape", n=8),
    "box": carrying_a_box,
}


def repeated(name: str, **options) -> taut.Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", taut.TautWarning)
        given = {"method": "implicit_first", "dt": PAPER_STEP, "duration": 0.3, "progress": False, **options}
        return taut.simulate(REPEATED[name](), **given)


def bits(run: taut.Run) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in run.records.as_dict().items()}


def different(found: taut.Run, expected: taut.Run) -> list[str]:
    mine, its = bits(found), bits(expected)
    return [name for name in its if mine[name] != its[name]]


@pytest.mark.parametrize("name", REPEATED)
def test_two_runs_of_a_sheet_have_the_same_bits(name):
    assert not (wrong := different(repeated(name), repeated(name))), f"{wrong} differ"


@pytest.mark.parametrize("threads", ["1", "2"])
def test_bits_do_not_depend_on_threads(threads):
    from test_repeatability import fingerprint

    here = [fingerprint(repeated(name)) for name in ("hard", "drape")]
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_cloth import repeated\nfrom test_repeatability import fingerprint\n"
        "print(*(fingerprint(repeated(name)) for name in ('hard', 'drape')))"
    )
    told = subprocess.run([sys.executable, "-c", code, str(Path(__file__).parent)], capture_output=True, text=True,
                          check=True, env={**os.environ, "NUMBA_NUM_THREADS": threads})  # fmt: skip
    assert told.stdout.split() == here, f"{told.stdout} instead of {here}"


@pytest.mark.parametrize("name, after, options", [
    *((name, 40, {}) for name in REPEATED), ("ball", 40, {"unconstrained": "adams_bashforth"}),
    # its fourth step did not converge in two pieces; those that follow begin with four
    ("ball", 5, {"dt": 1 / 24, "duration": 0.5}),
])  # fmt: skip
def test_a_resumed_sheet_is_the_uninterrupted_one(name, after, options, tmp_path, monkeypatch):
    expected = repeated(name, **options)
    with interrupted(monkeypatch, chunks=after):
        cut = repeated(name, out=tmp_path / "run.taut", **options)
    assert cut.status == "interrupted" and 0 < cut.steps < expected.steps
    resumed = taut.resume(tmp_path / "run.taut", progress=False)
    assert not (wrong := different(resumed, expected)), f"{wrong} differ"
