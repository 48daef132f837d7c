"""Writes a scene as YAML, with long runs of alike things as arrays in an .npz file beside it.

What is read back equals what was written, to the last bit. Files appear whole or not at all: they are
written under another name first, and then renamed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from ..constraints import KINDS as CONSTRAINTS
from ..errors import TautError, present, shown
from ..expressions import Signal
from ..forces import KINDS as FORCES
from . import checks
from .bodies import read_radius
from .pins import Pin, plain_pin
from .scene import Scene
from .specs import Body, Constraint, Deformable, Force, Group, Obstacle, Point
from .switches import plain as plain_switch
from .visuals import Visual

_MANY = 200  # things in a scene from which on arrays are worth a second file
_LONG = 20  # alike things in a row from which on a table is easier to read than entries
# The types of argument that can be a column of a table.
_COLUMNS = ("number", "vector", "constant", "constant_vector")


def save(scene: Scene, path: str | Path, arrays: bool | str = "auto", overwrite: bool = False) -> Path:
    """Write the scene to path (.yaml); arrays: "auto", or True or False to force or forbid the .npz file."""
    path = Path(path)
    if path.suffix not in (".yaml", ".yml"):
        raise TautError(f"'{path}' is not a name for a scene file; let it end in .yaml.")
    if not isinstance(arrays, bool) and (not isinstance(arrays, str) or arrays != "auto"):
        raise TautError(f"arrays is {shown(arrays)}; choose 'auto', True or False.")
    records: tuple[Any, ...] = (*scene.bodies.values(), *scene.constraints.values(), *scene.forces.values())
    rows = [len(value) for deformable in scene.deformables.values() for value in _arrays_of(deformable).values()]
    seen = (*scene.visual, *(one for body in scene.bodies.values() for one in body.visual))
    rows += [0 if one.vertices is None else len(one.vertices) for one in seen]
    size = sum(record.owner is None for record in records) + sum(rows)
    use_arrays = size > _MANY if arrays == "auto" else bool(arrays)
    beside = path.with_suffix(".npz")
    shortest = (_LONG if arrays == "auto" else 2) if use_arrays else None
    document, columns = _document(scene, path, beside.name, shortest)
    files: dict[Path, Callable[[Any], None]] = {}
    if columns:
        files[beside] = lambda file: np.savez_compressed(file, **columns)  # type: ignore[arg-type]
    files[path] = lambda file: _write_yaml(document, file)  # last: it refers to the other
    for target in files:
        if target.exists() and not overwrite:
            raise TautError(f"'{target}' exists; choose another name or pass overwrite=True.")
    _write_whole(files)
    return path


def _write_whole(files: dict[Path, Callable[[Any], None]]) -> None:
    drafts = {target: target.with_name(f".{target.name}.{os.getpid()}.part") for target in files}
    target = next(iter(files))
    try:
        for target, write in files.items():
            with open(drafts[target], "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
        for target, draft in drafts.items():
            os.replace(draft, target)
    except OSError as problem:
        raise TautError(f"'{target}' can not be written: {problem.strerror or problem}; give another path, or make "
                        "its folder first.") from None
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


def _write_yaml(document: dict[str, Any], file: Any) -> None:
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap, CommentedSeq
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    def styled(value: Any, depth: int) -> Any:
        """Lists of entries one below the other, each entry on a line of its own."""
        node: Any
        if isinstance(value, dict):
            node = CommentedMap((key, styled(item, depth + 1)) for key, item in value.items())
        elif isinstance(value, list | tuple):
            node = CommentedSeq(styled(item, depth + 1) for item in value)
        elif isinstance(value, str) and value[:1] in ("?", ":", "-"):
            return DoubleQuotedScalarString(value)  # the library writes them as they are, and reads something else
        else:
            return value
        if depth > 1 or not any(isinstance(item, dict) for item in value):
            node.fa.set_flow_style()
        return node

    yaml = YAML(typ="rt")
    yaml.width = 2**30  # folding a long text would lose its double spaces
    yaml.allow_unicode = True
    top = CommentedMap((key, styled(item, 1)) for key, item in document.items())
    yaml.dump(top, file)


Columns = dict[str, np.ndarray]


def _document(scene: Scene, path: Path, beside: str, shortest: int | None) -> tuple[dict[str, Any], Columns]:
    """The file's contents, and the arrays that go beside it; runs below `shortest` stay entries."""
    columns: Columns = {}
    order = {name: i for i, name in enumerate(scene.bodies)}
    document: dict[str, Any] = {"taut": 1, "name": scene.name, "gravity": list(scene.gravity)}
    records: dict[str, list[Any]] = {
        "bodies": [body for body in scene.bodies.values() if body.owner is None],
        "constraints": [constraint for constraint in scene.constraints.values() if constraint.owner is None],
        "forces": [force for force in scene.forces.values() if force.owner is None],
        "obstacles": list(scene.obstacles.values()),
    }
    sections: dict[str, list[dict[str, Any]]] = {}
    for section, listed in records.items():
        entries: list[dict[str, Any]] = []
        for key, run in groupby(listed, _alike if shortest is not None else lambda record: None):
            alike = list(run)
            if key is None or shortest is None or len(alike) < shortest:
                entries += [_entry(record) for record in alike]
            else:
                entries.append(_table(alike, f"{section}_{len(entries)}", order, columns))
        if entries:
            sections[section] = entries
    held = columns if shortest is not None else None
    for i, entry in enumerate(sections.get("bodies", ())):
        if "visual" in entry:
            entry["visual"] = _visuals(entry["visual"], f"bodies_{i}_visual", held)
    if scene.visual:
        document["visual"] = _visuals(scene.visual, "visual", held)
    if scene.deformables:
        sections["deformables"] = [_deformable_entry(deformable, f"deformables_{i}", path, held)
                                   for i, deformable in enumerate(scene.deformables.values())]
    if scene.groups:
        sections["contacts"] = [_group_entry(group) for group in scene.groups.values()]
    if columns:
        document["arrays"] = beside
    document |= sections
    if scene.reduced_map is not None:
        document["reduced"] = {
            "coordinates": {name: [value, rate] for name, value, rate in scene.reduced_map.coordinates},
            "positions": {name: list(three) for name, three in scene.reduced_map.positions.items()},
        }
        if scene.reduced_map.turns:
            document["reduced"]["turns"] = {
                name: [[list(axis), angle] for axis, angle in turns] for name, turns in scene.reduced_map.turns.items()
            }
        if scene.reduced_map.kinetic:
            document["reduced"]["kinetic"] = scene.reduced_map.kinetic
    if scene.suggested:
        document["suggested"] = dict(scene.suggested)
    return document, columns


# Entries


def _entry(record: Body | Constraint | Force | Obstacle) -> dict[str, Any]:
    return _body_entry(record) if isinstance(record, Body) else _kind_entry(record)


def _body_entry(body: Body) -> dict[str, Any]:
    entry: dict[str, Any] = {"kind": body.kind, "name": body.name}
    scalar = body.kind == "coordinate"
    if body.path is not None:
        path = [signal.plain() for signal in body.path]
        entry["path"] = path[0] if scalar else path
    else:
        entry["value" if scalar else "position"] = body.position[0] if scalar else list(body.position)
    if scalar or body.kind == "particle":
        entry |= _unless(1.0, {"inertia" if scalar else "mass": body.mass})
    else:
        entry |= {"mass": body.mass, "inertia": _inertia(body)}
        entry |= {"shape": {body.shape[0]: list(body.shape[1])}} if body.shape is not None else {}
        entry |= _unless([1.0, 0.0, 0.0, 0.0], {"orientation": list(body.orientation)})
        entry |= _unless(False, {"planar": body.planar})
        entry |= {"visual": body.visual} if body.visual else {}
    if body.motion == "free":
        if scalar:
            entry |= _unless(0.0, {"rate": body.velocity[0]})
        else:
            entry |= _unless([0.0, 0.0, 0.0], {"velocity": list(body.velocity)})
            entry |= _unless([0.0, 0.0, 0.0], {"angular_velocity": list(body.angular_velocity)})
    if body.rotation is not None:
        entry["rotation"] = [list(body.rotation[0]), body.rotation[1].plain()]
    if body.motion == "fixed":
        entry["fixed"] = True
    # A sphere's own radius is what its shape says, unless another is given.
    return entry | _unless(read_radius("", None, body.shape), {"radius": body.radius})


def _unless(default: Any, value: dict[str, Any]) -> dict[str, Any]:
    """Nothing where the value is the default to the last bit: -0.0 is written."""
    return {} if repr(next(iter(value.values()))) == repr(default) else value


def _inertia(body: Body) -> list[Any]:
    rows = present(body.inertia, "the inertia of a rigid body")
    across = [rows[i][j] for i in range(3) for j in range(3) if i != j]
    return [rows[i][i] for i in range(3)] if not any(across) else [list(row) for row in rows]


def _arrays_of(deformable: Deformable) -> Columns:
    return {key: value for key, value in deformable.arguments.items() if isinstance(value, np.ndarray)}


def _deformable_entry(deformable: Deformable, label: str, path: Path, columns: Columns | None) -> dict[str, Any]:
    """A cloth or a solid as it was written; its arrays go beside the file where there are `columns` for them."""
    entry: dict[str, Any] = {"kind": deformable.kind, "name": deformable.name}
    for key, value in deformable.arguments.items():
        entry[key] = value if not isinstance(value, tuple) else _plain(value, f"{deformable.kind} '{deformable.name}'")
    for key, array in _arrays_of(deformable).items():
        entry[key] = array.tolist()
        if columns is not None:
            columns[f"{label}_{key}"] = array
            entry[key] = f"array:{label}_{key}"
    if "mesh" in entry and Path(entry["mesh"]).is_relative_to(path.parent.resolve()):
        entry["mesh"] = Path(entry["mesh"]).relative_to(path.parent.resolve()).as_posix()
    if deformable.pins:
        entry["pins"] = [plain_pin(Pin(*pin)) for pin in deformable.pins.items()]
    return entry


def _visuals(seen: Iterable[Visual], label: str, columns: Columns | None) -> list[dict[str, Any]]:
    """What is only seen; its meshes go beside the file where there are `columns` for them."""
    entries = [one.plain() for one in seen]
    for i, entry in enumerate(entries):
        for key, array in entry.items():
            if isinstance(array, np.ndarray):
                entry[key] = array.tolist()
                if columns is not None:
                    columns[f"{label}_{i}_{key}"] = array
                    entry[key] = f"array:{label}_{i}_{key}"
    return entries


def _group_entry(group: Group) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": group.name, "first": [*group.first, *group.deformables]}
    if group.bodies is not None:
        entry["second"] = [*group.bodies, *group.other_deformables, *group.obstacles]
    surface = _unless(0.0, {"restitution": group.restitution}) | _unless(0.0, {"friction": group.friction})
    return entry | surface | plain_switch(group.switch)


def _kind_entry(record: Constraint | Force | Obstacle) -> dict[str, Any]:
    points = [] if isinstance(record, Obstacle) else [_plain_point(point) for point in record.points]
    entry = {"kind": record.kind, "name": record.name} | ({"points": points} if points else {})
    for argument in _arguments(record):
        entry[argument.name] = _plain(record.arguments[argument.name], f"{record.kind} '{record.name}'")
    return entry | _inequality(record) | plain_switch(record.switch)


def _inequality(record: Constraint | Force | Obstacle) -> dict[str, Any]:
    """What makes a constraint an inequality, where it is not the kind's own way."""
    if not isinstance(record, Constraint):
        return {}
    sense = {} if record.sense == CONSTRAINTS[record.kind].sense else {"sense": record.sense}
    return sense | _unless(0.0, {"restitution": record.restitution}) | _unless(0.0, {"friction": record.friction})


def _arguments(record: Constraint | Force | Obstacle) -> list[Any]:
    """The arguments that were given: neither left to taut nor equal to their default."""
    given = []
    for argument in (CONSTRAINTS | FORCES)[record.kind].arguments:
        value = record.arguments[argument.name]
        if value is None:
            continue
        default = argument.default
        if default is None or repr(checks.READERS[argument.type](default, "")) != repr(value):
            given.append(argument)
    return given


def _plain_point(point: Point) -> Any:
    if point.body is None:
        return list(point.offset)
    return {"body": point.body, "offset": list(point.offset)} if any(point.offset) else point.body


def _plain(value: Any, what: str) -> Any:
    if isinstance(value, Signal):
        return value.plain()
    if isinstance(value, tuple):
        return [_plain(item, what) for item in value]
    if callable(value):
        raise TautError(f"{what}: a Python function can not be written to a scene file; use a formula, or "
                        "keep the scene as a .py file.")
    return value


# Tables


def _alike(record: Body | Constraint | Force | Obstacle) -> tuple | None:
    """What things in one table have in common; None for a thing that needs an entry of its own."""
    if isinstance(record, Obstacle):
        return None
    if isinstance(record, Body):
        return ("particle",) if record.kind == "particle" and record.path is None else None
    kind = (CONSTRAINTS | FORCES)[record.kind]
    if record.switch is not None:
        return None
    if not kind.points or any(point.body is None or any(point.offset) for point in record.points):
        return None
    if any(a.type not in _COLUMNS or not _constant(record.arguments[a.name]) for a in _arguments(record)):
        return None
    return record.kind, len(record.points), *_inequality(record).items()


def _constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_constant(item) for item in value)
    return value.is_constant if isinstance(value, Signal) else True


def _table(alike: list[Any], label: str, order: dict[str, int], columns: Columns) -> dict[str, Any]:
    first = alike[0]
    rows: Columns = {"names": np.array([record.name for record in alike])}
    if isinstance(first, Body):
        rows["position"] = np.array([body.position for body in alike])
        rows["mass"] = np.array([body.mass for body in alike])
        rows["velocity"] = np.array([body.velocity for body in alike])
        rows["fixed"] = np.array([body.motion == "fixed" for body in alike])
        if any(body.radius for body in alike):
            rows["radius"] = np.array([body.radius for body in alike])
    else:
        rows["points"] = np.array([[order[point.body] for point in record.points] for record in alike])
        for argument in (CONSTRAINTS | FORCES)[first.kind].arguments:
            if argument.type in _COLUMNS:
                rows[argument.name] = _column([record.arguments[argument.name] for record in alike])
    table: dict[str, Any] = {} if isinstance(first, Body) else _inequality(first)
    for key, column in rows.items():
        if key not in ("names", "points", "position") and _same(column):
            if column.dtype == bool or np.isfinite(column[0]).all():
                table[key] = column[0].tolist()
        else:
            columns[f"{label}_{key}"] = column
            table[key] = f"array:{label}_{key}"
    return {"kind": first.kind, "many": table}


def _column(values: list[Any]) -> np.ndarray:
    """Numbers or vectors as rows; one that was left to taut is NaN."""
    blank = [np.nan] * 3 if any(isinstance(value, tuple) for value in values) else np.nan
    return np.array([blank if value is None else _plain(value, "") for value in values])


def _same(column: Iterable[Any]) -> bool:
    rows = [row.tobytes() for row in np.asarray(column)]
    return all(row == rows[0] for row in rows)
