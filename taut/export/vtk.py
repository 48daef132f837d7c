"""A series for ParaView: open run.pvd, which lists two files a frame with the run's own times.

    surface_00000.vtu   triangles of all parts; cell data `part` (number in parts.csv)
    bodies_00000.vtu    one vertex per body; velocity, radius, mass, and contact_force where there are contacts
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ..picture.describe import describe
from .base import Format, Options, frames

if TYPE_CHECKING:
    from ..result import Run


def write(run: Run, path: Path, options: Options) -> None:
    import meshio

    motion = frames(run, options)
    parts = describe(motion)[0]
    offsets = np.cumsum([0, *(len(part.places(motion[0])) for part in parts)])
    triangles = np.concatenate([offset + part.triangles for offset, part in zip(offsets, parts)])
    number = np.repeat(np.arange(len(parts)), [len(part.triangles) for part in parts])
    bodies = [body for body in run.labels.bodies if body.kind != "coordinate"]
    slots = [body.slot for body in bodies]
    radius = [run.scene.bodies[body.name].radius if run.scene is not None else 0.0 for body in bodies]
    entries = []
    for k, pose in enumerate(motion):
        row = motion.rows[k]
        surface = meshio.Mesh(np.concatenate([part.places(pose) for part in parts]), [("triangle", triangles)],
                              cell_data={"part": [number]})  # fmt: skip
        data: dict[str, Any] = {
            "velocity": run.records.v[row][slots], "radius": np.array(radius),
            "mass": np.array([body.mass for body in bodies]),
        }  # fmt: skip
        if run.records.contact_force.shape[1]:
            data["contact_force"] = run.records.contact_force[row][slots]
        points = meshio.Mesh(pose.x[slots], [("vertex", np.arange(len(slots))[:, np.newaxis])], point_data=data)
        for i, (name, mesh) in enumerate((("surface", surface), ("bodies", points))):
            file = f"{name}_{k:05d}.vtu"
            meshio.write(path / file, mesh, file_format="vtu")
            entries.append(f'    <DataSet timestep="{pose.time!r}" group="" part="{i}" file={quoteattr(file)}/>')
        options.tick(k + 1, len(motion))
    text = "\n".join(entries)
    (path / "run.pvd").write_text(
        f'<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n  <Collection>\n{text}\n  </Collection>\n'
        "</VTKFile>\n", encoding="utf-8",
    )  # fmt: skip
    lines = "".join(f'{i},{part.role},"{part.name.replace(chr(34), 2 * chr(34))}"\n' for i, part in enumerate(parts))
    (path / "parts.csv").write_text(f"part,role,name\n{lines}", encoding="utf-8")


FORMAT = Format("vtk", ("_vtk",), "A folder with a series for ParaView.", write, modules=("meshio",), is_folder=True)
