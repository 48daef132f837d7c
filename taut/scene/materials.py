"""What users may say about a cloth or a solid: one table for Python, for files and for their schema."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import arguments
from ..errors import TautError, shown
from . import checks

Reader = Callable[[Any, str], Any]
AIR = 1.2  # [kg/m³]


class Option(NamedTuple):
    """A keyword argument. Readers give plain values: numbers, text, tuples, arrays, functions of time."""

    name: str
    reader: Reader
    form: str  # what it looks like in a file; format.py has the schema of each form
    default: Any
    doc: str


def counts(wanted: int) -> Reader:
    """Whole numbers of nodes; how many nodes a mesh needs is the mesh's to say."""

    def read(value: Any, what: str) -> tuple[int, ...]:
        try:
            listed = list(value) if hasattr(value, "__len__") and not isinstance(value, str | dict | set | type) else []
        except TypeError:
            listed = []
        whole = [n for n in listed if isinstance(n, int | np.integer) and not isinstance(n, bool)]
        if len(whole) != wanted or len(listed) != wanted:
            raise TautError(f"{what} is {shown(value)}; give {wanted} whole numbers of nodes.")
        return tuple(int(n) for n in whole)

    return read


def lengths(wanted: int) -> Reader:
    def read(value: Any, what: str) -> tuple[float, ...]:
        found = checks.numbers(value, what)
        if len(found) != wanted or min(found) <= 0.0:
            raise TautError(f"{what} is {shown(value)}; give {wanted} positive lengths [m].")
        return found

    return read


def choice(*known: str) -> Reader:
    def read(value: Any, what: str) -> str:
        if not isinstance(value, str) or value not in known:
            words = ", ".join(map(repr, known[:-1]))
            raise TautError(f"{what} is {shown(value)}; choose {words} or {known[-1]!r}.")
        return value

    return read


def table(whole: bool) -> Reader:
    """An array, whose shape and contents the mesh judges."""

    def read(value: Any, what: str) -> np.ndarray:
        try:
            array = np.asarray(value)
            if array.dtype.kind not in ("iu" if whole else "iuf"):
                raise ValueError
            if array.dtype.kind == "u" and array.size and array.max() >= 2**63:
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            kind = "whole numbers below 2**63" if whole else "numbers"
            raise TautError(f"{what} is {shown(value)}, not a table of {kind}; give rows of {kind}.") from None
        return array.astype(np.int64 if whole else float)

    return read


def file(value: Any, what: str) -> str:
    arguments.path(value, what)
    try:
        return str(Path(value).resolve())
    except (OSError, RuntimeError) as problem:  # a loop of links
        raise TautError(f"{what} is {shown(value)}, which can not be followed: {problem}.") from None


def flag(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise TautError(f"{what} is {shown(value)}; give True or False.")
    return value


_ZERO = (0.0, 0.0, 0.0)
_COMMON = (
    Option("mesh", file, "text", None, "instead: a file with the mesh"),
    Option("vertices", table(False), "table", None, "instead: places [m], shape (n, 3)"),
)
_SPRINGS = (
    Option("damping", checks.not_negative, "number", 0.0, "of every spring, along it [N s/m]"),
    Option("second_stiffness", checks.not_negative, "number", None,
           "[N/m] of structural springs beyond second_elongation; shear springs in proportion"),
    Option("second_elongation", checks.not_negative, "number", None, "0.05 for five percent"),
    Option("limit", checks.not_negative, "limit", 0.1,
           "largest elongation of structural and shear springs, 0.1 for ten percent; None: none; 0: structural edges "
           "of a cloth are hard, and a solid gives way only to being pressed"),
    Option("limit_rule", choice("exact", "paper"), "text", "exact",
           "'exact': the limit only pulls; 'paper': held until its multiplier would push"),
    Option("system", choice("nodes", "active", "auto"), "text", None,
           "what implicit_first solves for: 'nodes': the places of all nodes; 'active': the multipliers of springs at "
           "their limit alone, after explicit springs in small steps; 'auto': whichever takes less work as a run goes "
           "on; None: 'auto' with limit_rule 'paper', else 'nodes'"),
)
_MOTION = (
    Option("velocity", checks.vector, "vector", _ZERO, "of all nodes at the start [m/s]"),
    Option("thickness", checks.not_negative, "number", 0.0, "[m]; nodes are balls of half of it"),
    Option("wind", checks.signals, "signals", None, "velocity of the air [m/s]; without it there is no air"),
    Option("drag", checks.not_negative, "number", 1.0, "coefficient of the air's drag on triangles"),
    Option("release", choice("lambda", "velocity", "voronoi", "paper"), "text", "lambda",
           "when implicit_first lets a contact with an obstacle or a ball go: 'lambda': where its multiplier would "
           "pull; 'velocity': also where both would part without it; 'voronoi': also where the node has left the flat "
           "face that it was on; 'paper': all three"),
    Option("approach", choice("position", "velocity"), "text", "position",
           "what stops a node that comes near in a step: 'position': its gap at the end of the step; 'velocity': a "
           "bound on velocities, up to the point of contact as it is seen from the start of the step"),
    Option("self_contact", flag, "flag", False,
           "whether it runs into itself, without friction; needs a thickness below half of its shortest edge"),
)
OPTIONS: dict[str, dict[str, Option]] = {
    "cloth": {option.name: option for option in (
        Option("grid", counts(2), "counts", None, "(nx, ny) nodes of a rectangle"),
        *_COMMON,
        Option("triangles", table(True), "table", None, "of vertices, counted from 0, shape (m, 3)"),
        Option("size", lengths(2), "numbers", None, "of a grid, along u and v [m]; default 1 × 1"),
        Option("origin", checks.vector, "vector", _ZERO, "place of a grid's first node; shift of a mesh [m]"),
        Option("u", checks.vector, "vector", None, "direction of a grid's rows (warp); default x"),
        Option("v", checks.vector, "vector", None, "direction of a grid's columns (weft); default z"),
        Option("density", checks.positive, "number", 0.2, "[kg/m²]"),
        Option("stiffness", checks.not_negative, "number", 100.0, "of structural springs [N/m]"),
        Option("shear", checks.not_negative, "number", None, "of a grid's diagonals [N/m]; default 0.3 × stiffness"),
        Option("bending", checks.not_negative, "number", None, "of bending springs [N/m]; default 0.01 × stiffness"),
        *_SPRINGS,
        Option("hard", choice("warp_weft", "edges"), "text", None,
               "edges that keep their length: 'warp_weft' of a grid, all 'edges' of the mesh, or none"),
        *_MOTION,
    )},
    "solid": {option.name: option for option in (
        Option("box", counts(3), "counts", None, "(nx, ny, nz) nodes of a block"),
        *_COMMON,
        Option("tetrahedra", table(True), "table", None, "of vertices, counted from 0, shape (m, 4)"),
        Option("size", lengths(3), "numbers", None, "of a block [m]; default 1 × 1 × 1"),
        Option("origin", checks.vector, "vector", _ZERO, "place of a block's first node; shift of a mesh [m]"),
        Option("density", checks.positive, "number", 1000.0, "[kg/m³]"),
        Option("stiffness", checks.not_negative, "number", 1000.0, "of the springs along edges [N/m]"),
        *_SPRINGS,
        *_MOTION,
    )},
}  # fmt: skip


def read_options(kind: str, what: str, given: dict[str, Any]) -> dict[str, Any]:
    """Every option of a kind; one left out, or None where that is its default, has its default."""
    values = {}
    for name, option in OPTIONS[kind].items():
        value = given.get(name, option.default)
        absent = value is None and (option.default is None or name == "limit")
        values[name] = None if absent else option.reader(value, f"{what}: {name}")
    _check_shape(kind, what, values)
    if (values["second_stiffness"] is None) != (values["second_elongation"] is None):
        lone = next(key for key in ("second_stiffness", "second_elongation") if values[key] is not None)
        raise TautError(f"{what} has only {lone}; give second_stiffness and second_elongation, or neither.")
    if values["second_stiffness"] is not None and values["stiffness"] == 0.0:
        raise TautError(f"{what}: stiffness is 0, so there is no second phase; leave out second_stiffness.")
    return values


def _check_shape(kind: str, what: str, values: dict[str, Any]) -> None:
    """One way to give the shape, and nothing that belongs to another one."""
    regular, elements = ("grid", "triangles") if kind == "cloth" else ("box", "tetrahedra")
    shapes = [key for key in (regular, "mesh", "vertices") if values[key] is not None]
    if len(shapes) != 1:
        raise TautError(f"{what} has {' and '.join(shapes) or 'no shape'}; give one of {regular}, mesh, or vertices "
                        f"with {elements}.")
    if (shapes[0] == "vertices") != (values[elements] is not None):
        lone = "vertices" if shapes[0] == "vertices" else elements
        raise TautError(f"{what} has {lone} alone; give vertices with {elements}.")
    for key in ("size", "u", "v") if shapes[0] != regular else ():
        if values.get(key) is not None:
            raise TautError(f"{what}: {key} is {shown(values[key])}, but it belongs to {regular}; leave it out.")
    if kind == "cloth" and shapes[0] != "grid":
        for key, remedy in (("shear", "leave it out"), ("hard", "choose 'edges'")):
            if values[key] is not None and values[key] != "edges":
                raise TautError(f"{what}: {key} is {shown(values[key])}, but only a grid has warp and weft; {remedy}.")


def differing(kind: str, values: dict[str, Any]) -> dict[str, Any]:
    """The options that are not at their defaults: what a file needs to hold."""
    def differs(name: str, value: Any) -> bool:
        return isinstance(value, np.ndarray) or value != OPTIONS[kind][name].default

    return {name: value for name, value in values.items() if differs(name, value)}
