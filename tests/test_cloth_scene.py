"""Cloth and solids in scenes: what they are made of, the forces of their springs, and their pins."""

from __future__ import annotations

import inspect
import json

import numpy as np
from words_cloth import CORNER, OBJ, mixed

import taut
from taut.compiled import entry
from taut.forces.spring_law import joined, spring_energy
from taut.geometry import grid
from taut.model.evaluate import free_accelerations, set_time
from taut.scene import Scene, schema
from taut.scene.materials import OPTIONS
from taut.scene.places import places


@entry
def evaluate(system, x, quat, v):
    return free_accelerations(system, 0.0, x, quat, v)


def forces_at(model, x: np.ndarray, v: np.ndarray | None = None) -> tuple[float, np.ndarray]:
    """Potential energy of all forces but gravity, and all forces, at places x."""
    system = model.system()
    energy = evaluate(system, x.copy(), model.quat.copy(), np.zeros_like(x) if v is None else v)
    return float(energy), system.work.f.copy()


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
    assert [sheet.name for sheet in model.deformables] == list(scene.deformables)
    slot_of = {info.name: info.slot for info in model.body_info}
    for sheet, record in zip(model.deformables, scene.deformables.values()):
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


def test_a_grid_scene_is_the_mesh_of_the_same_grid():
    """Vertices and masses of a scene's grid are those of taut.geometry.grid."""
    mesh = grid(5, 4, (2, 3), (1, 1, 1))
    scene = Scene()
    scene.cloth(grid=(5, 4), size=(2, 3), origin=(1, 1, 1), density=0.7)
    found = np.array([body.position for body in scene.bodies.values()])
    masses = np.array([body.mass for body in scene.bodies.values()])
    assert np.array_equal(found, mesh.vertices) and np.array_equal(masses, mesh.masses(0.7))


# Forces


def test_springs_are_at_rest_at_the_start(tmp_path):
    model = taut.build(replace_wind(mixed(tmp_path)))
    energy, force = forces_at(model, model.x)
    # The jelly's moved node pulls at its neighbours; all others carry their weight and nothing else.
    others = np.concatenate([sheet.slots for sheet in model.deformables if sheet.name != "jelly"])
    rest = np.abs(force - model.bodies.constant)[others].max()
    assert rest < 1e-12, f"a node is pulled with {rest:.3g} N"
    assert energy > 1.0, f"the moved node stores only {energy:.3g} J"


def replace_wind(scene: Scene) -> Scene:
    """The scene without its wind."""
    for name in [name for name, force in scene._forces.items() if force.kind == "wind"]:
        del scene._forces[name]
    return scene


def test_forces_of_a_scene_are_those_of_the_sheets_springs(tmp_path):
    """Model.forces and Model.deformables hold the same springs: energies and forces agree in any state."""
    model = taut.build(replace_wind(mixed(tmp_path)))
    random = np.random.default_rng(3)
    x = model.x + 0.1 * random.standard_normal(model.x.shape)
    v = random.standard_normal(x.shape)
    energy, force = forces_at(model, x, v.copy())
    expected = model.bodies.constant.copy()
    springs = joined(*(s for sheet in model.deformables for s in sheet.springs.values()))
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
    carried = -force[model.deformables[0].slots[20:], 1].sum()
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


@entry
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
    system, slots = model.system(), model.deformables[0].slots[[0, 6, 7]]

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
