"""Geoms of MJCF as what is seen of bodies: those that MuJoCo's own viewer shows at first, of groups 0 to 2.

Sizes, places and meshes are those of the compiled model: meshes about their centre of mass, capsules from their ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...shapes import SOLIDS
from ..visuals import creased
from .pose import UPRIGHT, Pose, matrix

if TYPE_CHECKING:
    from .mjcf import _Reader

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)  # mjtGeom
PLAIN = {PLANE: ("plane", "planes"), HFIELD: ("hfield", "height fields")}  # words for type, and in messages
SHOWN = 3  # groups from here on are hidden
GREY = (0.5, 0.5, 0.5, 1.0)  # of a geom without a colour


def add_visuals(reader: _Reader) -> None:
    """What is seen, to the links of a reader's tree and to the world."""
    m = reader.model
    for geom in range(m.ngeom):
        color = m.mat_rgba[m.geom_matid[geom]] if m.geom_matid[geom] >= 0 else m.geom_rgba[geom]
        if m.geom_group[geom] >= SHOWN or not color[3] > 0.0:
            continue
        found = _form(m, geom)
        if found is None:
            kind, words = PLAIN.get(int(m.geom_type[geom]), ("sdf", "surfaces by plugins"))
            reader.features.drop(f"pictures of {words}", None)
            for element in reader.features.all("geom"):
                if element.attributes.get("type") == kind:
                    reader.features.drop(f"pictures of {words}", element)
            continue
        look, inside = found
        if m.geom_matid[geom] >= 0 or not np.allclose(color, GREY):
            look["color"] = tuple(np.clip(color[:3].astype(float).round(6), 0.0, 1.0).tolist())  # single precision
        body = int(m.geom_bodyid[geom])
        seen = reader.tree.links[reader.body(body)].visuals if body else reader.tree.visuals
        seen.append((look, Pose(matrix(m.geom_quat[geom]), m.geom_pos[geom].copy()) @ inside))


def _form(m: Any, geom: int) -> tuple[dict[str, Any], Pose] | None:
    """A geom as a shape or triangles, and where they stand in its frame."""
    kind, (a, b, c) = int(m.geom_type[geom]), m.geom_size[geom].tolist()
    if kind == SPHERE:
        return {"sphere": a}, Pose()
    if kind in (CAPSULE, CYLINDER):
        return {"capsule" if kind == CAPSULE else "cylinder": (a, 2.0 * b)}, UPRIGHT
    if kind == BOX:
        return {"box": (2.0 * a, 2.0 * b, 2.0 * c)}, Pose()
    if kind == ELLIPSOID:
        vertices, triangles = SOLIDS["sphere"].triangles(1.0)  # type: ignore[misc]
        return {"vertices": vertices * (a, b, c), "triangles": triangles}, Pose()
    if kind == MESH:
        mesh = int(m.geom_dataid[geom])
        points, faces = (slice(int(start[mesh]), int(start[mesh] + count[mesh])) for start, count in (
            (m.mesh_vertadr, m.mesh_vertnum), (m.mesh_faceadr, m.mesh_facenum)))  # fmt: skip
        vertices, triangles = creased(m.mesh_vert[points].astype(float), m.mesh_face[faces].astype(np.int64))
        return {"vertices": vertices, "triangles": triangles}, Pose()
    return None
