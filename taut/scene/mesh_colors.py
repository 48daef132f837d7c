"""Colours of a mesh in a file: of materials (.obj with its .mtl, .glb, .dae), of triangles or of vertices (.ply)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .solids import read_mesh

Array = np.ndarray
MOST = 32  # colours of triangles; a mesh with more is a scan or a map of values, and is shown in one
PLAIN = "#666666"  # what trimesh gives a material without a colour


def mesh_by_color(path: Path, what: str) -> list[tuple[str | None, Array, Array]]:
    """Color ("#rrggbb" or None), vertices (n, 3) and triangles (m, 3) of each part of a file that has a colour."""
    alike: dict[str | None, list[tuple[Array, Array]]] = {}
    for part in read_mesh(path, what, force="scene").dump():
        for color, chosen in _colors(part):
            triangles = np.asarray(part.faces, np.int64)[chosen]
            alike.setdefault(color, []).append((np.asarray(part.vertices, float), triangles))
    return [(color, *joined(meshes)) for color, meshes in alike.items()]


def joined(meshes: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Several meshes, vertices and triangles, as one."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in meshes[:-1])])
    return (np.concatenate([vertices for vertices, _ in meshes]),
            np.concatenate([triangles + start for (_, triangles), start in zip(meshes, starts)]))  # fmt: skip


def _colors(part: Any) -> Iterator[tuple[str | None, Any]]:
    """The colours of one of trimesh's meshes, and which of its triangles have them."""
    everything, visual = slice(None), part.visual
    if not visual.defined or not len(part.faces):
        yield None, everything
    elif visual.kind == "texture":
        color = _hex(np.asarray(visual.material.main_color))
        yield None if color == PLAIN else color, everything
    else:
        colors, which = np.unique(np.asarray(visual.face_colors)[:, :3], axis=0, return_inverse=True)
        if len(colors) > MOST:
            yield None, everything
            return
        for k, color in enumerate(colors):
            yield _hex(color), which.reshape(-1) == k


def _hex(color: Array) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in color[:3])
