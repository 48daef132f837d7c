"""What comes before a run of many constraints: saving and loading their file, and planning their linear systems.

A net this large is written as tables whose arrays stand in a file beside the YAML. A plan is the pattern of J W Jᵀ, the
order of its rows and the places of its factor. Processor time is measured, not the clock's: saving waits for the disk.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from math import inf
from pathlib import Path

import numpy as np

from ...linalg import plan
from ...linalg.nodes import plan_nodes
from ...model import build
from ...scene import Scene, gallery, load
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


def plans(quick: bool) -> dict[str, tuple[Callable[[], object], float]]:
    """What is planned: how, and in how many seconds it is to be done."""
    links, side, finer = (1_000, 8, 8) if quick else (100_000, 60, 100)
    pairs = np.stack([np.arange(links), np.arange(1, links + 1)], axis=1)
    sheet = build(gallery("cloth_hang", n=side))
    node = np.arange(finer * finer).reshape(finer, finer)
    joined = (node[:, :-1], node[:, 1:]), (node[:-1], node[1:])
    couples = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in joined])
    rest = np.stack([node.ravel() // finer, node.ravel() % finer, 0 * node.ravel()], axis=1) / finer
    return {
        f"chain of {links:,} links": (
            lambda: plan(np.arange(0, 2 * links + 1, 2), pairs.ravel(), np.ones(links + 1, bool)), 3.0,
        ),
        f"edges of {side} x {side} nodes": (lambda: sheet.linear_plan("auto"), 2.0),
        f"system of {finer} x {finer} nodes": (lambda: plan_nodes(finer * finer, couples, rest), 1.0),
    }  # fmt: skip


def least_time(function: Callable[[], object]) -> float:
    """Seconds of processor time, the least of REPEATS; the first call may compile."""
    least = inf
    for _ in range(REPEATS):
        began = time.process_time()
        function()
        least = min(least, time.process_time() - began)
    return least


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
    planned = {}
    for what, (function, allowed) in plans(settings.quick).items():
        planned[what] = least_time(function)
        if not settings.quick:
            targets.append(Target(f"planning: {what}", planned[what], allowed, "s"))
    planning = Table("planning, processor time [s]", ["", ""], [[what, digits(t)] for what, t in planned.items()])
    return Report(tables=[table, planning], targets=targets, numbers={"seconds": seconds, "planning": planned})


PART = Part("load", "saving and loading scene files of many constraints, and planning their systems", measure)
