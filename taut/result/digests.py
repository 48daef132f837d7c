"""Short digests: of the bytes of a stored run, and of the scene and the plan that it belongs to.

Bytes are checked by CRC-32, which notices every single flipped bit; what a chunk or an event is (its array and its
number) goes in first, so that two of them can not change places. Whole files that are written once are known by their
SHA-256. Each thing of a scene has a digest of its own, so that a refusal can say what differs.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import zlib
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from ..constraints import KINDS as CONSTRAINTS
from ..forces import KINDS as FORCES
from ..scene.scene import Scene

# Keys of run.info that make a run what it is: a resumed run takes them from the header.
PLAN = ("method", "dt", "steps", "record_every", "solver", "tolerance", "project_initial", "repair", "options",
        "settings")  # fmt: skip
_THINGS = {"bodies": "body", "constraints": "constraint", "forces": "force", "obstacles": "obstacle",
           "groups": "contact group", "deformables": "deformable"}  # fmt: skip
_LISTED = 5
_KINDS: dict[Any, Any] = {**FORCES, **CONSTRAINTS}


def of_file(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def of_chunk(name: str, number: int, values: np.ndarray) -> int:
    """CRC-32 of the chunk of that number of an array; values [any unit], (records, …)."""
    return zlib.crc32(np.ascontiguousarray(values, "<f8").data, zlib.crc32(f"{name} {number}".encode()))


def of_events(first: int, events: np.ndarray) -> np.ndarray:
    """CRC-32 of each row of events (n, columns), the first of which has the number `first`."""
    rows = np.ascontiguousarray(events, "<f8")
    return np.array([zlib.crc32(row.data, first + k) for k, row in enumerate(rows)], "<u8")


# Scenes and plans


def of_plan(info: dict[str, Any]) -> dict[str, str]:
    return {key: _short(json.dumps(info[key], sort_keys=True, default=str)) for key in PLAN if key in info}


def of_scene(scene: Scene) -> dict[str, dict[str, str]]:
    """Digests by kind of thing and name; names, hints and places in files do not take part."""
    whole = {"gravity": _short(_canonical_text(scene.gravity)), "reduced": _short(_canonical_text(scene.reduced_map))}
    found = {"scene": whole}
    for section in _THINGS:
        found[section] = {
            name: _short(_deformable(scene, thing) if section == "deformables" else _canonical_text(_original(thing)))
            for name, thing in getattr(scene, section).items()
            if getattr(thing, "owner", None) is None  # a deformable's own follow from it
        }
    return found


def differences(stored: dict[str, Any], now: dict[str, Any], old: Scene | None, new: Scene | None) -> str:
    """What differs between two results of `of_scene`, in words; with both scenes also by which values."""
    found = [f"{name} differs" for name, digest in stored["scene"].items() if now["scene"].get(name) != digest]
    for section, word in _THINGS.items():
        before, after = stored.get(section, {}), now.get(section, {})
        found += [f"{word} '{name}' is missing" for name in before if name not in after]
        found += [f"{word} '{name}' is new" for name in after if name not in before]
        changed = [name for name in before if name in after and before[name] != after[name]]
        found += [f"{word} '{name}' differs{_values(section, name, old, new)}" for name in changed]
        if not found and list(before) != list(after):
            found.append(f"the order of {section} differs")
    more = f", and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return ", ".join(found[:_LISTED]) + more


def _values(section: str, name: str, old: Scene | None, new: Scene | None) -> str:
    """ (mass 2.0, was 1.0)"""
    if old is None or new is None or section == "deformables":
        return ""
    before, after = getattr(old, section)[name], getattr(new, section)[name]
    told = []
    for f in fields(before):
        if not f.compare:
            continue
        was, is_now = getattr(before, f.name), getattr(after, f.name)
        if f.name == "arguments" and was.keys() == is_now.keys():
            told += [(key, was[key], is_now[key]) for key in was if was[key] != is_now[key]]
        elif was != is_now:
            told.append((f.name, was, is_now))
    return f" ({', '.join(f'{key} {_plain(b)}, was {_plain(a)}' for key, a, b in told[:3])})" if told else ""


def _plain(value: Any) -> str:
    source = getattr(value, "source", value)  # of a Signal
    text = str([_plain(item) for item in source]) if isinstance(source, tuple) else str(source)
    return text.replace("'", "")[:60]


def _short(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _original(thing: Any) -> Any:
    """Without arguments that were added to its kind later, where they are not given: stored runs know none of them."""
    declared = getattr(_KINDS.get(getattr(thing, "kind", None)), "arguments", ())
    late = {a.name for a in declared if a.later and thing.arguments.get(a.name) is None}
    return replace(thing, arguments={k: v for k, v in thing.arguments.items() if k not in late}) if late else thing


def _canonical_text(value: Any) -> str:
    """A text that is the same for equal things: numbers to the last bit, functions by their source."""
    if is_dataclass(value) and not isinstance(value, type):
        parts = [(f, getattr(value, f.name)) for f in fields(value)
                 if f.compare and not f.metadata.get("only_seen")]
        value = [part for f, part in parts if part or not f.metadata.get("later")]
    text = repr(value)
    return repr(_without_addresses(value)) if " at 0x" in text else text


def _without_addresses(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return [_without_addresses(getattr(value, f.name)) for f in fields(value) if f.compare]
    if isinstance(value, dict):
        return {key: _without_addresses(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_without_addresses(item) for item in value]
    if not callable(value):
        return value
    function = getattr(value, "py_func", value)
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # typed at a prompt: the name is all that is left of it
        return getattr(function, "__qualname__", type(function).__qualname__)


def _deformable(scene: Scene, deformable: Any) -> str:
    """A deformable by what was written and by the mesh that was made of it; a mesh's file may have moved."""
    written = {key: value for key, value in deformable.arguments.items() if key != "mesh"}
    arrays = {key: value for key, value in written.items() if isinstance(value, np.ndarray)}
    arrays |= {"edges": deformable.edges, "lengths": deformable.lengths}
    arrays["places"] = np.array([scene.bodies[deformable.node(i)].position for i in range(deformable.count)])
    sums = {key: zlib.crc32(np.ascontiguousarray(value, float).tobytes()) for key, value in arrays.items()}
    plain = {key: value for key, value in written.items() if key not in arrays}
    return _canonical_text([deformable.kind, plain, deformable.pins, sums])
