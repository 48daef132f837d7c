"""The start of a run with cloth: what is broken is told with names, places and depths, mended if asked, or refused.

And bad input: one message, exit code 2, nothing written.
"""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

import taut
from taut.cli import main
from taut.geometry import grid
from taut.geometry.intersections import crossings
from taut.initial.untangle import Tangle
from taut.scene import Scene, gallery

STEP = 1 / 240  # [s]


def started(scene: Scene, method: str = "implicit_first", **options) -> tuple[taut.Run, list[str]]:
    """A short run, and what it warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", taut.TautWarning)
        run = taut.simulate(scene, method=method, dt=STEP, duration=3 * STEP, progress=False, **options)
    return run, [str(warning.message) for warning in told]


def refused(scene: Scene, method: str = "implicit_first", **options) -> str:
    with pytest.raises(taut.TautError) as told:
        taut.simulate(scene, method=method, dt=STEP, duration=3 * STEP, progress=False, **options)
    assert "\n" not in str(told.value), "one message, one line"
    return str(told.value)


def in_floor(depth: float) -> Scene:
    scene = Scene()
    sheet = scene.cloth(grid=(5, 5), thickness=0.02, origin=(0, 0.01 - depth, 0), v=(0, 0.1, 1), name="rug")
    scene.contacts(sheet, [scene.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0), name="floor")])
    return scene


def around_ball(height: float) -> Scene:
    scene = Scene()
    sheet = scene.cloth(grid=(10, 10), origin=(-0.5, 0, -0.5), thickness=0.02, pins=[0, 9, 90, 99])
    scene.contacts([scene.particle((0, height, 0), mass=5, radius=0.2, name="ball")], sheet)
    return scene


def pulled(to: float, **options) -> Scene:
    scene = Scene()
    scene.cloth(grid=(6, 6), pins=[0, {"vertex": 5, "to": (to, 0, 0)}], **options)
    return scene


def crossed(held=(), **moved) -> Scene:
    scene = Scene()
    a = scene.cloth(grid=(8, 8), thickness=0.01, name="a", pins=held)
    b = scene.cloth(**{"grid": (8, 8), "thickness": 0.01, "origin": (0.03, -0.03, 0.05), "u": (1, 0.1, 0), **moved},
                    name="b")  # fmt: skip
    scene.contacts(a, b)
    return scene


HARD = {"hard": "warp_weft", "limit": None}
BROKEN = {
    "nodes in the floor": (in_floor(0.05), ["15 nodes of cloth 'rug'", "wrong side of 'floor'", "by 0.05 m"]),
    "a ball": (around_ball(0.15), ["4 nodes of cloth 'cloth'", "wrong side of 'ball'", "at worst node 44 by 0.0407 m"]),
    "beyond the limit": (pulled(1.05), ["2 edges are beyond the limit of 0.1", "node 4 to 5", "longer by 0.25"]),
    "hard edges": (pulled(0.85, **HARD), ["2 hard edges are off their length", "node 4 to 5", "shorter by 0.75"]),
    "two sheets": (crossed(), ["cloth 'a' crosses cloth 'b' in 26 pairs", "nodes (2, 11, 10)", "and 23 more"]),
    "the same place": (crossed(origin=(0, 0, 0), u=(1, 0, 0)), ["cloth 'a' crosses cloth 'b' in 1228 pairs"]),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_start_is_refused_with_names_and_depths(name):
    scene, words = BROKEN[name]
    told = refused(scene)
    for word in (*words, "--repair"):
        assert word in told, f"'{word}' is not in: {told}"


@pytest.mark.parametrize("name", BROKEN)
def test_repair_moves_nodes_as_little_as_needed_and_says_so(name):
    scene, words = BROKEN[name]
    run, told = started(scene, repair=True)
    (note,) = told
    assert words[0] in note and "was repaired by moving nodes by up to" in note, note
    assert note.removesuffix(".") in run.info["notes"]
    far = np.abs(run.records.x[0] - run.model.x).max()
    assert 1e-3 < far < 0.3, f"nodes were moved by {far:.3g} m"
    off = float(run.data.elongation[0]), float(run.data.get("overlap", run.data.elongation * 0)[0])
    assert off[0] <= 0.1 + 1e-6 and off[1] <= 1e-9, f"elongation {off[0]:.3g}, overlap {off[1]:.3g} m at the start"
    if "crosses" in words[0]:
        triangles = np.concatenate([sheet.triangles for sheet in run.model.deformables])
        assert len(crossings(run.records.x[0], triangles)) == 0


@pytest.mark.parametrize("scene, words", [
    (pulled(1.3), "edges are beyond the limit"),
    (pulled(1.3, **HARD), "hard edges are off their length"),
    (crossed(held=range(64), pins=range(63)), "cloth 'a' crosses cloth 'b'"),
])  # fmt: skip
def test_what_can_not_be_repaired_is_told(scene, words):
    told = refused(scene, repair=True)
    assert "could not be repaired" in told and words in told, told


def test_a_start_that_is_only_too_near_is_no_fault():
    scene = Scene()
    a = scene.cloth(grid=(8, 8), thickness=0.02, name="a")
    scene.contacts(a, scene.cloth(grid=(8, 8), thickness=0.02, origin=(0.01, 0.004, 0.02), name="b"))
    _, told = started(scene)
    assert not told, told


@pytest.mark.parametrize("method", ["implicit_first", "fast_projection", "rattle"])
def test_redundant_hard_edges_of_a_flat_sheet_are_not_warned_of(method):
    run, told = started(gallery("cloth_hang", n=6), method)
    assert not told, told
    assert any("hard edges" in note for note in run.info["notes"]), run.info["notes"]


def test_methods_without_contacts_look_at_edges_too():
    assert "beyond the limit" in refused(pulled(1.05), "provot")
    assert "hard edges are off" in refused(pulled(0.85, **HARD), "rattle")


# Untangling


def tangles() -> dict[str, tuple[np.ndarray, Tangle]]:
    """Two sheets in each other, and one in itself."""
    mesh = grid(9, 9)
    x, z = mesh.vertices[:, 0], mesh.vertices[:, 2]
    two = np.concatenate([mesh.triangles, mesh.triangles + 81])
    wave = np.stack([x + 0.03, 0.03 * np.sin(7 * x) * np.cos(6 * z) + 0.01, z + 0.02], axis=1)
    upright = np.stack([x + 0.8, 0.6 * z - 0.1, 0 * z + 0.5], axis=1)
    pair = np.array([[False, True], [True, False]])
    found = {
        name: (np.concatenate([mesh.vertices, other]), Tangle(two, np.repeat([0, 1], 81), pair))
        for name, other in (("waves", wave), ("upright", upright))
    }
    strip = grid(17, 9, (2, 1))
    x, z = strip.vertices[:, 0], strip.vertices[:, 2]
    over = np.where(x < 1, x, 2 - x)
    dent = 0.08 * np.exp(-((over - 0.5) ** 2 + (z - 0.5) ** 2) / 0.02)
    y = np.where(x < 1, dent, 0.06)
    one = Tangle(strip.triangles, np.zeros(len(x), int), np.ones((1, 1), bool))
    return found | {"itself": (np.stack([over, y, z], axis=1), one)}


@pytest.mark.parametrize("name", tangles())
def test_crossing_lines_are_drawn_together_until_nothing_crosses(name):
    x, tangle = tangles()[name]
    before = len(tangle.crossings(x))
    apart = tangle.undone(x, np.ones(len(x)), 1 / 8, 0.01)
    left, far = len(tangle.crossings(apart)), np.abs(apart - x).max()
    assert before > 10 and left == 0, f"{left} of {before} crossings are left"
    assert far < 0.2, f"nodes were moved by {far:.3g} m"


def test_flat_sheets_of_any_place_and_direction_do_not_cross_themselves():
    random = np.random.default_rng(0)
    for _ in range(50):
        n = int(random.integers(3, 12))
        mesh = grid(n, n)
        turn = np.linalg.qr(random.standard_normal((3, 3)))[0]
        found = len(crossings(mesh.vertices @ turn + random.uniform(-50, 50, 3), mesh.triangles))
        assert found == 0, f"{found} pairs of triangles of a flat sheet of {n} × {n} nodes"


# Bad input, by the command line

GRID = {"kind": "cloth", "name": "rug", "grid": [4, 4]}
OBJ = {
    "fin.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nf 1 2 3\nf 1 4 2\nf 1 2 5\n",
    "flat.obj": "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 4\n",
    "twice.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 2\n",
    "parts.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 0 0\nv 6 0 0\nv 5 1 0\nf 1 2 3\nf 4 5 6\n",
    "text.obj": "v 0 0 zero\n",
    "empty.obj": "",
}
SHELL = {"vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "tetrahedra": [[0, 1, 2], [0, 2, 3]]}
MISTAKES = {
    "non-manifold": ({"kind": "cloth", "mesh": "fin.obj"}, "edge (0, 1) belongs to 3 triangles, face 0 (0, 1, 2)"),
    "no area": ({"kind": "cloth", "mesh": "flat.obj"}, "face 0 (0, 1, 2) has no area"),
    "degenerate": ({"kind": "cloth", "mesh": "twice.obj"}, "face 0 (0, 1, 1) names a vertex twice"),
    "no numbers": ({"kind": "cloth", "mesh": "text.obj"}, "line 1"),
    "empty": ({"kind": "cloth", "mesh": "empty.obj"}, "empty.obj"),
    "no file": ({"kind": "cloth", "mesh": "none.obj"}, "none.obj' does not exist"),
    "limit": ({**GRID, "limit": -0.1}, "limit: value is -0.1"),
    "missing vertex": ({**GRID, "pins": [16]}, "pins names vertex 16; its 16 vertices are numbered from 0 to 15"),
    "shell": ({"kind": "solid", **SHELL}, "without volume"),
    "flat solid": ({"kind": "solid", **SHELL, "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]],
                    "tetrahedra": [[0, 1, 2, 3]]}, "tetrahedron 0 (0, 1, 2, 3) has no volume"),
    "zero density": ({**GRID, "density": 0}, "density: value is 0"),
    "thick": ({**GRID, "thickness": 0.3, "self_contact": True}, "below half of its shortest edge"),
}  # fmt: skip


def write(folder, *deformables, **more):
    for name, text in OBJ.items():
        (folder / name).write_text(text)
    path = folder / "scene.yaml"
    path.write_text(json.dumps({"taut": 1, "deformables": list(deformables), **more}))
    return path


def run_file(path, capsys, *flags) -> tuple[int, str, str, bool]:
    out = path.parent / "out.taut"
    code = main(["run", str(path), "--dt", "0.01", "--duration", "0.02", "--out", str(out), *flags])
    printed, error = capsys.readouterr()
    return code, printed, error, out.exists()


@pytest.mark.parametrize("name", MISTAKES)
def test_bad_input_is_one_message_and_nothing_is_written(name, tmp_path, capsys):
    given, words = MISTAKES[name]
    code, printed, error, written = run_file(write(tmp_path, given), capsys)
    assert code == 2 and words in error, f"exit code {code}: {error}"
    assert error.count("taut:") <= 1 and "Traceback" not in error, error
    assert printed == "" and not written


def test_a_start_that_crosses_is_refused_by_the_command_line_and_repaired_if_asked(tmp_path, capsys):
    other = {**GRID, "name": "mat", "origin": [0.03, -0.03, 0.05], "u": [1, 0.1, 0]}
    path = write(tmp_path, *({**sheet, "thickness": 0.01} for sheet in (GRID, other)),
                 contacts=[{"first": "rug", "second": "mat"}])  # fmt: skip
    code, printed, error, written = run_file(path, capsys)
    assert code == 2 and "cloth 'rug' crosses cloth 'mat'" in error and "--repair" in error, f"{code}: {error}"
    assert printed == "" and not written
    code, _, error, written = run_file(path, capsys, "--repair")
    assert code == 0 and written, error


def test_parts_that_are_not_connected_are_fine_but_said(tmp_path, capsys):
    code, _, error, written = run_file(write(tmp_path, {"kind": "cloth", "mesh": "parts.obj"}), capsys)
    assert code == 0 and written, error
    assert error.count("taut: warning:") == 1 and "has 2 parts that are not connected" in error, error


