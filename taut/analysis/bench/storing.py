"""What storing a run costs: MB of records a second, with checksums, and with waiting for the disk as well.

Beside it stands the same data written without any of it, as taut did before it had checksums: arrays of zarr as they
come, and a file that says how much counts, replaced at each commit. Records are made up, so that nothing but storing
is timed, and follow each other without a pause.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ...model import Model, build
from ...result import Records, Store
from ...scene import Scene, gallery
from .base import Part, Report, Settings, Table, Target, digits

# Links of a chain, records in a commit, commits.
SIZES, QUICK_SIZES = ((5, 20_000, 10), (200, 600, 10)), ((5, 100, 3),)
REPEATS = 5
ALLOWED = 1.1  # times as long as without checks
PLAIN_CHUNK = 2**20  # bytes
Pieces = list[dict[str, np.ndarray]]


def made_up(model: Model, each: int, count: int) -> Pieces:
    random = np.random.default_rng(1)
    shapes = Records.shapes(model).items()
    piece = {name: np.cumsum(random.normal(size=(each, *shape)), axis=0) for name, shape in shapes}
    return [piece] * count


def store_plainly(path: Path, scene: Scene, model: Model, pieces: Pieces) -> None:
    import zarr

    path.mkdir()
    scene.save(path / "scene.yaml")
    each, total = len(pieces[0]["time"]), sum(len(piece["time"]) for piece in pieces)
    shapes = {name: values.shape[1:] for name, values in pieces[0].items() if 0 not in values.shape}
    chunk = max(1, PLAIN_CHUNK // sum(8 * int(np.prod(shape)) for shape in shapes.values()))
    group = zarr.open_group(path / "records.zarr", mode="w", zarr_format=3)
    arrays = {name: group.create_array(name, shape=(total, *s), chunks=(chunk, *s), dtype="float64")
              for name, s in shapes.items()}  # fmt: skip
    for k, piece in enumerate(pieces):
        for name, array in arrays.items():
            array[k * each : (k + 1) * each] = piece[name]
        with open(path / "part", "wb") as file:
            np.savez(file, count=np.array((k + 1) * each), x=piece["x"][-1])
        os.replace(path / "part", path / "commit.npz")


def store(path: Path, scene: Scene, model: Model, pieces: Pieces, durable: bool) -> None:
    total = sum(len(piece["time"]) for piece in pieces)
    stored = Store.create(path, scene, model, total, {"dt": 1.0}, durable=durable)
    for piece in pieces:
        stored.append(piece, {"x": piece["x"][-1]}, 1)
    stored.finish("finished", "", {})


def seconds(ways: dict[str, Callable[[Path], None]]) -> dict[str, float]:
    """The least time of each way, measured in turns."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(REPEATS):
        for name, way in ways.items():
            with tempfile.TemporaryDirectory() as folder:
                began = time.perf_counter()
                way(Path(folder) / "run")
                found[name].append(time.perf_counter() - began)
    return {name: min(times) for name, times in found.items()}


def measure(settings: Settings) -> Report:
    rows: dict[str, list[str]] = {}
    numbers, targets = {}, []
    sizes = QUICK_SIZES if settings.quick else SIZES
    for links, each, count in sizes:
        scene = gallery("chain", n=links)
        model = build(scene)
        pieces = made_up(model, each, count)
        size = count * sum(values.nbytes for values in pieces[0].values()) / 1e6
        taken = seconds({
            "without checks": lambda path: store_plainly(path, scene, model, pieces),  # noqa: B023 - called at once
            "checked (durable=False)": lambda path: store(path, scene, model, pieces, False),  # noqa: B023
            "checked and durable": lambda path: store(path, scene, model, pieces, True),  # noqa: B023
        })
        for name, time_taken in taken.items():
            rows.setdefault(name, [name]).append(digits(size / time_taken))
        numbers[f"{links} links"] = {name: size / time_taken for name, time_taken in taken.items()}
        if not settings.quick:
            ratio = taken["checked and durable"] / taken["without checks"]
            targets.append(Target(f"storing {links} links, over that without checks", ratio, ALLOWED))
    header = ["", *(f"{links} links, {each:,} records a commit" for links, each, _ in sizes)]
    table = Table("MB of records a second", header, list(rows.values()))
    return Report(tables=[table], targets=targets, numbers=numbers)


PART = Part("store", "storing records with checksums, durably and not", measure)
