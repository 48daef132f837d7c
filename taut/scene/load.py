"""Scene files: YAML, with bulk data in an .npz file beside it. `format.py` says what may stand where.

Mistakes are collected and told together, each as file:line:column, the path in the file, the value and
the remedy. First the shape of the whole file is judged; then bodies are added to a scene; then what
refers to them. A stage with mistakes ends the reading, since the next would only repeat them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import limits
from ..arguments import checked
from ..errors import TautError
from .entries import Entries, in_python
from .scene import Scene

ROBOTS = (".urdf", ".xml")


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


class _Reader(Entries):
    """One file being read, and the mistakes found so far."""

    def __init__(self, path: Path, allow_outside: bool):
        super().__init__(path)
        self.allow_outside = allow_outside

    def scene(self) -> Scene:
        from .format import SECTIONS, Contacts, Header

        self.judge(Header, self.data, ())
        for section in SECTIONS:
            entries = self.data.get(section)
            for i, entry in enumerate(entries if isinstance(entries, list) else ()):
                self.judge_entry(section, (section, i), entry)
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

    def add_section(self, scene: Scene, section: str) -> None:
        from . import tables

        for i, entry in enumerate(self.data.get(section) or ()):
            with self.collecting(scene, (section, i)):
                if section == "obstacles":
                    scene.obstacle(**in_python(dict(entry)))
                elif section == "deformables":
                    self.add_deformable(scene, dict(entry))
                elif section == "contacts":
                    arguments = {key: value for key, value in entry.items() if value is not None}
                    scene.contacts(**in_python(arguments))
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


def _add_one(scene: Scene, entry: dict) -> None:
    from .specs import Point

    method = getattr(scene, entry.pop("kind"))
    points = [Point(**p) if isinstance(p, dict) else p for p in entry.pop("points", None) or ()]
    method(*points, **in_python(entry))
