"""Scene files of many constraints: how long it takes to save them and to load them again.

A net this large is written as tables whose arrays stand in a file beside the YAML. Processor time is measured, not the
clock's: saving waits for the disk.
"""

from __future__ import annotations

import tempfile
import time
from math import inf
from pathlib import Path

import numpy as np

from ..scene import Scene, load
from .base import Part, Report, Settings, Table, Target, digits

SIZES, QUICK_SIZES = (2_000, 20_000), (2_000,)  # constraints
REPEATS = 3
ALLOWED = 1.0  # seconds of processor time in which the largest net must load


def net(constraints: int) -> Scene:
    """Particles in a row at random places, neighbours joined by two distances; a third of the lengths are given."""
    scene = Scene()
    random = np.random.default_rng(1)
    for i in range(constraints // 2 + 1):
        scene.particle(random.normal(size=3), mass=float(random.uniform(1, 2)), fixed=i == 0)
    for i in range(constraints):
        scene.distance(f"particle_{i // 2}", f"particle_{i // 2 + 1}", length=None if i % 3 else 1 / (i + 1))
    return scene


def save_and_load(constraints: int) -> tuple[float, float]:
    """Seconds of processor time to save a net and to load it, each the least of REPEATS."""
    scene = net(constraints)
    saving = loading = inf
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.yaml"
        for _ in range(REPEATS):
            began = time.process_time()
            scene.save(path, arrays=True, overwrite=True)
            saved = time.process_time()
            load(path)
            saving, loading = min(saving, saved - began), min(loading, time.process_time() - saved)
    return saving, loading


def measure(settings: Settings) -> Report:
    sizes = QUICK_SIZES if settings.quick else SIZES
    seconds: dict[str, dict[int, float]] = {"save": {}, "load": {}}
    for n in sizes:
        seconds["save"][n], seconds["load"][n] = save_and_load(n)
    rows = [[what, *(digits(taken[n]) for n in sizes)] for what, taken in seconds.items()]
    table = Table("processor time [s]", ["", *(f"{n:,} constraints" for n in sizes)], rows)
    largest = SIZES[-1]
    targets = []
    if largest in seconds["load"]:
        targets.append(Target(f"loading {largest:,} constraints", seconds["load"][largest], ALLOWED, "s"))
    return Report(tables=[table], targets=targets, numbers={"seconds": seconds})


PART = Part("load", "saving and loading scene files of many constraints", measure)
