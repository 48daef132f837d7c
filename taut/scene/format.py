"""The shape of a scene file: one pydantic model per kind, made from the registries.

A model judges single values (a mass, a formula, a list of points). What only the whole scene can tell,
such as whether a body exists, is judged when the entry is added to a Scene.

An entry with `many` adds a list of things at once. Its values are shared by all of them, or arrays:
"array:NAME" is the array NAME of the file that `arrays` names, with one row per thing.

    bodies:       {kind: particle, many: {names: "array:n", position: "array:p", mass: 0.1}}
    constraints:  {kind: distance, many: {prefix: link, points: "array:edges", length: "array:l"}}

    obstacles:    {kind: half_space, name: floor, point: [0, 0, 0], normal: [0, 1, 0]}
    deformables:  {kind: cloth, name: flag, grid: [30, 20], size: [1.5, 1], pins: [0, 29]}
    contacts:     {first: [ball_0, ball_1], second: [floor], restitution: 0.5}

`points` then is an array of whole numbers: places in the list of all bodies, counted from 0. An argument
that is NaN in a row is left to taut there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema, create_model

from ..constraints import KINDS as CONSTRAINTS
from ..errors import TautError, shown
from ..forces import KINDS as FORCES
from ..shapes import SOLIDS
from . import bodies, checks, groups, materials, shapes, verbs, visuals
from .switches import SWITCH, keys, written

VERSION = 1
ARRAY = "array:"

_NUMBER = {"type": "number"}
_VECTOR = {"type": "array", "items": _NUMBER, "minItems": 3, "maxItems": 3}
_KEYFRAMES = {
    "type": "object",
    "properties": {
        "times": {"type": "array", "items": _NUMBER},
        "values": {"type": "array"},
        "smooth": {"type": "boolean"},
    },
    "required": ["times", "values"],
    "additionalProperties": False,
}
_SIGNAL = {"anyOf": [_NUMBER, {"type": "string", "description": "a formula in t"}, _KEYFRAMES]}
_SIGNALS = {"anyOf": [{"type": "array", "items": _SIGNAL, "minItems": 3, "maxItems": 3}, _KEYFRAMES]}
_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"anyOf": [_TEXT, {"type": "array", "items": {"type": ["string", "number"]}}]}
_NUMBERS = {"anyOf": [_NUMBER, {"type": "array", "items": {"anyOf": [_NUMBER, {"type": "array", "items": _NUMBER}]}}]}
_ON_BODY = {
    "type": "object",
    "properties": {"body": _TEXT, "offset": _VECTOR},
    "required": ["body"],
    "additionalProperties": False,
}
_POINT = {"anyOf": [_TEXT, _VECTOR, _ON_BODY]}
_ARRAY = {"type": "string", "pattern": f"^{ARRAY}"}
_QUATERNION = {"type": "array", "minItems": 2, "maxItems": 4}
_INEQUALITY: dict[str, dict] = {
    "sense": {"enum": ["==", ">=", "<="]},
    "restitution": {"type": "number", "minimum": 0, "maximum": 1},
    "friction": {"type": "number", "minimum": 0},
}
_SWITCH: dict[str, dict] = {
    "from": _NUMBER,
    "until": _NUMBER,
    "active": _TEXT,
    "when": _TEXT,
    "ease": {"type": "number", "exclusiveMinimum": 0},
}
_PIN = {
    "type": "object",
    "properties": {"vertex": {"type": "integer", "minimum": 0},
                   "to": {"anyOf": [_TEXT, _ON_BODY, *_SIGNALS["anyOf"]]}},
    "required": ["vertex"],
    "additionalProperties": False,
}  # fmt: skip
_PINS = {"type": "array", "items": {"anyOf": [{"type": "integer", "minimum": 0}, _PIN]}}
# Of the forms that materials.py names.
_FORMS: dict[str, dict] = {
    "number": _NUMBER,
    "numbers": _NUMBERS,
    "vector": _VECTOR,
    "signals": _SIGNALS,
    "text": _TEXT,
    "flag": {"type": "boolean"},
    "limit": {"type": ["number", "null"], "minimum": 0},
    "counts": {"type": "array", "items": {"type": "integer", "minimum": 2}},
    "table": {"anyOf": [_ARRAY, {"type": "array", "items": {"type": "array", "items": _NUMBER}}]},
}
_SHAPE = {
    "type": "object",
    "propertyNames": {"enum": [*SOLIDS, "mesh"]},
    "minProperties": 1,
    "maxProperties": 1,
}

_TABLE = _FORMS["table"]
_VISUAL = {
    "type": "object",
    "properties": {
        **{kind: {} for kind in SOLIDS}, "mesh": _TEXT, "scale": _NUMBERS, "vertices": _TABLE, "triangles": _TABLE,
        "offset": _VECTOR, "orientation": _QUATERNION, "color": {"anyOf": [_TEXT, {"type": "array", "items": _NUMBER}]},
    },
    "additionalProperties": False,
}  # fmt: skip


def _judged(reader: Callable[[Any, str], Any], schema: dict) -> Any:
    """A type that accepts what the reader accepts, and keeps the value as it was written."""

    def judge(value: Any) -> Any:
        try:
            reader(value, "value")
        except TautError as mistake:
            raise ValueError(str(mistake)) from None
        return value

    return Annotated[Any, PlainValidator(judge), WithJsonSchema(schema)]


def _true_or_false(value: Any, what: str) -> None:
    if not isinstance(value, bool):
        raise TautError(f"{what} is {shown(value)}; write true or false.")


def _points(value: Any, what: str) -> None:
    if not isinstance(value, list):
        raise TautError(f"{what} is {shown(value)}; give a list of points, such as [anchor, b].")
    for point in value:
        if isinstance(point, dict):
            if not {"body"} <= point.keys() <= {"body", "offset"}:
                raise TautError(f"{what} has the point {shown(point)}; write {{body: NAME, offset: [x, y, z]}}.")
            checks.text(point["body"], "body")
            checks.vector(point.get("offset", (0.0, 0.0, 0.0)), "offset")
        elif isinstance(point, list):
            checks.vector(point, "place")
        elif not isinstance(point, str):
            raise TautError(f"{what} has the point {shown(point)}; give a name, [x, y, z], or {{body, offset}}.")


def _names(value: Any, what: str) -> None:
    for name in value if isinstance(value, list) else [value]:
        checks.text(name, what)


def _pins(value: Any, what: str) -> None:
    if not isinstance(value, list):
        raise TautError(f"{what} is {shown(value)}; give a list of vertex numbers, such as [0, 29].")
    for pin in value:
        vertex = pin.get("vertex") if isinstance(pin, dict) else pin
        if isinstance(pin, dict) and not {"vertex"} <= pin.keys() <= {"vertex", "to"}:
            raise TautError(f"{what} has the pin {shown(pin)}; write {{vertex: NUMBER, to: NAME}}.")
        if isinstance(vertex, bool) or not isinstance(vertex, int):
            raise TautError(f"{what} has the pin {shown(pin)}; give a vertex number, or {{vertex: NUMBER, to: NAME}}.")


Number = _judged(checks.number, _NUMBER)
Positive = _judged(checks.positive, {"type": "number", "exclusiveMinimum": 0})
Vector = _judged(checks.vector, _VECTOR)
Text = _judged(checks.text, _TEXT)
Flag = _judged(_true_or_false, {"type": "boolean"})
Path = _judged(checks.signals, _SIGNALS)
ScalarPath = _judged(checks.signal, _SIGNAL)
Quaternion = _judged(checks.quaternion, _QUATERNION)
Radius = _judged(checks.not_negative, {"type": "number", "minimum": 0})
Names = _judged(_names, {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]})
Inequality = {name: _judged(reader, _INEQUALITY[name]) for name, (_, reader, _) in verbs.INEQUALITY.items()}
Switch = {written(key): _judged(reader, _SWITCH[written(key)]) for key, (reader, _) in SWITCH.items()}
Inertia = _judged(checks.inertia, {"anyOf": [_NUMBER, {"type": "array", "minItems": 3, "maxItems": 3}]})
Rotation = _judged(lambda value, what: bodies.read_rotation(what, value),
                   {"type": "array", "minItems": 2, "maxItems": 2})
Shape = _judged(lambda value, what: bodies.mesh_of(value) or shapes.solid(value, 1.0, None, what), _SHAPE)
Visuals = _judged(visuals.judge, {"anyOf": [_VISUAL, {"type": "array", "items": _VISUAL}]})
Points = _judged(_points, {"type": "array", "items": _POINT})

_SCHEMAS: dict[str, dict] = {
    "number": _SIGNAL,
    "vector": _SIGNALS,
    "constant": _NUMBER,
    "constant_vector": _VECTOR,
    "quaternion": _QUATERNION,
    "numbers": _NUMBERS,
    "joint": _TEXT,
    "text": _TEXT,
    "texts": _TEXTS,
}
# One number or three can be a row of an array.
_ROWS = {"number": (), "constant": (), "vector": (3,), "constant_vector": (3,)}


def arguments_in_arrays(kind: str) -> dict[str, tuple[int, ...]]:
    """The arguments of a kind that may be arrays, with the shape of a row."""
    return {a.name: _ROWS[a.type] for a in (CONSTRAINTS | FORCES)[kind].arguments if a.type in _ROWS}


_BODIES: dict[str, dict[str, Any]] = {
    "particle": {"position": Vector, "mass": Positive, "velocity": Vector, "fixed": Flag, "path": Path,
                 "radius": Radius},
    "rigid": {
        "position": Vector, "mass": Positive, "inertia": Inertia, "shape": Shape, "density": Positive,
        "orientation": Quaternion, "velocity": Vector, "angular_velocity": Vector, "fixed": Flag,
        "path": Path, "rotation": Rotation, "radius": Radius, "planar": Flag, "visual": Visuals,
    },
    "coordinate": {"value": Number, "inertia": Radius, "rate": Number, "fixed": Flag, "path": ScalarPath},
}  # fmt: skip
PARTICLE_ROWS: dict[str, tuple[int, ...]] = {"position": (3,), "mass": (), "velocity": (3,), "fixed": (),
                                                  "radius": ()}


def _model(name: str, fields: dict[str, Any], doc: str = "", loose: bool = False) -> type[BaseModel]:
    config = ConfigDict(extra="allow" if loose else "forbid")
    return create_model(name, __config__=config, __doc__=doc or None, **fields)  # type: ignore[call-overload]


def _optional(type_: Any, doc: str | None = None) -> Any:
    return type_, Field(default=None, description=doc)


def _row_or_shared(reader: Callable[[Any, str], Any], schema: dict) -> Any:
    def judge(value: Any, what: str) -> None:
        if not (isinstance(value, str) and value.startswith(ARRAY)):
            reader(value, what)

    return _judged(judge, {"anyOf": [_ARRAY, schema]})


def _reference(value: Any, what: str) -> None:
    if not isinstance(value, str) or not value.startswith(ARRAY):
        raise TautError(f'{what} is {shown(value)}; name an array: "{ARRAY}NAME".')


Reference = _judged(_reference, _ARRAY)


def _option(option: materials.Option) -> Any:
    """The type of an option of a cloth or a solid. Null stands for "none" where that means something."""

    def read(value: Any, what: str) -> None:
        is_array = option.form == "table" and isinstance(value, str) and value.startswith(ARRAY)
        if not is_array and not (value is None and option.form == "limit"):
            option.reader(value, what)

    return _optional(_judged(read, _FORMS[option.form]), option.doc)


@cache
def entry_model(section: str, kind: str, many: bool) -> type[BaseModel]:
    """The model of one entry of `bodies`, `constraints`, `forces`, `obstacles` or `deformables`."""
    fields: dict[str, Any] = {"kind": (Literal[kind], ...)}  # type: ignore[valid-type]
    if section == "deformables":
        doc, bulk = f"A {kind} of nodes and springs.", {}
        entry_fields = {name: _option(option) for name, option in materials.OPTIONS[kind].items()}
        entry_fields["pins"] = _optional(_judged(_pins, _PINS), "vertices that are held")
    elif section == "bodies":
        doc = f"A {kind}."
        entry_fields = {name: _optional(type_) for name, type_ in _BODIES[kind].items()}
        bulk = {name: _row_or_shared(*_bulk_particle(name)) for name in PARTICLE_ROWS}
    else:
        declared = (FORCES if section == "forces" else CONSTRAINTS)[kind]
        doc = declared.doc
        need = ... if declared.points else None
        entry_fields, bulk = ({} if section == "obstacles" else {"points": (Points, need)}), {}
        for argument in declared.arguments:
            if argument.type == "function":
                continue  # a file can not hold one; scenes with functions are .py files
            reader, schema = checks.READERS[argument.type], _SCHEMAS[argument.type]
            default = ... if argument.required else None
            entry_fields[argument.name] = (_judged(reader, schema), Field(default=default, description=argument.doc))
            if argument.type in _ROWS:
                bulk[argument.name] = _row_or_shared(reader, schema)
        if section == "constraints":
            for name, type_ in Inequality.items():
                entry_fields[name] = _optional(type_, verbs.INEQUALITY[name][2])
                bulk[name] = type_
        for key in keys(section == "forces"):
            entry_fields[written(key)] = _optional(Switch[written(key)], SWITCH[key][1])
    if not many:
        return _model(kind, {**fields, "name": _optional(Text), **entry_fields}, doc)
    inner: dict[str, Any] = {"names": _optional(Reference), "prefix": _optional(Text)}
    inner |= {"points": (Reference, ...)} if section != "bodies" else {}
    inner |= {name: _optional(type_) for name, type_ in bulk.items()}
    table = _model(f"{kind}_table", inner, f"Many: {doc}")
    return _model(f"{kind}_many", {**fields, "many": (table, ...)}, f"Many: {doc}")


def _bulk_particle(name: str) -> tuple[Callable, dict]:
    readers: dict[str, tuple[Callable, dict]] = {
        "mass": (checks.positive, _NUMBER),
        "radius": (checks.not_negative, _NUMBER),
        "fixed": (_true_or_false, {"type": "boolean"}),
    }
    return readers.get(name, (checks.vector, _VECTOR))


def kinds(section: str) -> list[str]:
    """The kinds that a section's entries may have."""
    found: dict[str, list[str]] = {
        "bodies": list(_BODIES), "constraints": list(CONSTRAINTS), "forces": list(FORCES),
        "obstacles": groups.obstacle_kinds(), "deformables": list(materials.OPTIONS),
    }
    return found[section]


def can_be_many(section: str, kind: str) -> bool:
    """Particles, and the kinds with a fixed number of points."""
    if section in ("bodies", "obstacles", "deformables"):
        return kind == "particle"
    return bool((CONSTRAINTS if section == "constraints" else FORCES)[kind].points)


def _version(value: Any, what: str) -> None:
    if isinstance(value, bool) or value != VERSION:
        raise TautError(f"{what} is {shown(value)}; this taut reads the format {VERSION}.")


Reduced = _model(
    "reduced",
    {
        "coordinates": (dict[str, Any] | list[str], ...),
        "positions": _optional(dict[str, Any], "of bodies: three formulas each"),
        "turns": _optional(dict[str, Any], "of rigid bodies: a list of [axis, angle]"),
        "kinetic": _optional(Text, "T(q, q̇, t) of what no body stands for, rates as theta.v"),
    },
)
Suggested = _model(
    "suggested",
    {"dt": _optional(Positive), "duration": _optional(Positive), "method": _optional(Text), "start": _optional(Text)},
    loose=True,
)
Contacts = _model(
    "contacts",
    {
        "name": _optional(Text),
        "first": (Names, Field(description="bodies")),
        "second": _optional(Names, "bodies and obstacles; without it all pairs inside `first`"),
        **{name: _optional(Inequality[name], verbs.INEQUALITY[name][2]) for name in ("restitution", "friction")},
        **{written(key): _optional(Switch[written(key)], SWITCH[key][1]) for key in keys(is_force=False)},
    },
    "Who touches whom.",
)
SECTIONS = ("bodies", "constraints", "forces", "obstacles", "deformables")  # whose entries have a kind
Header = _model(
    "scene",
    {
        "taut": (_judged(_version, {"const": VERSION}), Field(description="version of this format")),
        "name": _optional(Text),
        "gravity": _optional(Vector, "acceleration [m/s²]; default [0, -9.81, 0]"),
        "arrays": _optional(Text, "an .npz file beside this one"),
        "visual": _optional(Visuals, "what stands in the world and is only seen"),
        **{section: (list[dict[str, Any]], Field(default_factory=list)) for section in (*SECTIONS, "contacts")},
        "reduced": _optional(Reduced | None),
        "suggested": _optional(Suggested | None),
    },
    "A scene of taut.",
)
Loops = _model(
    "loops",
    {
        "positions": _optional(dict[str, Number] | None, "of joints at the start"),  # type: ignore[valid-type]
        "velocities": _optional(dict[str, Number] | None, "of joints at the start"),  # type: ignore[valid-type]
        "base": _optional(Text, "fixed or floating"),
        "joints": _optional(list[dict[str, Any]] | None, "that close loops, as constraints are written"),
        "motors": _optional(list[dict[str, Any]] | None, "of joints, as motors are written in scene files"),
    },
    "NAME.loops.yaml beside NAME.urdf: what URDF can not say.",
)


def schema() -> dict[str, Any]:
    """The JSON schema of scene files."""
    whole = Header.model_json_schema()
    for section in SECTIONS:
        models = [entry_model(section, kind, False) for kind in kinds(section)]
        models += [entry_model(section, kind, True) for kind in kinds(section) if can_be_many(section, kind)]
        parts = [model.model_json_schema() for model in models]
        for part in parts:
            whole["$defs"] |= part.pop("$defs", {})
        whole["properties"][section] = {"type": "array", "items": {"anyOf": parts}}
    whole["properties"]["contacts"] = {"type": "array", "items": Contacts.model_json_schema()}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole}
