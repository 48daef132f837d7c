"""<visual> of URDF: shapes and meshes with their places in the link's frame, and their colours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import TautError
from ..visuals import judge, mesh_file, read_color
from .features import Dropped
from .pose import UPRIGHT, Pose
from .tree import Seen
from .xml import Element


def read_visual(visual: Element, place: Pose, root: Element, features: Dropped) -> list[Seen]:
    """What is seen of a link; nothing of what can not be shown, which is told: no motion depends on it."""
    geometry = visual.one("geometry")
    if geometry is None or not geometry.children:
        return []
    found, color = geometry.children[0], _color(visual, root, features)
    if found.tag == "mesh":
        return [(look, place) for look in _mesh(found, color, features)]
    if found.tag == "box":
        look: dict[str, Any] = {"box": found.numbers("size", 3)}
    elif found.tag == "sphere":
        look = {"sphere": found.number("radius")}
    elif found.tag in ("cylinder", "capsule"):
        look, place = {found.tag: (found.number("radius"), found.number("length"))}, place @ UPRIGHT
    else:
        return []  # the list of what is dropped has it
    try:
        judge(look, f"the <{found.tag}> of a visual")
    except TautError as mistake:
        features.drop(str(mistake).rstrip("."), found)
        return []
    return [(look | ({} if color is None else {"color": color}), place)]


def _mesh(element: Element, color: tuple[float, ...] | None, features: Dropped) -> list[dict[str, Any]]:
    """Its triangles, in the colours of the file where the visual has none; nothing of a mesh that can not be read."""
    name = element.text("filename")
    path = _file(element.path, name)
    if path is None:
        features.drop(f"the mesh {name}, whose package is no folder around the file", element)
    elif not path.exists():
        features.drop(f"the mesh '{path}' of a visual, which does not exist", element)
    else:
        scale = element.numbers("scale", 3, (1.0, 1.0, 1.0))
        try:
            given = None if color is None else read_color(color, "a visual")
            parts = mesh_file(path, scale, "a visual", given)
        except TautError as mistake:
            features.drop(f"the mesh of {str(mistake).rstrip('.')}", element)
        else:
            return [{"vertices": vertices, "triangles": triangles, **({"color": own} if own else {})}
                    for own, vertices, triangles in parts]  # fmt: skip
    return []


def _file(urdf: Path, name: str) -> Path | None:
    """The file of a mesh; that of a package is looked for in the folders around the URDF file, which may be its own."""
    if not name.startswith("package://"):
        return urdf.parent / name.removeprefix("file://")
    package, _, rest = name.removeprefix("package://").partition("/")
    for folder in urdf.resolve().parents:
        for home in ((folder,) if folder.name == package else (folder / package,)):
            if (home / rest).is_file():
                return home / rest
    return None


def _color(visual: Element, root: Element, features: Dropped) -> tuple[float, ...] | None:
    """Red, green and blue of a material of its own, or of that of the robot which it names."""
    own = visual.one("material")
    named = None if own is None else own.attributes.get("name")
    for material in (own, *(one for one in root.all("material") if one.attributes.get("name") == named)):
        if material is None:
            return None
        if material.one("texture") is not None:
            features.drop("<texture> of a <material>", material)
        color = material.one("color")
        if color is not None:
            *parts, opacity = color.numbers("rgba", 4)
            if opacity < 1.0:
                features.drop("transparency of a <color>", color)
            return tuple(min(max(part, 0.0), 1.0) for part in parts)
    return None
