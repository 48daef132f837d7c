"""Cloth and solids in files, kept exactly, and mistaken ones, refused with nothing left behind."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from words_cloth import CORNER, OBJ, SQUARE, mixed

import taut
from taut.errors import TautError, TautWarning
from taut.scene import Scene, load

# Files


@pytest.mark.parametrize("arrays", ["auto", True, False])
def test_a_file_keeps_deformables_exactly(tmp_path, arrays):
    scene = mixed(tmp_path)
    read = load(scene.save(tmp_path / "mixed.yaml", arrays=arrays))
    assert read == scene
    for records in ("bodies", "constraints", "forces"):
        mine, its = getattr(scene, records), getattr(read, records)
        assert list(mine) == list(its), f"{records} come in another order"
        assert [r.owner for r in mine.values()] == [r.owner for r in its.values()]
    models = taut.build(scene), taut.build(read)
    assert all(np.array_equal(getattr(models[0], key), getattr(models[1], key)) for key in ("x", "v"))
    assert np.array_equal(models[0].forces.p, models[1].forces.p)


def test_a_file_holds_what_was_written_and_not_what_was_made(tmp_path):
    scene = mixed(tmp_path)
    text = scene.save(tmp_path / "mixed.yaml").read_text()
    assert text.count("cloth[") == 1 and "springs" not in text and "mesh: sheet.obj" in text, text
    assert len(text.splitlines()) < 25, f"{len(text.splitlines())} lines"


def test_scenes_that_differ_in_a_deformable_differ(tmp_path):
    scene = mixed(tmp_path)
    for change in ({"arguments": {}}, {"pins": {}}, {"kind": "solid"}):
        other = mixed(tmp_path)
        other._deformables["sheet"] = replace(other._deformables["sheet"], **change)
        same = change == {"pins": {}}  # it has none
        assert (other == scene) == same, f"{change}"


def test_the_cloth_of_the_manual_loads(tmp_path):
    manual = (Path(__file__).parent.parent / "docs" / "scenes.md").read_text()
    (text,) = (block for block in re.findall(r"```yaml\n(.*?)```", manual, re.S) if "deformables:" in block)
    (tmp_path / "flag.obj").write_text(OBJ)
    (tmp_path / "manual.yaml").write_text("taut: 1\n" + text)
    scene = load(tmp_path / "manual.yaml")
    assert len(scene.deformables) == text.count("kind: cloth") + text.count("kind: solid")
    taut.build(scene)


@pytest.mark.parametrize("entry, words", [
    ("{kind: cloth, grid: [3, 3], stifness: 3}", "3:"),
    ("{kind: cloth, grid: [3, 3], stifness: 3}", "Did you mean 'stiffness'"),
    ("{kind: cloth, grid: [3, 3], limit: -0.1}", "deformables[0].limit: value is -0.1"),
    ("{kind: cloth, grid: [3]}", "deformables[0].grid: value is [3]; give 2 whole numbers"),
    ("{kind: cloth, grid: [3, 3], pins: [99]}", "pins names vertex 99; its 9 vertices are numbered from 0 to 8"),
    ("{kind: cloth, grid: [3, 3], pins: [{to: a}]}", "has the pin {'to': 'a'}"),
    ("{kind: cloth, vertices: 'array:v', triangles: 'array:t'}", "missing key arrays"),
    ("{kind: cloth, mesh: none.obj}", "none.obj' does not exist"),
    ("{kind: sheet, grid: [3, 3]}", "unknown kind 'sheet'"),
    ("{kind: cloth, many: {}}", "can not be given as many"),
])  # fmt: skip
def test_mistakes_in_files_are_told_with_their_line(tmp_path, entry, words):
    path = tmp_path / "scene.yaml"
    path.write_text(f"taut: 1\ndeformables:\n- {entry}\n")
    with pytest.raises(TautError) as told:
        load(path)
    assert f"{path}:3:" in str(told.value) and words in str(told.value), f"said: {told.value}"


# Bad input

FLAT = {"vertices": [(0, 0, 0), (1, 0, 0), (2, 0, 0)], "triangles": [(0, 1, 2)]}
FIN = {"vertices": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1)],
       "triangles": [(0, 1, 2), (0, 3, 1), (0, 1, 4)]}  # fmt: skip


@pytest.mark.parametrize("kind, arguments, words", [
    ("cloth", {}, "cloth 'cloth' has no shape; give one of grid, mesh, or vertices with triangles"),
    ("cloth", {"grid": (3, 3), **SQUARE}, "has grid and vertices"),
    ("cloth", {"vertices": SQUARE["vertices"]}, "has vertices alone"),
    ("cloth", {"grid": (3, 3), "triangles": [(0, 1, 2)]}, "has triangles alone"),
    ("cloth", {**SQUARE, "size": (1, 1)}, "size is (1.0, 1.0), but it belongs to grid"),
    ("cloth", {**SQUARE, "shear": 3}, "only a grid has warp and weft; leave it out"),
    ("cloth", {**SQUARE, "hard": "warp_weft"}, "only a grid has warp and weft; choose 'edges'"),
    ("cloth", {"grid": (3, 1)}, "ny is 1"),
    ("cloth", {"grid": (3, 2.5)}, "grid is (3, 2.5)"),
    ("cloth", {"grid": (3, 3), "u": (0, 0, 1)}, "are parallel"),
    ("cloth", {"grid": (3, 3), "size": (1, -1)}, "size is (1, -1); give 2 positive lengths"),
    ("cloth", {"grid": (3, 3), "limit": -0.1}, "limit is -0.1; it can not be negative"),
    ("cloth", {"grid": (3, 3), "limit_rule": "soft"}, "limit_rule is 'soft'; choose 'exact' or 'paper'"),
    ("cloth", {"grid": (3, 3), "hard": "all"}, "hard is 'all'"),
    ("cloth", {"grid": (3, 3), "density": 0}, "density is 0"),
    ("cloth", {"grid": (3, 3), "density": None}, "density is None"),
    ("cloth", {"grid": (3, 3), "stiffness": float("nan")}, "stiffness is nan"),
    ("cloth", {"grid": (3, 3), "second_stiffness": 9}, "has only second_stiffness"),
    ("cloth", {"grid": (3, 3), "self_contact": True}, "self_contact needs a thickness"),
    ("cloth", {"grid": (3, 3), "self_contact": True, "thickness": 0.3},
     "its thickness is 0.3 m, but where it runs into itself it must be below half of its shortest edge, which is 0.5"),
    ("cloth", {"grid": (3, 3), "pins": [9]}, "pins names vertex 9; its 9 vertices are numbered from 0 to 8"),
    ("cloth", {"grid": (3, 3), "pins": [-1]}, "pins names vertex -1"),
    ("cloth", {"grid": (3, 3), "pins": [1, 1]}, "vertex 1 is pinned twice"),
    ("cloth", {"grid": (3, 3), "pins": [{"vertex": 1, "to": "hok"}]}, "Did you mean 'hook'"),
    ("cloth", {"grid": (3, 3), "pins": [{"vertex": 1, "to": "hook"}]}, "m away from it"),
    ("cloth", {"grid": (3, 3), "pins": 3}, "pins is 3; give a list"),
    ("cloth", {"grid": (3, 3), "colour": 3}, "unknown argument 'colour'"),
    ("cloth", {"grid": (3, 3), "name": "hook"}, "the name is taken"),
    ("cloth", {"grid": (3, 3), "name": "odd"}, "called 'odd[1]', but there is a body of that name"),
    ("cloth", {"mesh": "missing.obj"}, "does not exist"),
    ("cloth", FLAT, "face 0 (0, 1, 2) has no area"),
    ("cloth", FIN, "edge (0, 1) belongs to 3 triangles"),
    ("solid", {"vertices": CORNER["vertices"], "tetrahedra": [(0, 1, 2), (0, 2, 3)]}, "without volume"),
    ("solid", {"box": (2, 2)}, "box is (2, 2)"),
    ("solid", {**CORNER, "hard": "edges"}, "unknown argument 'hard'"),
])  # fmt: skip
def test_mistaken_deformables_are_refused_and_leave_nothing_behind(kind, arguments, words):
    def before() -> Scene:
        scene = Scene()
        scene.particle((9, 9, 9), name="hook")
        scene.particle((9, 9, 8), name="odd[1]")
        return scene

    scene = before()
    with pytest.raises(TautError) as told:
        getattr(scene, kind)(**arguments)
    assert words in str(told.value), f"said: {told.value}"
    assert "\n" not in str(told.value), "one message, one line"
    assert scene == before(), "something was added"


def test_parts_that_are_not_connected_are_told():
    far = [(x + 5, y, z) for x, y, z in SQUARE["vertices"]]
    triangles = [*SQUARE["triangles"], *((a + 4, b + 4, c + 4) for a, b, c in SQUARE["triangles"])]
    with pytest.warns(TautWarning, match="mesh 'rags' has 2 parts that are not connected"):
        Scene().cloth(vertices=[*SQUARE["vertices"], *far], triangles=triangles, name="rags")
