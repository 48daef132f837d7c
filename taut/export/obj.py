"""Wavefront OBJ, one file a frame: frame_00000.obj and so on, with colours in scene.mtl and times in times.csv."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..picture.describe import describe
from ..picture.parts import rgb
from .base import Format, Options, frames
from .tracks import identifiers

if TYPE_CHECKING:
    from ..result import Run


def write(run: Run, path: Path, options: Options) -> None:
    motion = frames(run, options)
    parts = describe(motion)[0]
    names = identifiers([part.name for part in parts])
    colors = sorted({part.own_color for part in parts})
    with open(path / "scene.mtl", "w", encoding="utf-8") as file:
        for color in colors:
            file.write(f"newmtl color_{color[1:]}\nKd {' '.join(f'{c:.4f}' for c in rgb(color))}\n")
    # Faces are the same in all frames; each object counts its vertices on from those before it.
    faces, count = [], 1
    for part in parts:
        faces.append("".join(f"f {a} {b} {c}\n" for a, b, c in (count + part.triangles).tolist()))
        count += len(part.places(motion[0]))
    for k, pose in enumerate(motion):
        with open(path / f"frame_{k:05d}.obj", "w", encoding="utf-8") as file:
            file.write(f"# {run.labels.scene}, t = {pose.time!r} s, metres, y up\nmtllib scene.mtl\n")
            for part, name, text in zip(parts, names, faces):
                file.write(f"o {name}\nusemtl color_{part.own_color[1:]}\n")
                file.write("".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in part.places(pose).tolist()))
                file.write(text)
        options.tick(k + 1, len(motion))
    times = "".join(f"{k},{time!r}\n" for k, time in enumerate(motion.time.tolist()))
    (path / "times.csv").write_text(f"frame,time\n{times}", encoding="utf-8")


FORMAT = Format("obj", ("_obj",), "A folder of meshes, one file a frame.", write, is_folder=True)
