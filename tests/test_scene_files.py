"""Scene files: they keep a scene to the last bit, and mistakes in them are told with their place."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from words_scene import NAN, contents, three

from taut.analysis.bench.load import net
from taut.constraints import KINDS as CONSTRAINTS
from taut.errors import TautError
from taut.expressions import Signal
from taut.forces import KINDS as FORCES
from taut.scene import Scene, load, load_python, open_scene, parse_parameters, schema
from taut.scene.groups import expand, obstacle_kinds


def everything() -> Scene:
    """One of each thing that a file can hold, with numbers that are hard to keep."""
    scene = Scene(gravity=(0.1, -9.81, 1 / 3), name="every: thing")
    a = scene.particle((0, 0, 0), fixed=True, name="anchor")
    b = scene.particle((1 / 3, 0.1, -0.0), mass=5e-324, velocity=(1e-300, -0.0, 1.7e308), name="yes")
    c = scene.particle((3, 1e-5, 1e22), name="1e3")
    frames = {"times": [0, 1, 3], "values": [0, 1, 1 / 3]}
    road = scene.particle(path=("0.1*sin(10*t)", 0, frames), name="road")
    box = scene.rigid((1, 2, 3), shape={"box": (1, 2, 3)}, density=7.0, orientation=((1, 2, 3), 0.7),
                      velocity=(1, 2, 3), angular_velocity=(0.1, 0.2, 0.3), name="box")
    tilted = scene.rigid((0, 0, 5), mass=2, inertia=((2, 0.1, 0), (0.1, 2, 0.3), (0, 0.3, 3)))
    door = scene.rigid((0, 0, 9), rotation=("y", "2*t"), orientation=("x", 0.3), name="door")
    s = scene.coordinate(0.3, inertia=0.01, rate=-1e-17, name="s")
    wheel = scene.coordinate(path="t**2", name="wheel")
    scene.distance(a, b, length="2 +  sin(t)", name="null")
    scene.distance(a, c)
    scene.ball(box.at((0.5, 0, 0)), tilted.at((0.1, 0.2, 0.3)))
    scene.ball(door, (0, 0, 9))
    scene.on_plane(c, point=(0, "t", 0), normal=(0, 1, 0))
    scene.on_curve(b, s, curve=("cos(s)", 0, "s + t"))
    scene.linear(s, wheel, coefficients=(1, -1 / 3))
    scene.custom(b, c, formula=("yes.x - p1.x", "yes.y*t"), name="own")
    scene.planar(box)
    scene.distance(a, c, length=1e30, sense="<=", restitution=1 / 3, friction=0.1)
    scene.distance(b, c, sense="<=", restitution=1 / 3, friction=0.1)
    scene.distance(b, road, sense=">=")
    scene.custom(b, formula="yes.x", sense=">=", name="above")
    scene.limit(s, minimum="0.1*t", maximum=7, restitution=0.5)
    scene.limit(box.at((0, 0.1, 0)), component="y", minimum=-3)
    scene.outside_box(c, center=(0, "t", 0), half=(1, 2, 1 / 3), orientation=("x", 0.3), ball=0.2, friction=0.7)
    scene.inside_capsule(a, start=(0, 0, 0), end=("1 + t", 0, 0), radius=4)
    balls = [scene.particle((i, 5, 1 / 3), radius=0.1 + 0.1 * i) for i in range(3)]
    marble = scene.rigid((0, 9, 0), shape={"sphere": 1 / 3}, density=2000, name="marble")
    hoop = scene.rigid((0, 9, 9), mass=1, inertia=(1, 1, 1), radius=0.2, name="hoop")
    floor = scene.obstacle("half_space", point=(0, "-1 - t", 0), normal=(0, 1, 0), name="floor")
    pole = scene.obstacle("outside_cylinder", point=(9, 0, 0), direction=(0, 1, 1 / 3), radius=0.1)
    scene.contacts(balls, restitution=0.9, name="balls")
    scene.contacts([*balls, marble], [hoop, floor, pole], friction=1 / 3)
    scene.spring(a, c, stiffness=1e4)
    scene.drag(coefficient=0.1)
    scene.torque(box, value=(0, "sin(t)", 0))
    scene.force(road, value=(0, 0, 1))
    scene.reduced({"q": (0.1, 0.2), "r": 1}, {"yes": ("q", "r*sin(q)", 0)})
    scene.suggest(dt=0.1, duration=3, method="rattle", tolerance=1e-9, rounds=3, quiet=True)
    return scene


@pytest.mark.parametrize("arrays", ["auto", True])
def test_a_file_keeps_a_scene_to_the_last_bit(tmp_path, arrays):
    scene = everything()
    path = scene.save(tmp_path / "scene.yaml", arrays=arrays)
    back = load(path)
    assert contents(back) == contents(scene)
    assert back == scene
    assert path.with_suffix(".npz").exists() == (arrays is True)
    assert back.bodies["box"].where.startswith(f"{path}:"), back.bodies["box"].where


def test_twenty_thousand_constraints_are_kept_in_arrays(tmp_path):
    """How long that takes is told by `taut bench load`."""
    scene = net(20_000)
    assert len(scene.constraints) == 20_000
    path = scene.save(tmp_path / "net.yaml")
    assert contents(load(path)) == contents(scene)
    assert path.stat().st_size < 2000, f"{path.stat().st_size} bytes of YAML: the arrays were not used"
    assert path.with_suffix(".npz").exists()


def test_tables_may_be_written_by_hand(tmp_path):
    np.savez(tmp_path / "net.npz", p=np.eye(3), edges=np.array([[0, 1], [1, 2]]), l=np.array([2.0, NAN]))
    (tmp_path / "net.yaml").write_text("""taut: 1
arrays: net.npz
bodies: [{kind: particle, many: {prefix: node, position: "array:p", mass: 1e-3}}]
constraints: [{kind: distance, many: {points: "array:edges", length: "array:l"}}]
""")
    scene = load(tmp_path / "net.yaml")
    assert list(scene.bodies) == ["node_0", "node_1", "node_2"]
    assert scene.bodies["node_2"].mass == 1e-3
    lengths = [constraint.arguments["length"] for constraint in scene.constraints.values()]
    assert lengths == [Signal(2.0), None], "NaN must leave the length to taut"


@pytest.mark.parametrize("table, words", [
    ('{position: "array:q"}', "unknown array 'q'. Known: p."),
    ('{position: "array:p", mass: "array:p"}', "its array has the shape (3, 3); it must be (3,)"),
    ('{mass: 1}', "have no position"),
    ('{position: "array:p", path: [0, 0, 0]}', "unknown key 'path'"),
])  # fmt: skip
def test_mistaken_tables_are_refused(tmp_path, table, words):
    np.savez(tmp_path / "a.npz", p=np.eye(3))
    (tmp_path / "a.yaml").write_text(f"taut: 1\narrays: a.npz\nbodies: [{{kind: particle, many: {table}}}]\n")
    with pytest.raises(TautError) as told:
        load(tmp_path / "a.yaml")
    assert words in str(told.value), f"said: {told.value}"


MISTAKEN = """taut: 1
gravity: [0, -9.81]
bodies:
  - {kind: particle, name: a, position: [0, 0, 0], fixed: true}
  - {kind: partcle, name: b, position: [0, 0, 0]}
  - kind: particle
    postion: [0, 1, 2]
    mass: -1e-3
constraints:
  - {kind: distance, points: [a, c], length: sin(q)}
  - {kind: distance, length: 1}
  - {kind: custom, points: [a], function: foo}
  - {kind: distance, points: [a, c], sense: "=>"}
obstacles:
  - {kind: floor, point: [0, 0, 0]}
  - {kind: half_space, point: [0, 0, 0]}
contacts:
  - {frist: [a], restitution: 3}
suggested: {dt: 0}
"""


def test_all_mistakes_of_a_file_are_told_with_line_and_column(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(MISTAKEN)
    with pytest.raises(TautError) as told:
        load(path)
    for place, words in (
        ("2:10: gravity", "has 2 entries"),
        ("5:12: bodies[1].kind", "Did you mean 'particle'"),
        ("7:5: bodies[2].postion", "Did you mean 'position'"),
        ("8:11: bodies[2].mass", "value is -0.001"),
        ("10:46: constraints[0].length", "unknown symbol 'q'"),
        ("11:5: constraints[1]", "missing key 'points'"),
        ("12:33: constraints[2].function", "which no file holds"),
        ("13:45: constraints[3].sense", "choose '==', '>=' or '<='"),
        ("15:12: obstacles[0].kind", "unknown kind 'floor'"),
        ("16:5: obstacles[1]", "missing key 'normal'"),
        ("18:6: contacts[0].frist", "Did you mean 'first'"),
        ("18:31: contacts[0].restitution", "it must lie between 0 and 1"),
        ("18:5: contacts[0]", "missing key 'first'"),
        ("19:17: suggested.dt", "value is 0"),
    ):
        line = next((x for x in str(told.value).splitlines() if f"{path}:{place}" in x), None)
        assert line is not None and words in line, f"{place} not told well in:\n{told.value}"
    assert "14 mistakes" in str(told.value), told.value


@pytest.mark.parametrize("text, words", [
    ("", "is empty"),
    ("- 1\n- 2\n", "holds a list"),
    ("just words", "holds a single value"),
    ("a: [1,\nb", "2:2: this is not YAML"),
    ("taut: 1\ntaut: 1\n", "2:1: this is not YAML: found duplicate key"),
    ("name: x\n", "missing key 'taut'; begin with 'taut: 1'"),
    ("taut: 2\n", "1:7: taut: value is 2; this taut reads the format 1"),
    ("taut: 1\nbodies: 3\n", "2:9: bodies: value is 3; give a list"),
    ("taut: 1\nbodies: &a [*a]\n", "line 2: an anchor contains itself"),
    ("taut: 1\nconstraints:\n  - {kind: distance, points: [x, y]}\n",
     "3:5: constraints[0]: distance 'distance_0': unknown body 'x'"),
    ("taut: 1\ncontacts:\n  - {first: [x]}\n", "3:5: contacts[0]: contacts 'contacts_0': unknown body or obstacle 'x'"),
    ("taut: 1\nobstacles:\n  - {kind: half_space, point: [0, 0, 0], normal: [0, 0, 0]}\n",
     "3:5: obstacles[0]: obstacle 'half_space_0': its normal has no direction"),
    ("taut: 1\nbodies: [{kind: particle, many: {position: 'array:p'}}]\n", "missing key arrays"),
    ("taut: 1\narrays: no.npz\nbodies: [{kind: particle, many: {position: 'array:p'}}]\n", "no array file"),
])  # fmt: skip
def test_what_is_not_a_scene_file_gets_one_message(tmp_path, text, words):
    path = tmp_path / "scene.yaml"
    path.write_text(text)
    with pytest.raises(TautError) as told:
        load(path)
    assert words in str(told.value), f"said: {told.value}"


def test_saving_never_leaves_half_a_file(tmp_path, monkeypatch):
    scene = everything()
    path = scene.save(tmp_path / "scene.yaml")
    before = path.read_bytes()
    with pytest.raises(TautError, match="exists; choose another name or pass overwrite=True"):
        scene.save(path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TautError, match="can not be written: No space left"):
        scene.save(path, arrays=True, overwrite=True)
    assert os.listdir(tmp_path) == ["scene.yaml"], os.listdir(tmp_path)
    assert path.read_bytes() == before


def test_the_contacts_of_the_manual_load(tmp_path):
    manual = (Path(__file__).parent.parent / "docs" / "scenes.md").read_text()
    blocks = re.findall(r"```yaml\n(.*?)```", manual, re.S)
    (text,) = (block for block in blocks if "bodies:" in block and "contacts:" in block)
    (tmp_path / "balls.yaml").write_text("taut: 1\n" + text)
    scene = load(tmp_path / "balls.yaml")
    names = [pair.name for group in scene.groups.values() for pair in expand(scene, group)]
    assert names == ["ball_0|ball_1", "ball_0|floor", "ball_1|floor"], names


def test_python_functions_are_not_written(tmp_path):
    scene, (_, b, _) = three()
    scene.custom(b, function=lambda q, t: q[0, 0], name="own")
    with pytest.raises(TautError, match="custom 'own': a Python function can not be written"):
        scene.save(tmp_path / "scene.yaml")
    assert not os.listdir(tmp_path)


def test_the_schema_lists_every_kind_and_is_json():
    found = json.loads(json.dumps(schema()))
    for section, kinds in (("constraints", CONSTRAINTS), ("forces", FORCES)):
        parts = found["properties"][section]["items"]["anyOf"]
        assert {part["properties"]["kind"]["const"] for part in parts} == set(kinds)
    things = found["properties"]["obstacles"]["items"]["anyOf"]
    assert {thing["properties"]["kind"]["const"] for thing in things} == set(obstacle_kinds())
    assert set(found["properties"]["contacts"]["items"]["properties"]) == \
        {"name", "first", "second", "restitution", "friction", "from", "until", "active", "when", "ease"}
    assert found["additionalProperties"] is False and "taut" in found["required"]


@pytest.mark.parametrize("text, words", [
    ("x = 1", "has no function build()"),
    ("def build(:", "scene.py:1: SyntaxError"),
    ("def build():\n    return 3", "returned int"),
    ("def build():\n    x = 1\n    return x / 0", "scene.py:3: ZeroDivisionError"),
    ("import taut.scene\ndef build():\n    taut.scene.Scene().particle((0, 0))", "scene.py:3: particle"),
    ("def build(n=3): pass", "has no parameter 'm'. Parameters: n=3."),
])  # fmt: skip
def test_mistakes_in_python_scenes_name_the_users_line(tmp_path, text, words):
    path = tmp_path / "scene.py"
    path.write_text(text)
    parameters = {"m": 1} if "n=3" in text else {}
    with pytest.raises(TautError) as told:
        load_python(path, **parameters)
    assert words in str(told.value), f"said: {told.value}"


def test_scenes_open_by_gallery_name_and_by_file(tmp_path):
    scene = open_scene("chain", n=4)
    path = scene.save(tmp_path / "chain.yaml")
    code = "from taut.scene import gallery\ndef build(n): return gallery('chain', n=n)"
    (tmp_path / "chain.py").write_text(code)
    assert open_scene(str(path)) == scene == open_scene(str(tmp_path / "chain.py"), n=4)
    for what, parameters, words in (
        ("chian", {}, "Did you mean 'chain'"),
        ("chain", {"m": 3}, "has no parameter 'm'"),
        ("chain", {"n": 2.5}, "parameter n is 2.5; give a whole number"),
        (str(path), {"n": 3}, "takes no parameters"),
        (str(tmp_path / "no.yaml"), {}, "there is no scene file"),
    ):
        with pytest.raises(TautError) as told:
            open_scene(what, **parameters)
        assert words in str(told.value), f"{what}: said {told.value}"


def test_parameters_are_read_from_text():
    read = parse_parameters(["n=100", "length = 1e-3", "span=none", "flag=true", "word=abc"])
    assert repr(read) == "{'n': 100, 'length': 0.001, 'span': None, 'flag': True, 'word': 'abc'}", read
    for text in ("n", "=3", "n=", "a b=3"):
        with pytest.raises(TautError, match="not of the form NAME=VALUE"):
            parse_parameters([text])
