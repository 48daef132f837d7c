"""run.json: what a stored run is, checked before anything relies on it."""

from __future__ import annotations

import json
from math import isfinite, prod
from pathlib import Path
from typing import Any

from ..errors import TautError
from .digests import PLAN
from .files import Unreadable, read_whole
from .labels import Labels
from .records import ENERGIES

FORMAT = 2  # 1: without checksums
NAME = "run.json"
LARGEST = 2**53  # of whole numbers
# Of one record; 0: as many as the scene has.
SHAPES = {"time": (), "x": (0, 3), "quat": (0, 4), "v": (0, 3), "lam": (0,), "phi": (0,), "rate": (0,), "energy": (0,),
          "slide": (0, 2), "contact_force": (0, 3), "contacts": (0,), "coordinates": (2, 0)}  # fmt: skip
OPTIONAL = {"coordinates"}  # arrays that only runs have which need them


def read_header(path: Path, name: str = NAME) -> tuple[dict[str, Any], bytes]:
    """The header, and the bytes that it was read from."""
    if not path.exists():
        raise TautError(f"there is no stored run '{path}'; check the path.")
    if not path.is_dir() or not (path / name).exists():
        raise TautError(f"'{path}' is not a stored run; give a folder that simulate(out=...) wrote.")
    try:
        data = read_whole(path / name)
    except Unreadable as reason:
        raise damaged(path, f"{name} can not be read ({reason})") from None
    header = parsed(data)
    if header is None:
        raise TautError(f"'{path}' is not a stored run, or damaged: {name} is no JSON; see taut verify {path}.")
    version: Any = header.get("taut_run")
    if not _whole(version, 1):
        raise TautError(f"'{path}' is not a stored run: {name} has no 'taut_run'; give a folder that taut wrote.")
    if version > FORMAT:
        raise TautError(f"'{path}' has format {version} of a newer taut; update taut.")
    fault = fault_of(header)
    if fault:
        raise damaged(path, f"{name}: {fault}")
    return header, data


def is_run(path: Path) -> bool:
    """Whether a folder is one of ours, sound or not."""
    try:
        header = parsed(read_whole(path / NAME))
    except Unreadable:
        return False
    return header is not None and isinstance(header.get("taut_run"), int)


def damaged(path: Path, what: str) -> TautError:
    return TautError(
        f"'{path}' is damaged: {what}. `taut verify {path}` says what is sound; taut.open(path, recover=True) reads "
        f"that, and `taut run --resume {path} --recover` goes on from it."
    )


def parsed(data: bytes) -> dict[str, Any] | None:
    try:
        header = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return header if isinstance(header, dict) else None


def fault_of(header: dict[str, Any]) -> str | None:
    """What is wrong with a header that says it is one."""
    wanted: dict[str, type] = {"shapes": dict, "info": dict, "labels": dict, "scene": dict}
    if header["taut_run"] > 1:
        wanted |= {"arrays": dict, "files": dict, "digests": dict}
    for key, kind in wanted.items():
        if not isinstance(header.get(key), kind):
            return f"'{key}' is {'missing' if key not in header else 'no ' + kind.__name__}"
    if not _whole(header.get("records"), 0) or not _whole(header.get("chunk"), 1):
        return "'records' or 'chunk' is not a whole number"
    shapes = header["shapes"]
    if shapes.keys() | OPTIONAL != SHAPES.keys():
        return "'shapes' does not name the arrays of a run"
    for name, shape in shapes.items():
        if not isinstance(shape, list) or not all(_whole(n, 0) for n in shape) or prod(shape) > 2**40:
            return f"the shape of '{name}' is {shape!r}"
        if len(shape) != len(SHAPES[name]) or any(n not in (0, m) for n, m in zip(SHAPES[name], shape)):
            return f"the shape of '{name}' is {shape!r}"
    if shapes["energy"][0] not in (3, ENERGIES):  # 3: of versions that kept no more
        return f"the shape of 'energy' is {shapes['energy']!r}"
    if shapes["x"] != shapes["v"] or not shapes["lam"] == shapes["phi"] == shapes["rate"]:
        return "'shapes' has arrays of different lengths for one thing"
    if not isinstance(header["scene"].get("saved"), bool):
        return "'scene' does not say whether the scene was saved"
    info = header["info"]
    if not isinstance(info.get("versions", {}), dict):
        return "'info' has versions that are no dictionary"
    if not _number(info.get("dt", 1.0)) or not _whole(info.get("record_every", 1), 1):
        return "'info' has a 'dt' or a 'record_every' that is no number"
    return _fault_of_labels(header["labels"], shapes)


def fault_of_plan(plan: dict[str, Any]) -> str | None:
    """What is wrong with the plan of a run that is to go on."""
    for key in PLAN:
        if key not in plan:
            return f"'{key}' is missing"
    right = {
        "dt": _number(plan["dt"]) and plan["dt"] > 0, "steps": _whole(plan["steps"], 1),
        "record_every": _whole(plan["record_every"], 1), "options": isinstance(plan["options"], dict),
        "settings": isinstance(plan["settings"], dict),
        "method": isinstance(plan["method"], str), "solver": isinstance(plan["solver"], str),
        "tolerance": plan["tolerance"] is None or _number(plan["tolerance"]),
    }  # fmt: skip
    wrong = [key for key, fine in right.items() if not fine]
    return f"'{wrong[0]}' is {plan[wrong[0]]!r}" if wrong else None


def _fault_of_labels(data: dict[str, Any], shapes: dict[str, list[int]]) -> str | None:
    try:
        labels = Labels.from_json(data)
        slots, rigid, rows = shapes["x"][0], shapes["quat"][0], shapes["lam"][0]
        for body in labels.bodies:
            turning = body.kind == "rigid"
            if not isinstance(body.name, str) or body.kind not in ("particle", "rigid", "coordinate"):
                return f"'labels' has a body {body.name!r} of kind {body.kind!r}"
            if not _whole(body.slot, 0) or body.slot + turning >= slots or not isinstance(body.mass, int | float):
                return f"'labels' has no right place or mass for body '{body.name}'"
            to_principal: Any = body.to_principal
            if turning and not (_whole(body.quat, 0) and body.quat < rigid and to_principal.shape == (4,)):
                return f"'labels' has no right orientation for body '{body.name}'"
        for constraint in labels.constraints:
            if not all(isinstance(word, str) for word in (constraint.name, constraint.unit, constraint.sense)):
                return f"'labels' has a constraint {constraint.name!r}"
            if not all(_whole(row, 0) and row < rows for row in constraint.rows):
                return f"'labels' has no right rows for constraint '{constraint.name}'"
            if not {*constraint.levels} <= {"position", "velocity"}:
                return f"'labels' has no right level for constraint '{constraint.name}'"
        wrong = len(labels.inertia) < rigid or len(labels.edges) != len(labels.lengths)
        if wrong or (labels.edges < 0).any() or (labels.edges >= slots).any() or not isinstance(labels.scene, str):
            return "'labels' does not fit the shapes of the run"
        wrong = not all(isinstance(name, str) for name in labels.coordinates)
        if wrong or shapes.get("coordinates", [2, 0]) != [2, len(labels.coordinates)]:
            return "'labels' does not name the reduced coordinates of the run"
        if len(labels.edges) and shapes["contacts"] != [3]:
            return "'labels' has cloth, and the shapes of the run have none"
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as problem:
        return f"'labels' can not be read ({type(problem).__name__}: {problem})"
    return None


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < LARGEST


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
