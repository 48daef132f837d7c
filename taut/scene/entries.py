"""A YAML file being read: each entry judged by its model, and all mistakes told together with line and column."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TautError, shown, unknown
from .document import parse, place_of, plain_data
from .scene import Scene
from .synonyms import meant, unknown_argument

if TYPE_CHECKING:
    from pydantic import BaseModel


FUNCTIONS = ("function", "velocity_function")  # arguments that no file can hold
_LISTED = 50  # mistakes that are told one by one
# What to write where the YAML has another type.
_WANTED = {
    "list_type": "a list, each entry after a dash",
    "dict_type": "keys and values, such as {kind: particle, position: [0, 0, 0]}",
    "model_type": "keys and values",
    "model_attributes_type": "keys and values",
}


class Entries:
    """The data of a file, and the mistakes found in it so far."""

    def __init__(self, path: Path, holds: str = "keys, beginning with 'taut: 1'") -> None:
        """holds: what is to stand in it."""
        self.path = path
        self.tree = parse(path, holds)
        self.data = plain_data(self.tree, path)
        self.mistakes: list[tuple[tuple[int, int], str]] = []

    def judge_entry(self, section: str, path: tuple, entry: Any) -> None:
        """An entry of a section of scene files, that stands where the path says."""
        from . import format

        if not isinstance(entry, dict):
            return  # the header's model has said so
        kind = entry.get("kind")
        known = format.kinds(section)
        if not isinstance(kind, str) or kind not in known:
            problem = _unknown_kind(kind, section, known) if kind is not None else "missing key 'kind'."
            self.add_problem(path + (("kind",) if "kind" in entry else ()), str(problem))
            return
        many = "many" in entry
        if many and not format.can_be_many(section, kind):
            self.add_problem((*path, "many"), f"a {kind} can not be given as many; write one entry for each.")
            return
        self.judge(format.entry_model(section, kind, many), entry, path)

    def judge(self, model: type[BaseModel], data: Any, path: tuple) -> None:
        from pydantic import ValidationError

        try:
            model.model_validate(data)
        except ValidationError as found:
            for mistake in found.errors(include_url=False):
                where = path + mistake["loc"]
                if mistake["type"] == "extra_forbidden":
                    allowed = _fields_at(model, mistake["loc"][:-1])
                    self.add_problem(where, _unknown_key(str(where[-1]), allowed), at_key=True)
                elif mistake["type"] == "missing":
                    hint = "; begin with 'taut: 1'" if where == ("taut",) else ""
                    self.add_problem(where[:-1], f"missing key '{where[-1]}'{hint}.")
                elif mistake["type"] in _WANTED:
                    self.add_problem(where, f"value is {shown(mistake['input'])}; give {_WANTED[mistake['type']]}.")
                else:
                    self.add_problem(where, mistake["msg"].removeprefix("Value error, "))

    def collecting(self, scene: Scene, path: tuple) -> _Collecting:
        return _Collecting(self, scene, path)

    def add_problem(self, path: tuple, problem: str, at_key: bool = False) -> None:
        place = f" {spoken_path(path)}:" if path else ""
        line, column = place_of(self.tree, path, at_key)
        self.mistakes.append(((line, column), f"{self.path}:{line}:{column}:{place} {problem}"))

    def mark(self, path: tuple) -> str:
        """file:line:column of what the path leads to."""
        line, column = place_of(self.tree, path)
        return f"{self.path}:{line}:{column}"

    def stop_if_mistaken(self) -> None:
        told = [text for _, text in sorted(self.mistakes)]
        if len(told) == 1:
            raise TautError(told[0])
        if told:
            more = [f"and {len(told) - _LISTED} more"] if len(told) > _LISTED else []
            raise TautError(f"{self.path}: {len(told)} mistakes\n  " + "\n  ".join([*told[:_LISTED], *more]))


class _Collecting:
    """Adds an entry to the scene; a mistake is noted with its place, and the reading goes on."""

    def __init__(self, reader: Entries, scene: Scene, path: tuple):
        self.reader, self.scene, self.path = reader, scene, path

    def __enter__(self) -> None:
        self.scene.set_place(self.reader.mark(self.path))

    def __exit__(self, kind: Any, mistake: BaseException | None, trace: Any) -> bool:
        self.scene.set_place(None)
        if not isinstance(mistake, TautError):
            return False
        self.reader.add_problem(self.path, str(mistake))
        return True


def spoken_path(path: tuple) -> str:
    """("constraints", 3, "length") as constraints[3].length"""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def _fields_at(model: Any, path: tuple) -> list[str]:
    for step in path:
        model = model.model_fields[step].annotation
        model = next((m for m in getattr(model, "__args__", ()) if hasattr(m, "model_fields")), model)
    return list(model.model_fields)


def _unknown_kind(kind: Any, section: str, known: list[str]) -> str:
    """The message for a kind that a section does not have: what it is called here, and under which section."""
    from . import format

    name = (meant(kind, known) or meant(kind)) if isinstance(kind, str) else None
    where = next((other for other in format.SECTIONS if name in format.kinds(other)), None)
    if name is None or where is None:
        return str(unknown("kind", kind, known))
    if kind == name:
        return f"'{kind}' does not belong here; put it under {where}:."
    under = "" if name in known else f", under {where}:"
    return f"unknown kind '{kind}'; here it is '{name}'{under}."


def _unknown_key(key: str, allowed: list[str]) -> str:
    """The message for a key that an entry does not have; Python functions can stand in no file."""
    if key in FUNCTIONS:
        return (f"'{key}' is a Python function, which no file holds; write a formula, or load the file and add it in "
                "Python.")
    return str(unknown_argument(key, allowed, "key"))


def in_python(entry: dict) -> dict:
    """The entry with `from`, a word of Python's own, as it is written there."""
    if "from" in entry:
        entry["from_"] = entry.pop("from")
    return entry
