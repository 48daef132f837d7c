"""Cloth and solids in scenes: what they are made of, what files keep of them, and what is refused."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import taut
from taut.cloth import grid
from taut.cloth.springs import joined, spring_energy
from taut.errors import TautError, TautWarning
from taut.jit import kernel
from taut.model.evaluate import forces
from taut.scene import SCENES, Scene, gallery, load, schema
from taut.scene.materials import OPTIONS
from taut.scene.places import places

SQUARE = {"vertices": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0.2)], "triangles": [(0, 1, 2), (2, 1, 3)]}
CORNER = {"vertices": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], "tetrahedra": [(0, 1, 2, 3)]}
OBJ = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nf 1 2 3 4\n"
CLOTHS = [name for name, entry in SCENES.items() if entry.function.__module__.endswith("gallery.cloth")]


@kernel
def evaluate(system, x, quat, v):
    return forces(system, 0.0, x, quat, v)


def forces_at(model, x: np.ndarray, v: np.ndarray | None = None) -> tuple[float, np.ndarray]:
    """Potential energy of all forces but gravity, and all forces, at places x."""
    system = model.system()
    energy = evaluate(system, x.copy(), model.quat.copy(), np.zeros_like(x) if v is None else v)
    return float(energy), system.work.f.copy()


def mixed(folder: Path) -> Scene:
    """Deformables of every sort, between other things, with numbers that are hard to keep."""
    (folder / "sheet.obj").write_text(OBJ)
    scene = Scene(name="mixed")
    hook = scene.particle((1 / 3, 2, 0), fixed=True, name="hook")
    first = scene.cloth(grid=(4, 3), size=(1 / 3, 0.7), origin=(0, 2, 0), density=0.1 + 0.2, hard="warp_weft",
                        limit=None, wind=(1, "sin(t)", 0), drag=0.3, thickness=0.01, self_contact=True,
                        velocity=(0, 1e-300, 0), pins=[0, {"vertex": 3, "to": hook}])  # fmt: skip
    scene.cloth(mesh=folder / "sheet.obj", origin=(0, 0, 5), limit_rule="paper", bending=0, hard="edges", name="sheet")
    beam = scene.rigid((3, 2, 1), mass=2, inertia=(1, 1, 1), orientation=((1, 2, 3), 0.7), name="beam")
    arrays = scene.cloth(**SQUARE, stiffness=7, second_stiffness=70, second_elongation=0.05, damping=0.1)
    scene.solid(box=(2, 3, 2), limit=0, name="jelly", pins=[{"vertex": 0, "to": (0.1, 0, 0)}])
    scene.solid(**CORNER, density=3.0, origin=(0, 9, 0))
    arrays.pin(2, to=beam)
    first.pin(first.corner(1, 1), to=("1/3", "2 + 0.1*t", 0.7))
    ball = scene.particle((0, 5, 0), radius=0.2, name="ball")
    scene.distance(first.node(5), ball, length=9, sense="<=")
    scene.contacts([ball], first)
    scene.contacts("jelly", [scene.obstacle("half_space", point=(0, -1, 0), normal=(0, 1, 0), name="floor")])
    return scene


# What they are made of


def test_masses_sum_to_density_times_area_or_volume(tmp_path):
    (tmp_path / "sheet.obj").write_text(OBJ)
    scene = Scene()
    weights = {
        "a": (scene.cloth(grid=(7, 4), size=(2, 3), density=0.25, name="a"), 1.5),
        "b": (scene.cloth(mesh=tmp_path / "sheet.obj", density=0.5, name="b"), 1.0),
        "c": (scene.solid(box=(3, 4, 2), size=(1, 2, 3), density=7.0, name="c"), 42.0),
        "d": (scene.solid(**CORNER, density=6.0, name="d"), 1.0),
    }
    for name, (made, expected) in weights.items():
        mass = sum(scene.bodies[node.name].mass for node in made.nodes)
        assert abs(mass - expected) < 1e-14 * expected, f"{name} weighs {mass!r} kg instead of {expected} kg"


def test_a_sheet_is_particles_springs_and_edges_that_carry_its_name():
    scene = Scene()
    sheet = scene.cloth(grid=(4, 3), thickness=0.02, velocity=(1, 2, 3), wind=(1, 0, 0), hard="warp_weft")
    scene.particle((9, 9, 9), name="late")
    assert list(scene.bodies) == ["late", *(f"cloth[{i}]" for i in range(12))], "own bodies stand first"
    assert list(scene.forces) == ["cloth.shear", "cloth.bending", "cloth.wind"], "hard edges need no springs"
    assert len(scene.constraints) == 3 * 3 + 4 * 2 and "cloth.edge[0]" in scene.constraints
    records = [*scene.bodies.values(), *scene.forces.values(), *scene.constraints.values()]
    assert {record.owner for record in records if record.name != "late"} == {"cloth"}
    body = scene.bodies[sheet.node(5).name]
    assert (body.radius, body.velocity) == (0.01, (1, 2, 3))
    assert [sheet.corner(u, v).name for u, v in ((0, 0), (1, 0), (0, 1), (1, 1))] == \
        ["cloth[0]", "cloth[3]", "cloth[8]", "cloth[11]"]


def test_methods_show_the_options_that_files_take():
    for kind, options in OPTIONS.items():
        signature = inspect.signature(getattr(Scene, kind))
        assert list(signature.parameters) == ["self", *options, "pins", "name"]
        assert all(name in getattr(Scene, kind).__doc__ for name in options)
        parts = schema()["properties"]["deformables"]["items"]["anyOf"]
        (part,) = (part for part in parts if part["properties"]["kind"]["const"] == kind)
        assert set(part["properties"]) == {"kind", "name", "pins", *options}
    json.dumps(schema())


def test_the_model_has_the_same_sheet_in_slots(tmp_path):
    scene = mixed(tmp_path)
    model = taut.build(scene)
    assert [sheet.name for sheet in model.sheets] == list(scene.deformables)
    slot_of = {info.name: info.slot for info in model.body_info}
    for sheet, record in zip(model.sheets, scene.deformables.values()):
        assert sheet.slots.tolist() == [slot_of[record.node(i)] for i in range(record.count)]
        assert (sheet.slots[record.triangles] == sheet.triangles).all()
        lengths = np.linalg.norm(model.x[sheet.limit_edges[:, 0]] - model.x[sheet.limit_edges[:, 1]], axis=1)
        # One node of the jelly was pinned away from its place.
        moved = sheet.name == "jelly"
        assert moved or np.abs(lengths - sheet.limit_lengths).max(initial=0.0) < 1e-15, sheet.name
        names = [name for name in scene.constraints if name.startswith(f"{sheet.name}.edge[")]
        assert len(sheet.hard_edges) == len(names), f"{sheet.name}: {len(names)} equalities"


def test_limits_are_on_structural_and_shear_edges_that_are_not_hard():
    scene = Scene()
    counts = {}
    for hard in (None, "warp_weft", "edges"):
        record = scene.cloth(grid=(5, 4), hard=hard, name=str(hard)).record
        counts[hard] = len(record.limit_edges), len(record.hard_edges), sorted(record.springs)
        pairs = np.concatenate([record.limit_edges, record.hard_edges])
        assert len(np.unique(pairs, axis=0)) == len(pairs), "an edge is both"
    structural, diagonals = 4 * 4 + 5 * 3, 2 * 4 * 3
    assert counts == {
        None: (structural + diagonals, 0, ["bending", "shear", "structural"]),
        "warp_weft": (diagonals, structural, ["bending", "shear"]),
        "edges": (diagonals // 2, structural + diagonals // 2, ["bending", "shear"]),
    }


# Forces


def test_springs_are_at_rest_at_the_start(tmp_path):
    model = taut.build(replace_wind(mixed(tmp_path)))
    energy, force = forces_at(model, model.x)
    # The jelly's moved node pulls at its neighbours; all others carry their weight and nothing else.
    others = np.concatenate([sheet.slots for sheet in model.sheets if sheet.name != "jelly"])
    rest = np.abs(force - model.bodies.constant)[others].max()
    assert rest < 1e-12, f"a node is pulled with {rest:.3g} N"
    assert energy > 1.0, f"the moved node stores only {energy:.3g} J"


def replace_wind(scene: Scene) -> Scene:
    """The scene without its wind."""
    for name in [name for name, force in scene._forces.items() if force.kind == "wind"]:
        del scene._forces[name]
    return scene


def test_forces_of_a_scene_are_those_of_the_sheets_springs(tmp_path):
    """Model.forces and Model.sheets hold the same springs: energies and forces agree in any state."""
    model = taut.build(replace_wind(mixed(tmp_path)))
    random = np.random.default_rng(3)
    x = model.x + 0.1 * random.standard_normal(model.x.shape)
    v = random.standard_normal(x.shape)
    energy, force = forces_at(model, x, v.copy())
    expected = model.bodies.constant.copy()
    springs = joined(*(s for sheet in model.sheets for s in sheet.springs.values()))
    again = spring_energy(springs, x, v, expected)
    apart = np.abs(force - expected).max() / np.abs(force).max()
    assert apart < 1e-14, f"forces differ by {apart:.3g} of the largest"
    assert abs(energy - again) < 1e-13 * energy, f"energies {energy} and {again}"


def test_inner_nodes_of_an_evenly_stretched_sheet_are_in_equilibrium():
    scene = Scene(gravity=(0, 0, 0))
    sheet = scene.cloth(grid=(7, 7), stiffness=30, shear=20, bending=4, second_stiffness=300, second_elongation=0.1)
    model = taut.build(scene)
    _, force = forces_at(model, 1.3 * model.x)
    inner = force.reshape(7, 7, 3)[2:-2, 2:-2]
    edge = np.abs(force).max()
    assert edge > 1 and np.abs(inner).max() < 1e-13 * edge, f"inner {np.abs(inner).max():.3g} N, edge {edge:.3g} N"
    assert sheet.record.springs["shear"].k2[0] == 200, "shear stiffens in proportion"


def test_the_weight_of_a_hanging_sheet_is_carried_by_its_pins(simulate):
    """Overdamped until it hangs still: the springs at the pinned row pull up with the sheet's weight."""
    scene = Scene()
    scene.cloth(grid=(5, 5), u=(1, 0, 0), v=(0, 1, 0), stiffness=40, shear=10, damping=0.3, pins=range(20, 25))
    scene.drag(coefficient=0.02)
    run = simulate(scene, "implicit_first", 0.002, 10.0, record_every=1000)
    model = taut.build(scene)
    speed = np.abs(run.records.v[-1]).max()
    assert speed < 1e-4, f"it still moves with {speed:.3g} m/s"
    _, force = forces_at(model, run.records.x[-1])
    weight = 9.81 * sum(body.mass for body in scene.bodies.values() if body.motion == "free")
    carried = -force[model.sheets[0].slots[20:], 1].sum()
    assert abs(carried - weight) < 1e-3 * weight, f"the pins carry {carried:.5g} N of {weight:.5g} N"


# Pins


def test_pins_fix_drive_and_join():
    scene = Scene()
    beam = scene.rigid((0, 1, 0), mass=1, inertia=(1, 1, 1), orientation=("y", 0.5), name="beam")
    knob = scene.particle((1, 0, 1), mass=2, name="knob")
    pins = [0, {"vertex": 1, "to": (0.4, 0, "0.5*t")}, {"vertex": 2, "to": beam}, {"vertex": 8, "to": "knob"}]
    sheet = scene.cloth(grid=(3, 3), hard="warp_weft", pins=pins)
    bodies = [scene.bodies[node.name] for node in sheet.nodes]
    assert [body.motion for body in bodies] == ["fixed", "driven", *["free"] * 7]
    assert (bodies[1].position, bodies[1].velocity) == ((0.4, 0, 0), (0, 0, 0.5))
    assert "cloth.edge[0]" not in scene.constraints, "an edge between two pins holds nothing"
    assert scene.constraints["cloth.pin[8]"].points[1].body == knob.name
    ends = [places(joint.points, scene.bodies) for joint in scene.constraints.values() if joint.kind == "ball"]
    apart = max(np.abs(a - b).max() for a, b in ends)
    assert len(ends) == 2 and apart < 1e-15, f"a joint is open by {apart:.3g} m"


def test_pinning_later_is_pinning_at_once():
    scenes = [Scene(), Scene()]
    for scene, at_once in zip(scenes, (True, False)):
        ring = scene.particle((1, 0, 0), fixed=True, name="ring")
        given = [3, 4, {"vertex": 2, "to": ring}, {"vertex": 5, "to": (0, "t", 0)}]
        sheet = scene.cloth(grid=(3, 3), hard="edges", pins=given if at_once else ())
        scene.particle((5, 5, 5), name="other")
        if not at_once:
            sheet.pin(3)
            sheet.pin(sheet.node(4))
            sheet.pin(2, to="ring")
            sheet.pin(5, to=(0, "t", 0))
    assert scenes[0] == scenes[1]


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


# Gallery


@pytest.mark.parametrize("name", CLOTHS)
def test_a_gallery_scene_starts_without_overlap_and_steps(name, simulate):
    scene = gallery(name, n=6)
    dt = scene.suggested["dt"]
    run = simulate(scene, scene.suggested["method"], dt, 10 * dt)
    model = taut.build(scene)
    springs = joined(*model.sheets[0].springs.values())
    apart = run.records.x[-1][springs.i] - run.records.x[-1][springs.j]
    stretch = np.abs(np.linalg.norm(apart, axis=1) / springs.rest - 1).max()
    assert stretch < 0.1, f"after ten steps a spring is {stretch:.3g} off its length"
    moved = np.abs(run.records.x[-1] - model.x)[model.sheets[0].slots].max()
    assert moved > 1e-4, f"no node moved by more than {moved:.3g} m"


def test_resolution_is_a_parameter_of_every_cloth_scene():
    for name in CLOTHS:
        counts = [len(gallery(name, n=n).bodies) for n in (4, 8)]
        assert counts[1] > 3 * counts[0], f"{name}: {counts} bodies"


def test_a_grid_scene_is_the_mesh_of_the_same_grid():
    """Vertices and masses of a scene's grid are those of taut.cloth.grid."""
    mesh = grid(5, 4, (2, 3), (1, 1, 1))
    scene = Scene()
    scene.cloth(grid=(5, 4), size=(2, 3), origin=(1, 1, 1), density=0.7)
    found = np.array([body.position for body in scene.bodies.values()])
    masses = np.array([body.mass for body in scene.bodies.values()])
    assert np.array_equal(found, mesh.vertices) and np.array_equal(masses, mesh.masses(0.7))
