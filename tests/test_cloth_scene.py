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
from taut.cli import main
from taut.cloth import grid
from taut.cloth.springs import joined, spring_energy
from taut.errors import TautError, TautWarning
from taut.jit import kernel
from taut.loop import METHOD_LIST
from taut.methods import METHODS
from taut.model.evaluate import forces, set_time
from taut.run import method_for
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
    scene.cloth(grid=(5, 5), u=(1, 0, 0), v=(0, 1, 0), stiffness=40, shear=10, damping=0.3, limit=None,
                pins=range(20, 25))  # fmt: skip
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


@kernel
def stand(system, t, x, quat, v):
    set_time(system, t, x, quat, v)


def test_a_node_on_a_body_that_is_moved_goes_with_it_without_a_constraint():
    """x = c(t) + R(θ(t)) r with its two derivatives, where the body turns; as the body where it does not."""
    scene = Scene()
    arm = scene.rigid(path=("sin(t)", 1, "0.2*t**2"), rotation=((0, 0, 1), "0.5 + t**2"), name="arm")
    hand = scene.particle(path=(0, "cos(t)", 2), name="hand")
    wall = scene.rigid((1, 0, 0), mass=1, inertia=(1, 1, 1), fixed=True, name="wall")
    pins = [{"vertex": 0, "to": arm}, {"vertex": 2, "to": wall}, {"vertex": 6, "to": arm.at((0.3, 0.1, -0.2))}]
    start = np.array([0.3 * np.cos(0.5) - 0.1 * np.sin(0.5), 1 + 0.3 * np.sin(0.5) + 0.1 * np.cos(0.5), -0.2])
    vertices = np.concatenate([grid(3, 2).vertices, [start, (0, 1, 2)]])
    sheet = scene.cloth(vertices=vertices, triangles=[(0, 1, 3), (1, 4, 3), (1, 2, 4), (2, 5, 4), (2, 6, 5), (5, 6, 7)],
                        limit=None, pins=[*pins, {"vertex": 7, "to": hand}])  # fmt: skip
    bodies = [scene.bodies[node.name] for node in sheet.nodes]
    assert [body.motion for body in bodies] == [*"driven free fixed free free free driven driven".split()]
    model = taut.build(scene)
    assert model.row_count == 0, f"{model.row_count} rows"
    system, slots = model.system(), model.sheets[0].slots[[0, 6, 7]]

    def at(t):
        x, quat, v = model.x.copy(), model.quat.copy(), model.v.copy()
        stand(system, t, x, quat, v)
        return x[slots], v[slots], system.work.driven[slots].copy()

    t, h = 0.7, 1e-5
    (x, v, a), before, after = at(t), at(t - h), at(t + h)
    turn, centre = 0.5 + t * t, np.array([np.sin(t), 1, 0.2 * t * t])
    flat = np.array([0.3, 0.1]) @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
    expected = [centre + [*flat, -0.2], [0, np.cos(t), 2]]
    worst = np.abs(x[1:] - expected).max()
    assert worst < 1e-14, f"a node is {worst:.3g} m off its place on the body"
    assert np.abs(at(0.0)[0][0] - vertices[0]).max() < 1e-15, "it starts where its vertex is"
    for what, value, one, two in (("velocity", v, before[0], after[0]), ("acceleration", a, before[1], after[1])):
        error = np.abs(value - (two - one) / (2 * h)).max()
        assert error < 1e-8, f"the {what} is off by {error:.3g}"


# Who touches whom


def lying(scene: Scene, name: str, height: float = 0.0, **options) -> taut.scene.deformables.ClothRef:
    return scene.cloth(grid=(4, 4), origin=(0, height, 0), thickness=0.02, name=name, **options)


def test_contacts_of_sheets_are_kept_whole():
    """Balls and sheets on sheets are handed on in pairs; nodes against obstacles are rows."""
    scene = Scene()
    a, b = lying(scene, "a", self_contact=True), lying(scene, "b", 0.5, pins=[0], limit=None)
    jelly = scene.solid(box=(2, 2, 2), origin=(0, 3, 0), thickness=0.01, name="jelly")
    ball = scene.particle((0, 1, 0), radius=0.1, name="ball")
    stone = scene.rigid((2, 1, 0), mass=1, shape=("sphere", 0.3), name="stone")
    floor = scene.obstacle("half_space", point=(0, -1, 0), normal=(0, 1, 0), name="floor")
    scene.contacts(b, a, friction=0.2)
    scene.contacts([ball, stone], [a, "jelly"], friction=0.3)
    scene.contacts([b, ball], [floor], friction=0.4)
    scene.contacts(jelly, friction=0.5)
    scene.contacts([ball, stone])
    model = taut.build(scene)
    slot = {info.name: info.slot for info in model.body_info}
    found = model.touching
    assert found.sheet_pairs.tolist() == [[0, 0], [0, 1], [2, 2]] and found.pair_friction.tolist() == [0, 0.2, 0.5]
    balls = list(zip(found.ball_slot, found.ball_radius, found.ball_sheet, found.ball_friction))
    assert balls == [(slot[n], r, s, 0.3) for n, r in (("ball", 0.1), ("stone", 0.3)) for s in (0, 2)], balls
    assert [info.name for info in model.inequality_info] == ["ball|floor", "ball|stone"]
    rows = [f"b[{i}]|floor" for i in range(1, 16)]  # a pinned node can not be pushed
    assert sorted(model.inequality_names) == sorted(["ball|floor", "ball|stone", *rows])
    friction = dict(zip(model.inequality_names, model.inequalities.friction.tolist()))
    assert friction["b[3]|floor"] == 0.4 and friction["ball|stone"] == 0.0


def rows_of(model) -> dict[str, tuple]:
    """Of each inequality: its kind, its point's place, its parameters and whole numbers, and what moves in them."""
    batches, found = model.inequalities.batches, {}
    last = [len(batches.idx), len(batches.p), len(batches.ints), len(model.inequality_names)]
    ends = [*batches.at[1:].tolist(), last]
    moving = dict((int(place), int(signal)) for signal, place in model.inequalities.to_parameter)
    for code, members, begin, end in zip(batches.code, batches.members, batches.at.tolist(), ends):
        for k in range(members):
            own = [range(a + k * (b - a) // members, a + (k + 1) * (b - a) // members) for a, b in zip(begin, end)]
            signals = tuple(model.signals.address[moving[i]] if i in moving else 0 for i in own[1])
            for row in own[3]:
                block = model.inequalities.rows.ptr[row]
                at = tuple(model.x[batches.idx[own[0][0]]])
                assert model.inequalities.rows.slot[block] == batches.idx[own[0][0]]
                found[model.inequality_names[row]] = (
                    int(code), at, tuple(batches.p[own[1]]), tuple(batches.ints[own[2]]), signals, row - own[3][0],
                )  # fmt: skip
    return found


def test_nodes_meet_obstacles_as_balls_of_their_size_do():
    """The rows that are made in bulk are those of single balls at the same places."""
    models = []
    for as_sheet in (True, False):
        scene = Scene()
        things = [
            scene.obstacle("half_space", point=(0, "-1 + 0.1*t", 0), normal=(0, 1, 0), name="floor"),
            scene.obstacle("outside_capsule", start=(0, -2, "t"), end=(1, -2, 0), radius=0.3, name="post"),
            scene.obstacle("inside_box", center=(0, 0, 0), half=(9, 9, 9), name="room"),
            scene.obstacle("limit", component="y", minimum=-5, maximum="5 + t", name="heights"),
        ]
        if as_sheet:
            touched = [lying(scene, "cloth", limit=None)]
        else:
            touched = [scene.particle(x, radius=0.01, name=f"cloth[{i}]") for i, x in enumerate(grid(4, 4).vertices)]
        scene.contacts(touched, things)
        models.append(taut.build(scene))
    found, expected = map(rows_of, models)
    assert len(found) == 16 * (1 + 1 + 6 + 2) and found.keys() == expected.keys(), f"{len(found)} rows"
    wrong = [name for name in found if found[name] != expected[name]]
    assert not wrong, f"{wrong[0]}: {found[wrong[0]]} instead of {expected[wrong[0]]}"
    assert [len(model.inequalities.J) for model in models] == [160, 160]


@pytest.mark.parametrize("first, second, options, words", [
    ("a", ["floor"], {"restitution": 0.5}, "restitution is 0.5, but 'a' takes part, and what touches cloth does not"),
    (["ball"], "a[3]", {}, "'a[3]' is a node of 'a', and alone it can touch obstacles only; name 'a'"),
    (["ball", "a"], None, {}, "contacts 'new': cloth 'a': its thickness is 0.4 m, but where it runs into itself"),
    ("thin", None, {}, "contacts 'new': cloth 'thin': self_contact needs a thickness, but it is 0"),
    (["dot"], "thin", {}, "neither 'dot' nor 'thin' has a thickness or a radius"),
    (["ball"], ["b", "b"], {}, "second names 'b' twice"),
    ("b", ["floor"], {}, "the pair of 'b' and 'floor' is in contacts 'old' already"),
    (["b[2]"], ["floor"], {}, "the pair of 'b[2]' and 'floor' is in contacts 'old' already"),
    (["ball"], "clot", {}, "unknown body or obstacle 'clot'"),
])  # fmt: skip
def test_mistaken_contacts_of_sheets_are_refused(first, second, options, words):
    scene = Scene()
    scene.cloth(grid=(3, 3), thickness=0.4, name="a")
    scene.cloth(grid=(3, 3), thickness=0.01, name="b")
    scene.cloth(grid=(3, 3), name="thin")
    scene.particle((0, 3, 0), radius=0.2, name="ball")
    scene.particle((0, 4, 0), name="dot")
    scene.contacts("b", [scene.obstacle("half_space", point=(0, -1, 0), normal=(0, 1, 0), name="floor")], name="old")
    with pytest.raises(TautError) as told:
        scene.contacts(first, second, name="new", **options)
    assert words in str(told.value), f"said: {told.value}"
    assert list(scene.groups) == ["old"]


@pytest.mark.parametrize("options, expected", [
    ({}, True), ({"limit": None}, False), ({"limit": None, "hard": "warp_weft"}, False),
    ({"limit": None, "thickness": 0.1, "self_contact": True}, True),
])  # fmt: skip
def test_limits_and_contacts_make_a_scene_unilateral(options, expected):
    scene = Scene()
    sheet = scene.cloth(grid=(3, 3), **options)
    assert (scene.is_unilateral, taut.build(scene).is_unilateral) == (expected, expected)
    scene.contacts([scene.particle((0, 1, 0), radius=0.1)], sheet)
    assert scene.is_unilateral and taut.build(scene).is_unilateral


# Methods and results

BASELINES = ["xpbd", "provot", "implicit_euler"]


def test_the_form_of_a_method_follows_from_the_scene():
    springs, limited, plain = Scene(), Scene(), taut.gallery("pendulum")
    springs.cloth(grid=(3, 3), limit=None)
    limited.cloth(grid=(3, 3))
    for name, method in METHODS.items():
        assert method_for(plain, name) is method
        assert method_for(springs, name) is (method.sheets or method)
        if method.sheets is None:
            with pytest.raises(TautError, match=f"method '{name}' .* limits or contacts; use .*xpbd, provot, impl"):
                method_for(limited, name)
        else:
            assert method_for(limited, name) is method.sheets
    assert all(METHODS[name].sheets == METHODS[name] for name in BASELINES)
    keys = [method.key for method in METHOD_LIST]
    assert len(set(keys)) == len(keys), f"{keys}"


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_refuse_what_they_do_not_know(name):
    joined = gallery("cloth_ball", n=4)
    joined.distance(joined.deformables["cloth"].node(1), (0, 0, -2))
    for scene, words in ((taut.gallery("pendulum"), "it has no cloth"), (joined, "constraints besides the hard edges"),
                         (gallery("cloth_fold", n=4), "may touch itself or other cloth")):  # fmt: skip
        with pytest.raises(TautError, match=words):
            taut.simulate(scene, method=name, progress=False)


@pytest.mark.parametrize("name", BASELINES)
def test_a_free_sheet_falls_as_one(name, simulate):
    """Nothing is stretched, so every node falls by g h² k (k + 1) / 2 in k steps of h."""
    scene = Scene()
    scene.cloth(grid=(5, 5), velocity=(1, 0, 0), stiffness=1)
    run = simulate(scene, name, 0.01, 0.2, **({"substeps": 1} if name != "implicit_euler" else {}))
    k = np.arange(21)
    fallen = run.records.x - run.records.x[0]
    error = np.abs(fallen[:, :, 1] + 9.81 * 1e-4 * (k * (k + 1) / 2)[:, None]).max()
    assert error < 1e-12, f"a node is off by {error:.3g} m"
    assert np.abs(fallen[:, :, 0] - 0.01 * k[:, None]).max() < 1e-12


def test_results_tell_the_elongation_and_files_keep_it(simulate, tmp_path):
    scene = Scene()
    scene.cloth(grid=(5, 5), stiffness=5, hard=None, limit=0.1, pins=[0, 4])
    scene.cloth(grid=(3, 3), origin=(3, 0, 0), hard="edges", limit=None, pins=[0], name="stiff")
    run = simulate(scene, "xpbd", 1 / 240, 0.5, record_every=10, substeps=10)
    found = np.array([run.data.elongation.values, run.data.mean_elongation.values])
    longer = []
    for name, n in (("cloth", 5), ("stiff", 3)):
        at = np.stack([run[f"{name}[{i}]"].position.values for i in range(n * n)], axis=1).reshape(-1, n, n, 3)
        for axis in (1, 2):
            longer.append(np.linalg.norm(np.diff(at, axis=axis), axis=3).reshape(len(at), -1) * (n - 1) - 1)
    # All edges of a mesh are hard, its diagonals too, but a structural edge is warp or weft.
    longer = np.concatenate(longer, axis=1)
    expected = np.array([longer.max(axis=1), np.maximum(longer, 0).mean(axis=1)])
    assert np.abs(found - expected).max() < 1e-14, f"off by {np.abs(found - expected).max():.3g}"
    assert 0.09 < found[0].max() < 0.12, f"the largest elongation is {found[0].max():.3g}"
    assert run.data.limited_edges.dims == ("time",)
    read = taut.open(run.save(tmp_path / "run"))
    assert np.array_equal(read.data.elongation, run.data.elongation)


def test_the_summary_of_a_run_tells_the_elongation_and_the_system_of_nodes(capsys):
    assert main(["run", "cloth_ball", "--set", "n=8", "--duration", "0.3"]) == 0
    out = capsys.readouterr().out
    run = taut.simulate(gallery("cloth_ball", n=8), duration=0.3, progress=False)
    most = float(run.data.elongation.max())
    assert f"{100 * most:.4g} % at most" in out and f"{3 * (64 - 4)} rows" in out, out


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


# Gallery


@pytest.mark.parametrize("name", CLOTHS)
def test_a_gallery_scene_builds_at_any_resolution_and_steps(name, simulate):
    scene, dt = gallery(name, n=6), 1 / 960
    assert scene.suggested["dt"] == 1 / 240
    model = taut.build(gallery(name, n=40) if name != "jelly_block" else scene)
    assert np.isfinite(model.x).all()
    model = taut.build(scene)
    method = next(METHODS[name] for name in (scene.suggested["method"], "xpbd") if METHODS[name].sheets)
    if method.sheets.refuses(model):
        pytest.skip(f"{method.name} knows no contacts")
    run = simulate(scene, method.name, dt, 40 * dt)
    stretch = float(run.data.elongation[-1])
    assert stretch < 0.1, f"after 40 steps an edge is {stretch:.3g} longer"
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
