"""Random calls of the public names with odd arguments: every answer is a value or a TautError."""

from __future__ import annotations

import inspect
import random
from pathlib import Path
from typing import Any

import numpy as np

import taut
from taut.constraints import KINDS as CONSTRAINTS
from taut.errors import shown
from taut.forces import KINDS as FORCES
from taut.scene.gallery import SCENES

from . import odd

KINDS = [*CONSTRAINTS.values(), *FORCES.values()]
# What suits an argument of each name; what is not listed here gets its kind's type below.
USUAL: dict[str, Any] = {
    "mass": 2.0, "velocity": (0, 1, 0), "fixed": True, "path": ("0.1*t", 0, 0), "radius": 0.2, "inertia": (1, 1, 1),
    "shape": {"box": (1, 2, 3)}, "density": 7.0, "orientation": ("x", 0.3), "angular_velocity": (0, 1, 0),
    "rotation": ("y", "t"), "value": 0.3, "rate": 1.0, "length": 1.5, "angle": 1.0, "normal": (0, 1, 0),
    "direction": (1, 0, 0), "center": (0, 3, 0), "point": (0, -1, 0), "start": (0, 2, 0), "end": (0, 3, 0),
    "half": (0.1, 0.1, 0.1), "curve": ("s", "0", "s"), "coefficients": (1, -1), "formula": "p0.x - 1",
    "stiffness": 10.0, "coefficient": 0.1, "pairs": (0, 1), "triangles": (0, 1, 2), "restitution": 0.5, "friction": 0.1,
    "sense": "<=", "minimum": -5, "maximum": 5, "component": "x", "function": lambda q, t: q[0, 0], "rows": 1,
    "grid": (3, 3), "box": (2, 2, 2), "size": (1, 1), "origin": (0, 4, 0), "limit": 0.1, "thickness": 0.01,
    "pins": [0, 2], "wind": (1, 0, 0), "self_contact": True, "hard": "edges", "vertices": np.eye(3), "drag": 1.0,
    "tetrahedra": [[0, 1, 2, 3]], "mesh": "nothing.obj", "damping": 0.1, "dt": 0.01, "duration": 0.02,
    "method": "implicit_first", "solver": "auto", "tolerance": 1e-8, "record_every": 1, "project_initial": True,
    "repair": False, "gravity": (0, -9.81, 0), "overwrite": True, "n": 3, "place": (0, 0, 0), "ball": 0.1,
    "coordinates": {"q": 0.1}, "positions": {"b": ("q", "0", "0")}, "constant": 0.0, "u": (1, 0, 0), "v": (0, 0, 1),
}  # fmt: skip


def _scene() -> tuple[taut.Scene, list[Any]]:
    scene = taut.Scene()
    return scene, [
        scene.particle((0, 0, 0), fixed=True, name="anchor"), scene.particle((1, 0, 0), radius=0.1, name="b"),
        scene.particle((2, 0.5, 0.3), radius=0.1, name="ball"),
        scene.rigid((0, 2, 0), shape={"sphere": 0.2}, mass=1, name="round"),
        scene.rigid((3, 2, 0), shape={"box": (1, 1, 1)}, mass=1, name="box"), scene.coordinate(0.3, name="s"),
    ]  # fmt: skip


class _Maker:
    """Arguments for one call: usual ones, of which some are made odd."""

    def __init__(self, rng: random.Random, refs: list[Any]) -> None:
        self.rng, self.refs = rng, refs
        self.rate = rng.choice([0.05, 0.2, 0.5])

    def one(self, usual: Any) -> Any:
        return odd.value(self.rng) if self.rng.random() < self.rate else usual

    def point(self) -> Any:
        ref = self.rng.choice(self.refs)
        usual = self.rng.choice([ref, getattr(ref, "name", ref), (0.5, 0.5, 0.5), taut_point(ref)])
        return self.one(usual)

    def named(self, names: list[str], share: float) -> dict[str, Any]:
        chosen = {name: self.one(USUAL.get(name, 1.0)) for name in names if self.rng.random() < share}
        if self.rng.random() < 0.1:
            chosen["name"] = odd.value(self.rng)
        if self.rng.random() < 0.02:
            chosen[self.rng.choice(["foo", "lenght", "kind", "scene", "a"])] = odd.value(self.rng)
        return chosen


def taut_point(ref: Any) -> Any:
    return ref.at((0.1, 0, 0)) if getattr(ref, "kind", "") == "rigid" else ref


def _names(function: Any) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind in kinds and p.name != "name"]


def _call(scene: taut.Scene, refs: list[Any], rng: random.Random, folder: Path) -> tuple[str, Any]:
    """What is called, and a function that does so."""
    make = _Maker(rng, refs)
    which = rng.random()
    if which < 0.4:
        kind = rng.choice(KINDS)
        needed = [a.name for a in kind.arguments if a.required]
        given = make.named([a.name for a in kind.arguments], 0.4)
        given |= {name: make.one(USUAL.get(name, 1.0)) for name in needed if rng.random() < 0.95}
        given |= make.named(["sense", "restitution", "friction"], 0.05)
        many = len(kind.points) if kind.points is not None else rng.choice([0, 1, 2, 3])
        points = [make.point() for _ in range(many if rng.random() < 0.95 else rng.choice([0, 1, 2, 3, 4, 5]))]
        said = f"scene.{kind.name}(*{shown(points)}, **{shown(given)})"
        return said, lambda: getattr(scene, kind.name)(*points, **given)
    if which < 0.6:
        verb = rng.choice(["particle", "rigid", "coordinate"])
        at = [] if rng.random() < 0.1 else [make.one(0.1 if verb == "coordinate" else (1, 1, 1))]
        given = make.named(_names(getattr(scene, verb))[1:], 0.25)
        return f"scene.{verb}(*{shown(at)}, **{shown(given)})", lambda: getattr(scene, verb)(*at, **given)
    if which < 0.72:
        verb = rng.choice(["cloth", "solid"])
        given = make.named(_names(getattr(scene, verb)), 0.1)
        shape = rng.choice(["grid", "vertices", "mesh"] if verb == "cloth" else ["box", "vertices", "mesh"])
        given[shape] = make.one(USUAL[shape])
        if shape == "vertices":
            given["triangles" if verb == "cloth" else "tetrahedra"] = make.one([[0, 1, 2]])
        return f"scene.{verb}(**{shown(given)})", lambda: getattr(scene, verb)(**given)
    if which < 0.85:
        return _other(scene, refs, rng, make)
    return _of_taut(scene, rng, make, folder)


def _other(scene: taut.Scene, refs: list[Any], rng: random.Random, make: _Maker) -> tuple[str, Any]:
    verb = rng.choice(["obstacle", "contacts", "planar", "reduced", "suggest", "gravity", "at", "sheet", "Scene"])
    if verb == "obstacle":
        kind = make.one(rng.choice(["half_space", "outside_sphere", "inside_box", "distance"]))
        given = make.named(["point", "normal", "center", "radius", "half", "ball"], 0.7)
        return f"scene.obstacle({shown(kind)}, **{shown(given)})", lambda: scene.obstacle(kind, **given)
    if verb == "contacts":
        first, second = make.one([make.point(), "b"]), make.one(rng.choice([None, ["ball", "round"], "box"]))
        given = make.named(["restitution", "friction"], 0.4)
        said = f"scene.contacts({shown(first)}, {shown(second)}, **{shown(given)})"
        return said, lambda: scene.contacts(first, second, **given)
    if verb == "planar":
        points, given = [make.point() for _ in range(rng.choice([1, 2]))], make.named(["normal"], 0.5)
        return f"scene.planar(*{shown(points)}, **{shown(given)})", lambda: scene.planar(*points, **given)
    if verb == "reduced":
        given = make.named(["coordinates", "positions", "turns", "kinetic"], 0.7)
        return f"scene.reduced(**{shown(given)})", lambda: scene.reduced(**given)
    if verb == "suggest":
        given = make.named(["dt", "duration", "method", "alpha", "solver"], 0.4)
        return f"scene.suggest(**{shown(given)})", lambda: scene.suggest(**given)
    if verb == "at":
        ref, offset = rng.choice(refs), make.one((0.1, 0, 0))
        return f"{shown(ref)}.at({shown(offset)})", lambda: ref.at(offset)
    if verb == "Scene":
        given = make.named(["gravity"], 0.7)
        return f"taut.Scene(**{shown(given)})", lambda: taut.Scene(**given)
    if verb == "gravity":
        given = make.one((0, 0, -1))
        return f"scene.gravity = {shown(given)}", lambda: setattr(scene, "gravity", given)
    sheet = scene.cloth(grid=(2, 3))
    what, a, b = rng.choice(["pin", "node", "corner"]), make.one(1), make.one(rng.choice([0, 1, None, "b", (0, 0, 0)]))
    given = [a] if what == "node" else [a, b]
    return f"cloth.{what}(*{shown(given)})", lambda: getattr(sheet, what)(*given)


def _of_taut(scene: taut.Scene, rng: random.Random, make: _Maker, folder: Path) -> tuple[str, Any]:
    verb = rng.choice(["load", "gallery", "gallery", "open_scene", "build", "simulate", "simulate", "simulate",
        "resume",
                       "open", "save", "save"] + (["compare", "schema"] if rng.random() < 0.02 else []))  # fmt: skip
    function = getattr(taut, verb) if verb != "save" else scene.save
    if verb == "compare":  # one that is certain to be refused: a comparison takes seconds
        given = {"scene": scene, "methods": ["nothing", odd.value(rng)], **make.named(["dt", "duration"], 0.5)}
    elif verb in ("build", "simulate"):
        names = ["method", "dt", "duration", "record_every", "solver", "tolerance", "repair", "project_initial"]
        given = {"scene": make.one(scene)} | (make.named(names,
            0.6) | {"progress": False} if verb == "simulate" else {})
    elif verb == "gallery":
        name = make.one(rng.choice(list(SCENES)))
        known = _names(SCENES[name].function) if isinstance(name, str) and name in SCENES else ["n"]
        given = {"name": name} | {key: odd.value(rng) for key in known if rng.random() < 0.3}
    elif verb == "schema":
        given = {}
    else:
        given = {"path" if verb != "open_scene" else "what": make.one(str(folder / rng.choice(["a.yaml", "b.py",
            "c"])))}
        given |= make.named(["arrays", "overwrite"], 0.3) if verb == "save" else {}
    return f"{verb}(**{shown(given)})", lambda: function(**given)


def case(seed: int, folder: Path) -> str | None:
    rng = random.Random(f"calls {seed}")
    scene, refs = _scene()
    for _ in range(rng.choice([1, 2, 4, 8])):
        try:
            said, call = _call(scene, refs, rng, folder)
        except taut.TautError:
            continue
        found, fault = odd.judged(call)
        if fault:
            return f"{said[:600]}\n{fault}"
        refs += [found] if hasattr(found, "kind") else []
    model, fault = odd.judged(scene.build)
    if fault is None and model is not None and rng.random() < 0.15:
        fault = odd.steps(scene, rng)
    if fault is None and rng.random() < 0.05:
        fault = kept(scene, folder / "kept.yaml")
    return fault and f"after the calls: {fault}"


def kept(scene: taut.Scene, path: Path) -> str | None:
    """A scene that is written reads back as it was."""
    written, fault = odd.judged(lambda: scene.save(path, overwrite=True))
    if written is None:
        return fault
    again, fault = odd.judged(lambda: taut.load(path))
    if fault is None and again is None:
        try:
            taut.load(path)
        except taut.TautError as mistake:
            return f"what was written can not be read: {mistake}"
    if again is not None and again != scene:
        return "what was read back differs from what was written"
    return fault
