"""Mutated scene files, with the meshes and arrays beside them: every answer is a scene or a TautError.

What loads is written and read back, built, and sometimes stepped.
"""

from __future__ import annotations

import copy
import io
import json
import random
import struct
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import taut

from . import odd
from .calls import kept

_FRAMES = {"times": [0, 1, 3], "values": [0, 1, 0.5]}
# Small documents that between them hold one of each thing.
DOCUMENTS: list[dict[str, Any]] = [
    {
        "taut": 1, "name": "arm", "gravity": [0, -9.81, 0],
        "bodies": [
            {"kind": "particle", "name": "anchor", "position": [0, 0, 0], "fixed": True},
            {"kind": "particle", "name": "b", "position": [1, 0, 0], "mass": 2.0, "velocity": [0, 1, 0]},
            {"kind": "coordinate", "name": "s", "value": 0.3, "inertia": 0.1, "rate": 1},
        ],
        "constraints": [
            {"kind": "distance", "name": "rod", "points": ["anchor", "b"], "length": 1.0},
            {"kind": "limit", "points": ["s"], "minimum": -1, "maximum": 2, "restitution": 0.5},
        ],
        "forces": [{"kind": "spring", "points": ["b", [0, 2, 0]], "stiffness": 5, "damping": 0.1}],
        "suggested": {"dt": 0.01, "duration": 0.1, "method": "implicit_first"},
    },
    {
        "taut": 1,
        "bodies": [
            {"kind": "rigid", "name": "box", "position": [0, 2, 0], "shape": {"box": [1, 2, 3]}, "density": 7.0,
             "orientation": ["x", 0.3], "angular_velocity": [0, 1, 0]},
            {"kind": "rigid", "name": "door", "position": [0, 0, 3], "rotation": ["y", "2*t"]},
            {"kind": "particle", "name": "road", "path": ["0.1*sin(10*t)", 0, 5]},
            {"kind": "rigid", "name": "top", "position": [5, 0, 0], "mass": 1, "inertia": [1, 1, 1.5], "path": None},
        ],
        "constraints": [{"kind": "ball", "points": [{"body": "box", "offset": [0.5, 0, 0]}, [0.5, 2, 0]]}],
        "forces": [{"kind": "torque", "points": ["top"], "value": [0, "sin(t)", 0]},
            {"kind": "drag", "coefficient": 0.1}],
    },
    {
        "taut": 1,
        "bodies": [{"kind": "particle", "name": f"ball_{i}", "position": [i, 1, 0], "radius": 0.2} for i in range(3)],
        "obstacles": [
            {"kind": "half_space", "name": "floor", "point": [0, 0, 0], "normal": [0, 1, 0]},
            {"kind": "outside_sphere", "name": "dome", "center": [0, -2, 0], "radius": 1.5},
        ],
        "contacts": [{"first": ["ball_0", "ball_1", "ball_2"], "second": ["floor", "dome"], "restitution": 0.5}],
    },
    {
        "taut": 1,
        "bodies": [{"kind": "particle", "name": "bob", "position": [0, -1, 0]}, {"kind": "coordinate", "name": "u"}],
        "constraints": [
            {"kind": "custom", "points": ["bob", "u"], "formula": ["bob.x**2 + bob.y**2 - 1", "bob.z - u*t"]},
            {"kind": "linear", "points": ["u"], "coefficients": [1.0]},
        ],
        "reduced": {"coordinates": {"q": [0.1, 0]}, "positions": {"bob": ["sin(q)", "-cos(q)", "0"]}},
    },
    {
        "taut": 1,
        "deformables": [
            {"kind": "cloth", "name": "flag", "grid": [3, 3], "size": [1.5, 1], "limit": 0.1, "thickness": 0.01,
             "pins": [0, {"vertex": 2, "to": "hand"}], "wind": [1, 0, "t"], "self_contact": True},
        ],
        "bodies": [{"kind": "particle", "name": "hand", "path": {"times": [0, 1], "values": [[1.5, 0, 0], [1, 1, 0]]}}],
    },
    {
        "taut": 1,
        "deformables": [
            {"kind": "solid", "name": "block", "box": [2, 2, 2], "size": [1, 1, 1], "density": 500},
            {"kind": "cloth", "name": "net", "vertices": [[0, 3, 0], [1, 3, 0], [0, 3, 1]], "triangles": [[0, 1, 2]],
             "hard": "edges", "limit": None},
        ],
    },
    {"taut": 1, "deformables": [{"kind": "cloth", "name": "sheet", "mesh": "a.obj", "origin": [0, 1, 0]}]},
    {"taut": 1, "deformables": [{"kind": "cloth", "name": "sheet", "mesh": "a.ply"}]},
    {"taut": 1, "deformables": [{"kind": "cloth", "name": "sheet", "mesh": "b.ply"}]},
    {"taut": 1, "deformables": [{"kind": "solid", "name": "tet", "mesh": "a.vtk"}]},
    {"taut": 1, "deformables": [{"kind": "solid", "name": "tet", "mesh": "a.msh"}]},
    {"taut": 1, "deformables": [{"kind": "cloth", "name": "sheet", "mesh": "a.off"}]},
    {
        "taut": 1, "arrays": "a.npz",
        "bodies": [{"kind": "particle", "many": {"prefix": "p", "position": "array:p", "mass": "array:m"}}],
        "constraints": [{"kind": "distance", "many": {"points": "array:e", "length": "array:l"}}],
        "deformables": [{"kind": "cloth", "vertices": "array:v", "triangles": "array:f"}],
    },
    {
        "taut": 1,
        "bodies": [
            {"kind": "rigid", "name": "rod", "position": [1, 0, 0], "mass": 2, "inertia": [0.1, 1, 1]},
            {"kind": "coordinate", "name": "a", "value": 0, "inertia": 0, "rate": 1},
            {"kind": "coordinate", "name": "q", "value": 0.5, "inertia": 0},
        ],
        "forces": [{"kind": "custom_force", "points": ["q"], "formula": ["-sin(q)", "0", "0"]}],
        "reduced": {
            "coordinates": ["a", "q"], "positions": {"rod": ["cos(a)", "sin(a)", "0"]},
            "turns": {"rod": [["z", "a"]]}, "kinetic": "q.v**2*(2 + cos(q)) + a.v*q.v/10 + t*q.v",
        },
        "suggested": {"dt": 0.01, "duration": 0.1, "method": "reduced"},
    },
]  # fmt: skip
MESHES = {
    "a.obj": b"# a sheet\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1\nf -4 -2 -1\n",
    "a.ply": b"ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement "
    b"face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
    "b.ply": b"ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty "
    b"float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    + struct.pack("<9fB3i", 0, 0, 0, 1, 0, 0, 0, 1, 0, 3, 0, 1, 2),
    "a.off": b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
    "a.vtk": b"# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0 0 1 0 0 "
    b"0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n",
    "a.msh": b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
    b"$Elements\n1\n1 4 2 0 1 1 2 3 4\n$EndElements\n",
}
SNIPPETS = [
    "&a ", "*a", "<<: *a\n", "? [a, b]\n: 1\n", "? {a: 1}\n: 2\n", "!!python/object/apply:os.system ['true']",
    "%YAML 1.9\n",
    "!!set {a}", "!!binary xx", "2001-12-14", "[", "]", "{", "}", ": ", "- ", "\n", "\t", "#", "|\n", ">\n", "'",
    '"', "\x00",
    "\xff", "---\n", "...\n", "!!float ", "!!int ", ".inf", ".nan", "0x" + "f" * 400, "1" * 4400, "1e400", "~",
    "1_000", "0o7",
    "190:20:30", "[" * 60, "{a: " * 60, "- " * 80, "&a [*a]", "null", "=", "@", "`", "\\", "\u2028", "\ufeff",
]  # fmt: skip


# Those that need no process of their own to be read.
_QUICK = [d for d in DOCUMENTS if not {e.get("mesh") for e in d.get("deformables", ())} & {"a.vtk", "a.msh"}]


@cache
def _arrays() -> bytes:
    held = io.BytesIO()
    np.savez_compressed(
        held, p=np.arange(9.0).reshape(3, 3), m=np.ones(3), e=np.array([[0, 1], [1, 2]]), l=np.array([5.0, np.nan]),
        v=np.array([[0, 9, 0], [1, 9, 0], [0, 9, 1.0]]), f=np.array([[0, 1, 2]]),
    )  # fmt: skip
    return held.getvalue()


def _spots(node: Any) -> list[tuple[Any, Any]]:
    """Every place of a document: the container and the key."""
    found = []
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        found += [(node, key), *_spots(node[key])]
    return found


def _mutate(document: dict[str, Any], rng: random.Random) -> None:
    spots = _spots(document)
    container, key = rng.choice(spots)
    kind = rng.random()
    if kind < 0.5:
        container[key] = odd.plain(rng)
    elif kind < 0.6:
        del container[key]
    elif kind < 0.7:
        other, place = rng.choice(spots)
        container[key] = copy.deepcopy(other[place])
    elif kind < 0.8 and isinstance(container, dict):
        container[rng.choice([odd.text(rng), "name", "foo", "many", "points", "mesh", "alpha"])] = container.pop(key)
    elif kind < 0.9 and isinstance(container, dict):
        container[rng.choice(["name", "many", "sense", "friction", "foo", odd.text(rng)])] = odd.plain(rng)
    elif isinstance(container[key], list) and container[key]:
        container[key] += [copy.deepcopy(rng.choice(container[key]))]
    else:
        container[key] = [container[key]]


def _nudge(document: dict[str, Any], rng: random.Random) -> None:
    """Another number where a number stands, so that most of what is made still is a scene."""
    spots = [(c, k) for c, k in _spots(document) if isinstance(c[k], int | float) and k != "taut"]
    if spots:
        container, key = rng.choice(spots)
        scale = rng.choice([0, -1, 2, 0.5, 1e-3, 1e3, 1e-9, 1e9, 1e-30, 1e30, 1e100, 1e-100, 1e160, 1e300, 1e-300])
        value = container[key] * scale
        container[key] = int(value) if isinstance(container[key], int) and abs(value) < 1e6 else float(value)


def _damage(data: bytes, rng: random.Random) -> bytes:
    """Bytes changed, cut, doubled or put in."""
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(data) + 1)
        to = min(len(data), at + rng.choice([1, 2, 5, 30]))
        put = rng.choice([b"", bytes([rng.randrange(256)]), rng.choice(SNIPPETS).encode("utf-8", "replace"),
            data[at:to] * 3,
                          str(rng.choice([0, -1, 10**6, 10**9, 10**18, 10**30, 1e200, 2**63,
                              0.5])).encode()])  # fmt: skip
        data = data[:at] + put + data[to:]
    return data if rng.random() < 0.9 else data[: rng.randrange(len(data) + 1)]


def _bomb(rng: random.Random) -> bytes:
    """Short files that stand for much."""
    n, depth = rng.choice([3, 9]), rng.choice([4, 12, 30])
    rows = "\n".join(f"x{i}: &x{i} [{', '.join([f'*x{i - 1}'] * n)}]" for i in range(1, depth))
    where = rng.choice(["name", "gravity", "bodies", "deformables", "suggested", "reduced", "taut"])
    tail = rng.choice([
        f"{where}: *x{depth - 1}", f"bodies: [{{kind: rigid, inertia: *x{depth - 1}}}]",
        f"deformables: [{{kind: cloth, vertices: *x{depth - 1}, triangles: *x{depth - 1}}}]",
        f"bodies: [{{kind: particle, position: *x{depth - 1}}}]", f"forces: [{{kind: springs, pairs: *x{depth - 1}}}]",
        f"deformables: [{{kind: cloth, grid: [{10**rng.choice([2, 5, 9, 18, 40])}, 3]}}]",
        f"deformables: [{{kind: solid, box: [{10**rng.choice([1, 5, 9, 18])}, 3, 3]}}]",
        "bodies: " + "[" * rng.choice([40, 60, 3000, 50000]), "bodies: " + "{a: " * rng.choice([60, 3000]),
        "bodies:\n  " + "- " * rng.choice([60, 3000]), "gravity: [1" + ":20" * 5000 + ", 0, 0]",
        "bodies: [{kind: particle, path: ['" + "sin(" * 140 + "t" + ")" * 140 + "', 0, 0]}]",
        "bodies: [{kind: particle, path: ['" + "(t+1)*" * 200 + "t', 0, 0]}]",
        "bodies: [{kind: particle, path: ['" + "**".join(["t"] * 30) + "', 0, 0]}]",
        "bodies: [{kind: particle, path: ['(" * 1 + "+".join(["t"] * 60) + ")**99', 0, 0]}]",
    ])  # fmt: skip
    return f"taut: 1\nx0: &x0 [1, 2, 3]\n{rows}\n{tail}\n".encode()


def _npz(data: bytes, rng: random.Random) -> bytes:
    """An archive with one array of another shape, type or promise."""
    held = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as new:
        changed = rng.choice(old.namelist())
        for name in old.namelist():
            content = old.read(name)
            if name == changed:
                shape = rng.choice([b"(10**18,)", b"(999999999999, 3)", b"(-3, 3)", b"()", b"(0, 3)", b"(3,)",
                    b"(2, 2)"])
                kinds = [b"'<f8'", b"'|O'", b"'<i8'", b"'<u8'", b"'<U4'", b"'|b1'", b"'<c16'", b"'<f2'", b"'<M8[s]'"]
                for kind in kinds:
                    if rng.random() < 0.5:
                        content = content.replace(kind, rng.choice(kinds), 1)
                if rng.random() < 0.5:
                    start = content.find(b"(")
                    content = content[:start] + shape + content[content.find(b")") + 1 :]
                content = _damage(content, rng) if rng.random() < 0.4 else content
            new.writestr(name, content)
    return held.getvalue()


def case(seed: int, folder: Path) -> str | None:
    rng = random.Random(f"files {seed}")
    document = copy.deepcopy(rng.choice(DOCUMENTS if rng.random() < 0.03 else _QUICK))
    named = [entry.get("mesh") for entry in document.get("deformables", ())]
    for name in filter(None, named):
        data = MESHES[name]
        (folder / name).write_bytes(_damage(data, rng) if rng.random() < 0.9 else data)
    if "arrays" in document:
        data = _arrays()
        way = rng.random()
        (folder / "a.npz").write_bytes(data if way < 0.3 else _damage(data, rng) if way < 0.6 else _npz(data, rng))
    gently = rng.random() < 0.4
    for _ in range(rng.choice([0, 1, 1, 2, 4]) if any(named) or "arrays" in document else rng.choice([1, 1, 2, 4])):
        if gently:
            _nudge(document, rng)
        elif _spots(document):
            _mutate(document, rng)
    text = _text(document)
    way = 1.0 if gently else rng.random()
    if way < 0.25:
        text = _damage(text, rng)
    elif way < 0.28:
        text = _bomb(rng)
    if len(text) > 100_000:  # its time is known: it grows with its size
        return None
    path = folder / "scene.yaml"
    path.write_bytes(text)
    scene, fault = odd.judged(lambda: taut.load(path))
    if scene is None:
        return fault and f"{text[:600].decode(errors='replace')}\n{fault}"
    model, fault = odd.judged(scene.build)
    if fault is None and model is not None and rng.random() < 0.2:
        fault = odd.steps(scene, rng)
    if fault is None and rng.random() < 0.2:
        fault = kept(scene, folder / "kept.yaml")
    return fault and f"{text[:600].decode(errors='replace')}\n{fault}"


def _text(document: Any) -> bytes:
    """As JSON, which is YAML; its Infinity and NaN are not, and whole numbers may be too long to be written."""

    def plain(node: Any) -> Any:
        if isinstance(node, dict):
            return {str(key): plain(value) for key, value in node.items()}
        if isinstance(node, list):
            return [plain(value) for value in node]
        return f"0x{node:x}" if isinstance(node, int) and abs(node) > 10**1000 else node

    text = json.dumps(plain(document), ensure_ascii=False)
    for mark, yaml in (("-Infinity", "-.inf"), ("Infinity", ".inf"), ("NaN", ".nan"), ('"0x', "0x")):
        text = text.replace(mark, yaml)
    return text.replace('000"', "000").encode("utf-8", "replace")
