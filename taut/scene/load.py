"""Scene files: YAML, with bulk data in an .npz file beside it. `format.py` says what may stand where.

Mistakes are collected and told together, each as file:line:column, the path in the file, the value and
the remedy. First the shape of the whole file is judged; then bodies are added to a scene; then what
refers to them. A stage with mistakes ends the reading, since the next would only repeat them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import limits
from ..arguments import checked
from ..errors import TautError, shown, unknown
from .document import parse, place_of, plain_data
from .scene import Scene
from .synonyms import meant, unknown_argument

if TYPE_CHECKING:
    from pydantic import BaseModel


ROBOTS = (".urdf", ".xml")
FUNCTIONS = ("function", "velocity_function")  # arguments that no file can hold
_LISTED = 50  # mistakes that are told one by one
# What to write where the YAML has another type.
_WANTED = {
    "list_type": "a list, each entry after a dash",
    "dict_type": "keys and values, such as {kind: particle, position: [0, 0, 0]}",
    "model_type": "keys and values",
    "model_attributes_type": "keys and values",
}


@checked
def load(path: str | Path, allow_outside: bool = False) -> Scene:
    """Read a scene file (.yaml), or a robot (.urdf, .xml of MuJoCo). It is data: nothing in it is executed.

    allow_outside  whether the meshes and arrays that it names may lie outside of its folder
    """
    path = Path(path)
    if path.suffix in ROBOTS:
        from .robots import load_robot

        return load_robot(path)
    if path.suffix == ".py":
        raise TautError(f"'{path}' is a program, which would be executed; if you trust it: taut.open_scene('{path}').")
    return _Reader(path, allow_outside).scene()


class _Reader:
    """One file being read, and the mistakes found so far."""

    def __init__(self, path: Path, allow_outside: bool):
        self.path, self.allow_outside = path, allow_outside
        self.tree = parse(path)
        self.data = plain_data(self.tree, path)
        self.mistakes: list[tuple[tuple[int, int], str]] = []

    def scene(self) -> Scene:
        from .format import SECTIONS, Contacts, Header

        self.judge(Header, self.data, ())
        for section in SECTIONS:
            entries = self.data.get(section)
            for i, entry in enumerate(entries if isinstance(entries, list) else ()):
                self.judge_entry(section, i, entry)
        entries = self.data.get("contacts")
        for i, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict):
                self.judge(Contacts, entry, ("contacts", i))
        self.stop_if_mistaken()
        scene = Scene(name=self.data.get("name") or "scene")
        if self.data.get("gravity") is not None:
            scene.gravity = self.data["gravity"]
        if self.data.get("visual") is not None:
            with self.collecting(scene, ("visual",)):
                scene.visual = self.visuals(self.data["visual"])
        self.add_section(scene, "bodies")
        self.add_section(scene, "obstacles")
        self.stop_if_mistaken()
        self.add_section(scene, "deformables")
        self.stop_if_mistaken()
        self.add_section(scene, "constraints")
        self.add_section(scene, "forces")
        self.add_section(scene, "contacts")
        if self.data.get("reduced"):
            with self.collecting(scene, ("reduced",)):
                scene.reduced(**self.data["reduced"])
        if self.data.get("suggested"):
            with self.collecting(scene, ("suggested",)):
                scene.suggest(**self.data["suggested"])
        self.stop_if_mistaken()
        return scene

    # The shape

    def judge_entry(self, section: str, i: int, entry: Any) -> None:
        from . import format

        if not isinstance(entry, dict):
            return  # the header's model has said so
        kind = entry.get("kind")
        known = format.kinds(section)
        if not isinstance(kind, str) or kind not in known:
            problem = _unknown_kind(kind, section, known) if kind is not None else "missing key 'kind'."
            self.add_problem((section, i) + (("kind",) if "kind" in entry else ()), str(problem))
            return
        many = "many" in entry
        if many and not format.can_be_many(section, kind):
            self.add_problem((section, i, "many"), f"a {kind} can not be given as many; write one entry for each.")
            return
        self.judge(format.entry_model(section, kind, many), entry, (section, i))

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

    # The scene

    def add_section(self, scene: Scene, section: str) -> None:
        from . import tables

        for i, entry in enumerate(self.data.get(section) or ()):
            with self.collecting(scene, (section, i)):
                if section == "obstacles":
                    scene.obstacle(**_in_python(dict(entry)))
                elif section == "deformables":
                    self.add_deformable(scene, dict(entry))
                elif section == "contacts":
                    given = {key: value for key, value in entry.items() if value is not None}
                    scene.contacts(**_in_python(given))
                elif "many" in entry:
                    tables.add(scene, entry["kind"], entry["many"], self.arrays())
                else:
                    _add_one(scene, self.with_mesh(dict(entry)))

    def add_deformable(self, scene: Scene, entry: dict) -> None:
        from . import tables

        for key in ("vertices", "triangles", "tetrahedra"):
            if isinstance(entry.get(key), str):
                entry[key] = tables.named_array(key, entry[key], self.arrays())
        if entry.get("mesh") is not None:
            entry["mesh"] = self.beside(entry["mesh"], "mesh")
        getattr(scene, entry.pop("kind"))(**entry)

    def with_mesh(self, entry: dict) -> dict:
        """The entry of a body, with the files of its shape and of what is seen."""
        shape = entry.get("shape")
        if isinstance(shape, dict) and "mesh" in shape:
            entry["shape"] = {"mesh": self.beside(shape["mesh"], "mesh")}
        if entry.get("visual") is not None:
            entry["visual"] = self.visuals(entry["visual"])
        return entry

    def visuals(self, given: Any) -> list[dict]:
        """What is seen of a body or stands in the world, with its files and arrays."""
        from . import tables
        from .visuals import listed

        found = [dict(one) for one in listed(given, "visual")]
        for one in found:
            if "mesh" in one:
                one["mesh"] = self.beside(one["mesh"], "mesh")
            for key in ("vertices", "triangles"):
                if isinstance(one.get(key), str):
                    one[key] = tables.named_array(key, one[key], self.arrays())
        return found

    def arrays(self) -> Any:
        from . import tables

        if not hasattr(self, "_arrays"):
            name = self.data.get("arrays")
            if name is None:
                raise TautError('missing key arrays at the top of the file; write "arrays: FILE.npz".')
            self._arrays = tables.open_arrays(self.beside(name, "array file"))
        return self._arrays

    def beside(self, name: str, what: str) -> Path:
        """A file that this one names: names in a file are meant from where it is."""
        return limits.inside(self.path.parent, name, what, self.allow_outside)

    def collecting(self, scene: Scene, path: tuple) -> _Collecting:
        return _Collecting(self, scene, path)

    # Mistakes

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

    def __init__(self, reader: _Reader, scene: Scene, path: tuple):
        self.reader, self.scene, self.path = reader, scene, path

    def __enter__(self) -> None:
        self.scene.set_place(self.reader.mark(self.path))

    def __exit__(self, kind: Any, mistake: BaseException | None, trace: Any) -> bool:
        self.scene.set_place(None)
        if not isinstance(mistake, TautError):
            return False
        self.reader.add_problem(self.path, str(mistake))
        return True


def _add_one(scene: Scene, entry: dict) -> None:
    from .specs import Point

    method = getattr(scene, entry.pop("kind"))
    points = [Point(**p) if isinstance(p, dict) else p for p in entry.pop("points", None) or ()]
    method(*points, **_in_python(entry))


def _in_python(entry: dict) -> dict:
    """The entry with `from`, a word of Python's own, as it is written there."""
    if "from" in entry:
        entry["from_"] = entry.pop("from")
    return entry


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
