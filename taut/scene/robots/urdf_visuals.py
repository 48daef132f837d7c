"""<visual> of URDF: shapes and meshes with their places in the link's frame, and their colours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import TautError
from ..visuals import judge, mesh_file
from .pose import UPRIGHT, Pose
from .tree import Seen, Tree
from .xml import Element


def read_visual(visual: Element, place: Pose, root: Element, tree: Tree) -> Seen | None:
    """What is seen of a link; None of what can not be shown, which is told: no motion depends on it."""
    geometry = visual.one("geometry")
    if geometry is None or not geometry.children:
        return None
    found = geometry.children[0]
    if found.tag == "box":
        look: dict[str, Any] = {"box": found.numbers("size", 3)}
    elif found.tag == "sphere":
        look = {"sphere": found.number("radius")}
    elif found.tag in ("cylinder", "capsule"):
        look, place = {found.tag: (found.number("radius"), found.number("length"))}, place @ UPRIGHT
    elif found.tag == "mesh":
        look = _mesh(found, tree)
    else:
        tree.dropped.append(f"<{found.tag}> of a visual (line {found.line})")
        return None
    try:
        judge(look, f"the <{found.tag}> of a visual")
    except TautError as mistake:
        tree.dropped += [f"{str(mistake).rstrip('.')} (line {found.line})"] if look else []
        return None
    color = _color(visual, root, tree)
    return look | ({} if color is None else {"color": color}), place


def _mesh(element: Element, tree: Tree) -> dict[str, Any]:
    """Its triangles; nothing of a mesh that is not found or can not be read."""
    name = element.text("filename")
    path = _file(element.path, name)
    if path is None:
        tree.dropped.append(f"the mesh {name}, whose package is no folder around the file (line {element.line})")
    elif not path.exists():
        tree.dropped.append(f"the mesh '{path}' of a visual, which does not exist (line {element.line})")
    else:
        scale = element.numbers("scale", 3, (1.0, 1.0, 1.0))
        try:
            vertices, triangles = mesh_file(path, scale, "a visual")
        except TautError as mistake:
            tree.dropped.append(f"the mesh of a visual (line {element.line}): {str(mistake).rstrip('.')}")
        else:
            return {"vertices": vertices, "triangles": triangles}
    return {}


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


def _color(visual: Element, root: Element, tree: Tree) -> tuple[float, ...] | None:
    """Red, green and blue of a material of its own, or of that of the robot which it names."""
    own = visual.one("material")
    named = None if own is None else own.attributes.get("name")
    for material in (own, *(one for one in root.all("material") if one.attributes.get("name") == named)):
        if material is None:
            return None
        if material.one("texture") is not None:
            tree.dropped.append(f"<texture> of a material (line {material.line})")
        color = material.one("color")
        if color is not None:
            return tuple(min(max(part, 0.0), 1.0) for part in color.numbers("rgba", 4)[:3])
    return None
