"""GLB (glTF 2.0 in one file): stiff parts move by an animation of their nodes, soft ones by morph targets.

    12 bytes header, a chunk of JSON, a chunk of numbers; all little endian, chunks padded to 4 bytes

A soft part has one target per frame, whose weight is one at that frame and zero at its neighbours.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import present
from ..picture.meshes import normals
from ..picture.parts import rgb
from .base import Format, Options, frames
from .tracks import Soft, Stiff, tracks

if TYPE_CHECKING:
    from ..result import Run

FLOAT, INDEX = 5126, 5125  # component types
VERTICES, INDICES = 34962, 34963  # targets of buffer views
MAGIC, JSON, BIN = 0x46546C67, 0x4E4F534A, 0x004E4942


def write(run: Run, path: Path, options: Options) -> None:
    motion = frames(run, options)
    book = Book()
    times = book.accessor((motion.time - motion.time[0]).astype(np.float32), "SCALAR", bounded=True)
    found = tracks(motion)
    for k, track in enumerate(found):
        if isinstance(track, Stiff):
            _stiff(book, track, times)
        else:
            _soft(book, track, times)
        options.tick(k + 1, len(found))
    path.write_bytes(book.bytes(f"{run.labels.scene}, {run.info.get('method', '')}"))


def _stiff(book: Book, track: Stiff, times: int) -> None:
    part = track.part
    turn = track.orientation[:, [1, 2, 3, 0]]  # x, y, z, w
    turn = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    mesh = book.mesh(part, present(part.vertices, "the mesh of a part"))
    node = book.node(part.name, mesh, translation=track.position[0].tolist(),
                     rotation=turn[0].tolist(), scale=track.scale[0].tolist())  # fmt: skip
    if track.moves:
        book.channel(node, "translation", times, track.position, "VEC3")
        book.channel(node, "rotation", times, turn, "VEC4")
        if (track.scale != track.scale[:1]).any():
            book.channel(node, "scale", times, track.scale, "VEC3")


def _soft(book: Book, track: Soft, times: int) -> None:
    mesh = book.mesh(track.part, track.points[0], track.points[1:])
    node = book.node(track.part.name, mesh)
    if track.moves:
        weights = np.eye(len(track.points))[:, 1:]  # the first frame is the mesh itself
        book.channel(node, "weights", times, weights.ravel(), "SCALAR")


class Book:
    """The JSON and the numbers, as they grow."""

    def __init__(self) -> None:
        self.numbers = bytearray()
        self.data: dict[str, list[Any]] = {
            name: [] for name in ("nodes", "meshes", "materials", "accessors", "bufferViews")
        }
        self.channels: list[Any] = []
        self.samplers: list[Any] = []
        self.known: dict[Any, int] = {}  # materials by colour and side; numbers of meshes that several parts share

    def accessor(self, values: np.ndarray, kind: str, target: int | None = None, bounded: bool = False) -> int:
        """The number of an accessor of these values; the same numbers are stored once."""
        values = np.ascontiguousarray(values)
        key = (values.tobytes(), kind, target) if values.nbytes < 100_000 else None
        if key is not None and key in self.known:
            return self.known[key]
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.numbers), "byteLength": values.nbytes}
        if target is not None:
            view["target"] = target
        self.numbers += values.tobytes()
        self.numbers += b"\0" * (-len(self.numbers) % 4)
        self.data["bufferViews"].append(view)
        entry: dict[str, Any] = {
            "bufferView": len(self.data["bufferViews"]) - 1, "type": kind, "count": len(values),
            "componentType": INDEX if values.dtype == np.uint32 else FLOAT,
        }  # fmt: skip
        if bounded:
            low, high = np.atleast_1d(values.min(axis=0)), np.atleast_1d(values.max(axis=0))
            entry |= {"min": low.tolist(), "max": high.tolist()}
        self.data["accessors"].append(entry)
        number = len(self.data["accessors"]) - 1
        if key is not None:
            self.known[key] = number
        return number

    def mesh(self, part: Any, vertices: np.ndarray, later: np.ndarray | None = None) -> int:
        """A mesh; `later` are the places of its vertices in the frames after the first."""
        position = vertices.astype(np.float32)
        primitive: dict[str, Any] = {
            "attributes": {
                "POSITION": self.accessor(position, "VEC3", VERTICES, bounded=True),
                "NORMAL": self.accessor(_unit(normals(vertices, part.triangles)), "VEC3", VERTICES),
            },
            "indices": self.accessor(part.triangles.astype(np.uint32).ravel(), "SCALAR", INDICES),
            "material": self.material(part.own_color, part.one_sided),
        }  # fmt: skip
        mesh: dict[str, Any] = {"name": part.name, "primitives": [primitive]}
        if later is not None and len(later):
            primitive["targets"] = [
                {"POSITION": self.accessor(places.astype(np.float32) - position, "VEC3", VERTICES, bounded=True)}
                for places in later
            ]
            mesh["weights"] = [0.0] * len(later)
        self.data["meshes"].append(mesh)
        return len(self.data["meshes"]) - 1

    def material(self, color: str, one_sided: bool) -> int:
        key = (color, one_sided)
        if key not in self.known:
            base = [c**2.2 for c in rgb(color)]
            surface = {"baseColorFactor": [*base, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.5}
            self.data["materials"].append(
                {"name": color, "doubleSided": not one_sided, "pbrMetallicRoughness": surface}
            )
            self.known[key] = len(self.data["materials"]) - 1
        return self.known[key]

    def node(self, name: str, mesh: int, **place: Any) -> int:
        self.data["nodes"].append({"name": name, "mesh": mesh, **place})
        return len(self.data["nodes"]) - 1

    def channel(self, node: int, path: str, times: int, values: np.ndarray, kind: str) -> None:
        output = self.accessor(values.astype(np.float32), kind)
        self.samplers.append({"input": times, "output": output, "interpolation": "LINEAR"})
        self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": path}})

    def bytes(self, name: str) -> bytes:
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "taut"}, "scene": 0,
            "scenes": [{"name": name, "nodes": list(range(len(self.data["nodes"])))}],
            "buffers": [{"byteLength": len(self.numbers)}],
        }  # fmt: skip
        document |= {key: value for key, value in self.data.items() if value}
        if self.channels:
            document["animations"] = [{"name": "run", "channels": self.channels, "samplers": self.samplers}]
        text = json.dumps(document, allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<II", len(text), JSON) + text + struct.pack("<II", len(self.numbers), BIN) + self.numbers
        return struct.pack("<III", MAGIC, 2, 12 + len(chunks)) + chunks


def _unit(values: np.ndarray) -> np.ndarray:
    """Normals as the format wants them: where a vertex has none, any of length one."""
    found = values.astype(np.float32)
    found[np.linalg.norm(found, axis=1) < 0.5] = (0.0, 1.0, 0.0)
    return found


FORMAT = Format("glb", (".glb",), "One file for three.js, Blender and the 3D viewers of operating systems.", write)
