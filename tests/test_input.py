"""What files and calls may ask for: bounds, places, and messages with the argument's name and value."""

from __future__ import annotations

import copy
import inspect
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from fuzzing.files import DOCUMENTS, MESHES, _spots

import taut
from taut import limits
from taut.cli import main
from taut.errors import TautError, shown
from taut.geometry import meshio_files as foreign
from taut.geometry import read_mesh, read_solid
from taut.scene.gallery import SCENES

HUGE = 10**400


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "scene.yaml").write_text(text)
    return tmp_path / "scene.yaml"


# Bounds


@pytest.mark.parametrize("name", limits.LIMITS)
def test_every_bound_tells_the_number_the_bound_and_how_to_raise_it(name, monkeypatch):
    monkeypatch.setenv(limits.variable(name), "7")
    limits.check(name, 7, "it")
    with pytest.raises(TautError, match=f"8 {limits.LIMITS[name].unit}; at most 7 .*{limits.variable(name)}"):
        limits.check(name, 8, "it")
    monkeypatch.setenv(limits.variable(name), "many")
    with pytest.raises(TautError, match=f"{limits.variable(name)} is 'many'"):
        limits.most(name)


def test_the_manual_lists_the_bounds():
    text = (Path(__file__).parents[1] / "docs" / "scenes.md").read_text()
    assert f"<!-- limits -->\n{limits.table()}\n<!-- /limits -->" in text, "print it anew with taut.limits.table()"


@pytest.mark.parametrize("name, ask", [
    ("nodes", lambda s: s.cloth(grid=(10**18, 3))), ("nodes", lambda s: s.solid(box=(3, 2, 2))),
    ("nodes", lambda s: taut.gallery("chain", n=20)), ("nodes", lambda s: s.cloth(grid=(3, 3))),
    ("rows", lambda s: s.custom(s.particle((0, 0, 0)), function=lambda q, t: q[:, 0], rows=10**12)),
    ("steps", lambda s: taut.simulate(s, dt=0.01, duration=1.0)),
    ("formula_size", lambda s: s.particle(path=("*".join(f"sin({k}*t)" for k in range(1, 60)), 0, 0))),
    ("formula_size", lambda s: s.particle(path=("tan(" * 40 + "t" + ")" * 40, 0, 0))),
    ("formula_size", lambda s: s.particle(path=("**".join(["t"] * 30), 0, 0))),
])  # fmt: skip
def test_what_is_made_by_a_number_is_bounded(name, ask, monkeypatch):
    monkeypatch.setenv(limits.variable(name), "8")
    with pytest.raises(TautError, match=limits.variable(name)):
        ask(taut.Scene())


def test_a_scene_file_is_bounded_in_size(tmp_path, monkeypatch):
    path = written(tmp_path, "taut: 1\n" + "# a long comment\n" * 20)
    taut.load(path)
    monkeypatch.setenv("TAUT_MAX_SCENE_BYTES", "100")
    with pytest.raises(TautError, match="348 bytes; at most 100"):
        taut.load(path)


def test_an_array_file_is_bounded_before_it_is_unpacked(tmp_path, monkeypatch):
    path = written(tmp_path, "taut: 1\narrays: a.npz\nbodies: [{kind: particle, many: {position: 'array:p'}}]\n")
    np.savez_compressed(tmp_path / "a.npz", p=np.zeros((1000, 3)))
    assert len(taut.load(path).bodies) == 1000
    monkeypatch.setenv("TAUT_MAX_ARRAY_BYTES", "20000")
    with pytest.raises(TautError, match="24,128 bytes; at most 20,000"):
        taut.load(path)


@pytest.mark.parametrize("shape", ["(10**18, 3)", "(999999999999, 3)", "(-1, 3)"])
def test_an_array_that_promises_more_than_it_holds_is_refused(tmp_path, shape):
    path = written(tmp_path, "taut: 1\narrays: a.npz\nbodies: [{kind: particle, many: {position: 'array:p'}}]\n")
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as file:
        file.writestr("p.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(24))
    with pytest.raises(TautError, match="is not an array file"):
        taut.load(path)


@pytest.mark.parametrize("text, says", [
    ("x0: &x0 [1, 2]\n" + "".join(f"x{i}: &x{i} [{', '.join([f'*x{i - 1}'] * 9)}]\n" for i in range(1, 12))
     + "taut: 1\ntaut: *x11\n", "TAUT_MAX_SCENE_VALUES"),
    ("taut: 1\nbodies: " + "[" * 100_000, "TAUT_MAX_SCENE_DEPTH"),
    ("taut: 1\nbodies:\n  " + "- " * 10_000, "TAUT_MAX_SCENE_DEPTH"),
    ("taut: 1\nbodies: &a [[*a]]\n", "line 2: an anchor contains itself"),
    ("taut: 1\n? [a, b]\n: 3\n", "a key is"),
    ("taut: 1\nsuggested: {dt: 0.1, foo: [1, 2]}\n", "suggested foo is [1, 2]; give a number"),
    (f"taut: 1\nsuggested: {{dt: 0.1, foo: {HUGE}}}\n", "suggested foo is (a whole number of 1,329 bits)"),
    ("taut: 1\nsuggested: {dt: 0.1, <<: {a: 1}, 3: 4}\n", None),
    ("%YAML 1.9\n---\ntaut: 1\n", "this is not YAML"),
    (f"taut: 1\ndeformables: [{{kind: cloth, grid: [{10**18}, {10**18}]}}]\n", "TAUT_MAX_NODES"),
    ("taut: 1\nbodies: [{kind: particle, position: [0, 0, 0x" + "f" * 5000 + "]}]\n", "a whole number of 20,000 bits"),
])  # fmt: skip
def test_short_files_that_stand_for_much_get_one_message(tmp_path, text, says):
    path = written(tmp_path, text)
    if says is None:
        taut.load(path)
        return
    with pytest.raises(TautError) as caught:
        taut.load(path)
    assert says in str(caught.value) and len(str(caught.value)) < 2000, str(caught.value)


@pytest.mark.parametrize("document", range(len(DOCUMENTS)))
def test_a_number_too_large_for_a_float_is_told_wherever_it_stands(tmp_path, document):
    for name, data in MESHES.items():
        (tmp_path / name).write_bytes(data)
    spots = _spots(DOCUMENTS[document])
    numbers = [i for i, (held, key) in enumerate(spots) if isinstance(held[key], float | int) and held[key] is not True]
    for i in numbers:
        changed = copy.deepcopy(DOCUMENTS[document])
        held, key = _spots(changed)[i]
        held[key] = HUGE
        with pytest.raises(TautError, match=r"1,329 bits|version|has more than 200,000 nodes"):
            taut.load(written(tmp_path, json.dumps(changed)))


# Meshes


@pytest.mark.parametrize("name, data, says", [
    ("a.obj", b"v 0 0 0\nv 1 0\nv 0 1 0\nf 1 2 3\n", "vertex 1 has 2 numbers"),
    ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf\n", "face 0 has 0 corners"),
    ("a.obj", b"f 1 2 3\n", "it has no vertices"),
    ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999999999999999\n", "which no mesh has"),
    ("a.ply", MESHES["a.ply"].replace(b"vertex 4", b"vertex 999999999999999999"), "999999999999999999 of 'vertex'"),
    ("a.ply", MESHES["a.ply"].replace(b"element face", b"element nothing 999999999999\nelement face"), "of 'nothing'"),
    ("a.ply", MESHES["a.ply"].replace(b"4 0 1 2 3", b"1e18 0 1 2 3"), "a list of 'face' has the length"),
    ("a.ply", MESHES["a.ply"].replace(b"4 0 1 2 3", b"0"), "face 0 has 0 corners"),
    ("a.off", b"OFF\n", "could not be read"), ("a.off", b"OFF\n99999999999 1 0\n", "99999999999 vertices"),
    ("a.off", MESHES["a.off"].replace(b"3 0 1 2", b"3 0 1 99999999999999999999999"), "which no mesh has"),
    ("a.xyz", b"", "its format is not known"),
])  # fmt: skip
def test_a_damaged_mesh_is_told(tmp_path, name, data, says):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(TautError) as caught:
        read_mesh(tmp_path / name)
    assert says in str(caught.value) and name in str(caught.value), str(caught.value)


def test_an_off_file_is_read(tmp_path):
    (tmp_path / "a.off").write_bytes(MESHES["a.off"])
    found = read_mesh(tmp_path / "a.off")
    assert found.triangles.tolist() == [[0, 1, 2]] and found.vertices[1].tolist() == [1, 0, 0]


def test_foreign_formats_are_read_within_bounds(tmp_path, monkeypatch):
    pytest.importorskip("meshio", reason="meshio (extra 'mesh') reads .vtk and .mesh")
    (tmp_path / "a.vtk").write_bytes(MESHES["a.vtk"])
    assert read_solid(tmp_path / "a.vtk").tetrahedra.shape == (1, 4)
    monkeypatch.setattr(foreign, "_SECONDS", 2)
    (tmp_path / "b.mesh").write_text("MeshVersionFormatted 2\nDimension 3\nRequiredVertices\n99999999999999\n")
    with pytest.raises(TautError, match="could not be read as a mesh: it takes more than"):
        read_solid(tmp_path / "b.mesh")


# Places


CLOTH = "taut: 1\ndeformables: [{kind: cloth, mesh: '%s'}]\n"


def test_files_that_a_scene_names_stay_in_its_folder_unless_allowed(tmp_path, capsys):
    (home := tmp_path / "home").mkdir()
    (home / "in").mkdir()
    for place in (tmp_path, home / "in"):
        (place / "a.obj").write_bytes(MESHES["a.obj"])
    (home / "link.obj").symlink_to(tmp_path / "a.obj")
    (home / "near.obj").symlink_to(home / "in" / "a.obj")
    for name in ("in/a.obj", "in/../in/a.obj", str(home / "in" / "a.obj"), "near.obj"):
        assert len(taut.load(written(home, CLOTH % name)).bodies) == 4, name
    for name in ("../a.obj", str(tmp_path / "a.obj"), "link.obj", "in/../../a.obj"):
        path = written(home, CLOTH % name)
        with pytest.raises(TautError, match="outside of the scene's folder.*allow_outside=True"):
            taut.load(path)
        with pytest.raises(TautError, match="outside of the scene's folder"):
            taut.open_scene(str(path))
        assert len(taut.load(path, allow_outside=True).bodies) == 4
    assert main(["run", str(path), "--dt", "0.01", "--duration", "0.01"]) == 2
    assert "--allow-outside" in capsys.readouterr().err
    arrays = written(home, "taut: 1\narrays: ../a.npz\nbodies: [{kind: particle, many: {position: 'array:p'}}]\n")
    np.savez(tmp_path / "a.npz", p=np.zeros((1, 3)))
    with pytest.raises(TautError, match="outside of the scene's folder"):
        taut.load(arrays)
    assert len(taut.load(arrays, allow_outside=True).bodies) == 1


@pytest.mark.parametrize("command", ["run", "compare", "explain"])
def test_commands_with_a_scene_allow_outside(command, capsys):
    assert main([command, "--help"]) == 0
    assert "--allow-outside" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["a device or a pipe", "a folder"])
@pytest.mark.parametrize("name", ["a.obj", "a.ply", "a.off", "a.vtk", "a.npz", "a.yaml", "a.py"])
def test_only_files_are_opened(tmp_path, kind, name):
    os.mkfifo(tmp_path / name) if kind != "a folder" else (tmp_path / name).mkdir()  # opening a pipe would wait
    path = tmp_path / name
    if name.endswith((".yaml", ".py")):
        ask = lambda: taut.open_scene(str(path))  # noqa: E731
    elif name == "a.npz":
        text = "taut: 1\narrays: a.npz\nbodies: [{kind: particle, many: {position: 'array:p'}}]\n"
        ask = lambda: taut.load(written(tmp_path, text))  # noqa: E731
    else:
        ask = lambda: taut.load(written(tmp_path, CLOTH % name))  # noqa: E731
    with pytest.raises(TautError, match=f"is {kind}; give a file"):
        ask()


def test_devices_are_not_opened(tmp_path):
    with pytest.raises(TautError, match="/dev/zero' is a device"):
        taut.load(written(tmp_path, CLOTH % "/dev/zero"), allow_outside=True)


# Calls


ODD = [{}, {"a": 1}, [], np.zeros(3), np.array(1.0), 1e200, (1e200, 1e200, 1e200), HUGE, float("nan"), "", "a\nb",
    b"b", 1j,
       object(), {1, 2}, None, lambda t: 1 / 0, [[]], np.array([{}], object), Path("a"), type, "\ud800"]  # fmt: skip
VERBS = [name for name in dir(taut.Scene) if not name.startswith("_") and callable(getattr(taut.Scene, name))]


@pytest.mark.parametrize("verb", [name for name in VERBS if name not in ("build", "set_place")])
def test_every_call_of_a_scene_answers_odd_arguments_with_a_taut_error(verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [name for name, p in inspect.signature(getattr(taut.Scene, verb)).parameters.items()
             if name != "self" and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]  # fmt: skip
    for name in names:
        for value in ODD:
            scene = taut.Scene()
            points = [scene.particle((i, i * i, 0)) for i in range(4)]
            usual = dict(zip(("a", "b", "c", "d"), points))
            try:
                getattr(scene, verb)(**{key: point for key, point in usual.items() if key in names} | {name: value})
            except TautError as mistake:
                assert str(mistake).strip() and len(str(mistake)) < 2000


@pytest.mark.parametrize("call, says", [
    (lambda s: s.particle((0, 0, 0), name={"a": 1}), "name is {'a': 1}"),
    (lambda s: s.particle(3.0), "position is 3.0; give three numbers"),
    (lambda s: s.particle((0, 0, 0), radius=HUGE), "radius is (a whole number of 1,329 bits), too large"),
    (lambda s: s.particle((0, 0, 0), fixed=np.array(1)), "fixed is 1"),
    (lambda s: s.particle((0, 0, 0), mas=2), "unknown argument of particle 'mas'. Did you mean 'mass'?"),
    (lambda s: s.contacts(), "missing a required argument: 'first'"),
    (lambda s: s.on_plane(s.particle((0, 0, 0)), normal=(1e200, 1e200, 0), point=(1e200, 0, 0)), "on_plane"),
    (lambda s: s.obstacle([], point=(0, 0, 0)), "kind is []; give text"),
    (lambda s: s.reduced(7, {}), "the coordinates of scene.reduced are 7; give name"),
    (lambda s: s.save({}), "path is {}; give a path"),
    (lambda s: s.save("a\0b.yaml"), "which can not be the name of a file"),
    (lambda s: taut.simulate({}, dt=0.1, duration=1), "scene is {}; give a taut.Scene"),
    (lambda s: taut.simulate(s, method=[], dt=0.1, duration=1), "method is []; give text"),
    (lambda s: taut.simulate(s, dt=HUGE, duration=1), "dt is (a whole number of 1,329 bits)"),
    (lambda s: taut.simulate(s, dt=0.1, duration=1, record_every=0.5), "record_every is 0.5; give a whole number"),
    (lambda s: taut.simulate(s, dt=0.1, duration=1, repair="yes"), "repair is 'yes'; give True or False"),
    (lambda s: taut.build(3), "scene is 3"), (lambda s: taut.open([]), "path is []; give a path"),
    (lambda s: taut.load(np.zeros(2)), "path is [0.0, 0.0]; give a path"), (lambda s: taut.load(), "missing"),
    (lambda s: taut.gallery([]), "name is []; give text"), (lambda s: taut.open_scene(3), "what is 3; give a path"),
    (lambda s: taut.compare(s, methods=[{}]), "unknown method {}"), (lambda s: taut.resume(None), "path is None"),
    (lambda s: taut.Scene(name=[]), "name is []"), (lambda s: taut.Scene(garvity=1), "Did you mean 'gravity'"),
    (lambda s: s.cloth(grid=(3, 3)).corner([], 0), "u is []; give a whole number"),
])  # fmt: skip
def test_a_message_has_the_argument_s_name_and_value(call, says):
    with pytest.raises(TautError) as caught:
        call(taut.Scene())
    assert says in str(caught.value), str(caught.value)


@pytest.mark.parametrize("name", SCENES)
def test_parameters_of_the_gallery_are_judged(name):
    for parameter in inspect.signature(SCENES[name].function).parameters:
        for value in ODD:
            try:
                taut.gallery(name, **{parameter: value})
            except TautError as mistake:
                assert str(mistake).strip()


@pytest.mark.parametrize("value", ODD)
def test_any_value_can_be_shown(value):
    assert len(shown(value)) < 500
    shown(value).encode()


# Shapes in contacts


@pytest.mark.parametrize("shape", [{"box": (1, 1, 1)}, {"cylinder": (1, 2)}, {"capsule": (1, 2)}, {"rod": 2}])
@pytest.mark.parametrize("motion", [{}, {"fixed": True}, {"path": (0, "t", 0)}])
def test_a_shape_that_does_not_collide_yet_is_refused_in_contacts(shape, motion, tmp_path):
    def made(**more):
        scene = taut.Scene()
        at = {} if "path" in motion else {"position": (0, 0, 0)}
        body = scene.rigid(**at, mass=1, shape=shape, name="thing", **motion, **more)
        return scene, body, scene.particle((0, 3, 0), radius=0.1, name="ball")

    scene, body, ball = made()
    cloth = scene.cloth(grid=(3, 3), thickness=0.01)
    floor = scene.obstacle("half_space", point=(0, -5, 0), normal=(0, 1, 0))
    for first, second in (([ball, body], None), ([ball], [body]), ([body], [ball]), ([body], [floor]),
        ([body], [cloth])):
        with pytest.raises(TautError, match="'thing' has the shape of a .*scene.obstacle"):
            scene.contacts(first, second)
    again = taut.load(scene.save(tmp_path / "a.yaml"))
    assert again == scene
    with pytest.raises(TautError, match="'thing' has the shape of a"):
        again.contacts(["ball"], ["thing"])
    scene.half_space(body.at((0.5, -0.5, 0.5)), point=(0, -5, 0), normal=(0, 1, 0))  # a place is meant as a point
    scene, body, ball = made(radius=0.2)  # and a radius as a ball
    scene.contacts([ball], [body])


def test_spheres_and_bodies_without_a_shape_touch():
    scene = taut.Scene()
    ball = scene.rigid((0, 0, 0), mass=1, shape={"sphere": 0.1})
    point = scene.rigid((1, 0, 0), mass=1, inertia=(1, 1, 1))
    scene.contacts([ball], [point])


# Other words of the field


@pytest.mark.parametrize("word, name", [
    ("revolute", "hinge"), ("RevoluteJoint", "hinge"), ("add_pin_joint", "hinge"), ("spherical", "ball"),
    ("prismatic", "slider"), ("fixed_joint", "weld"), ("cardan", "universal"), ("hooke", "universal"),
    ("rod", "distance"), ("motor_torque", "motor"), ("bushing", "springs"), ("floor", "half_space"),
    ("rigid_body", "rigid"),
])  # fmt: skip
def test_the_fields_other_words_lead_to_the_kind(word, name):
    with pytest.raises(AttributeError, match=f"a scene has no '{word}'; here it is called '{name}'"):
        getattr(taut.Scene(), word)


def test_no_word_means_two_kinds():
    from taut.scene.synonyms import plain, synonyms

    taken = {plain(name): name for name in synonyms()}
    for name, words in synonyms().items():
        for word in words:
            other = taken.setdefault(plain(word), name)
            assert other == name, f"'{word}' is '{other}' and '{name}'"


def test_a_scene_file_and_the_list_know_the_fields_other_words(tmp_path):
    from taut.cli.listing import SUBJECTS

    path = tmp_path / "a.yaml"
    path.write_text("taut: 1\nname: a\nbodies:\n- {kind: particle, name: p, position: [0, 0, 0]}\n"
                    "constraints:\n- {kind: spherical, points: [p, [0, 0, 0]]}\n"
                    "- {kind: damper, points: [p, [0, 0, 0]]}\n")
    with pytest.raises(taut.TautError) as told:
        taut.load(path)
    assert "unknown kind 'spherical'; here it is 'ball'." in str(told.value), told.value
    assert "unknown kind 'damper'; here it is 'spring', under forces:." in str(told.value), told
    header, rows = SUBJECTS["constraints"]()
    hinge = next(row for row in rows if row[0] == "hinge")
    assert header[-1] == "also called" and hinge[-1].startswith("revolute, pin"), hinge
