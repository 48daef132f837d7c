"""Balls dropped into a box: what a step costs while they settle, how far they overlap, and whether they rest.

Steps are timed as `simulate` takes them while all of them are recorded, so that no overlap is missed. At rest a few
balls still slide over the floor at constant speed: without friction nothing stops them. So two drifts are told, that
of 99 of 100 balls, which is the target, and that of the farthest.
"""

from __future__ import annotations

import warnings
from math import log
from typing import Any

import numpy as np

from ...errors import TautWarning
from ...result.run import Run
from ...scene import gallery
from ...simulation.run import simulate
from .base import Part, Report, Settings, Table, Target, digits
from .spheres import Spheres, solvers_present

METHOD, DT = "implicit_first", 0.005
EVERY = 10  # steps between records of a pile at rest
SIZES, QUICK_SIZES = (10, 100, 1_000, 5_000), (10, 100)
SETTLING = 2.0  # seconds
RESTING, SETTLED, WATCHED = 1_000, 12.0, 10.0  # balls; seconds until they are expected to rest; seconds watched
HELD = 0.99  # of the balls
RADIUS = 0.05  # of a ball [m], on average

Numbers = dict[str, dict[int, float]]  # by name of the engine and number of balls


def measure(settings: Settings) -> Report:
    if METHOD not in (method.name for method in settings.methods):
        return Report(tables=[], notes=[f"only {METHOD} treats groups with a broad phase, and it was not asked for"])
    sizes = QUICK_SIZES if settings.quick else SIZES
    seconds: Numbers = {"taut": {}}
    overlap: Numbers = {"taut": {}}
    for n in sizes:
        run = settle(n, SETTLING, every=1)
        seconds["taut"][n] = run.info["wall_time"] / run.info["steps_done"]
        overlap["taut"][n] = float(run.data.overlap.max()) / RADIUS
    notes = measure_peers(sizes, seconds, overlap) if settings.peers else []
    header = ["", *(f"n = {n:,}" for n in sizes)]
    tables = [
        Table(title, header, [[name, *(digits(scale * known[n]) if n in known else "–" for n in sizes)]
                              for name, known in numbers.items()])
        for title, numbers, scale in (("ms per step", seconds, 1e3), ("largest overlap [radii]", overlap, 1.0))
    ]  # fmt: skip
    numbers: dict[str, Any] = {"dt": DT, "seconds_per_step": seconds, "overlap": overlap}
    targets = []
    known = seconds["taut"]
    if {1_000, 5_000} <= set(known):
        growth = log(known[5_000] / known[1_000]) / log(5.0)
        targets.append(Target("growth of the cost from 1,000 to 5,000 balls, exponent of n", growth, 1.3))
    if not settings.quick:
        speed, drift, farthest = rest()
        numbers |= {"rest": {"balls": RESTING, "speed": speed, "drift": drift, "farthest": farthest}}
        watched = f"{RESTING:,} balls at rest, {WATCHED:g} s"
        title = f"{watched}, after {SETTLED:g} s"
        rows = [["fastest [m/s]", f"{speed:.2g}"], [f"way of {HELD:.0%} [radii], at most", f"{drift / RADIUS:.2g}"],
                ["way of the farthest [radii]", f"{farthest / RADIUS:.2g}"]]  # fmt: skip
        tables.append(Table(title, ["", "measured"], rows))
        targets.append(Target(f"{watched}: fastest", speed, 1e-3, "m/s"))
        targets.append(Target(f"{watched}: {HELD:.0%} stay where they were within", drift / RADIUS, 1e-3, "radii"))
    return Report(tables=tables, targets=targets, numbers=numbers, notes=notes)


def settle(n: int, duration: float, every: int) -> Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TautWarning)
        return simulate(
            gallery("ball_pile", n=n), method=METHOD, dt=DT, duration=duration, record_every=every, progress=False
        )


def rest() -> tuple[float, float, float]:
    """Of a settled pile: the largest speed [m/s], and how far [m] HELD of the balls, and any, left their places."""
    data = settle(RESTING, SETTLED + WATCHED, EVERY).data.sel(time=slice(SETTLED, None))
    x = data.position.values
    moved = np.linalg.norm(x - x[0], axis=-1).max(axis=0)
    speed = np.linalg.norm(data.velocity.values, axis=-1).max()
    return float(speed), float(np.quantile(moved, HELD)), float(moved.max())


def measure_peers(sizes: tuple[int, ...], seconds: Numbers, overlap: Numbers) -> list[str]:
    here, notes = solvers_present()
    steps = round(SETTLING / DT)
    for solver in here:
        seconds[solver.name], overlap[solver.name] = {}, {}
        for n in (n for n in sizes if n <= solver.largest):
            spheres = Spheres(gallery("ball_pile", n=n), DT, solver)
            parts = [(spheres.seconds(1), spheres.overlap()) for _ in range(steps)]
            seconds[solver.name][n] = sum(took for took, _ in parts) / steps
            overlap[solver.name][n] = max(depth for _, depth in parts) / RADIUS
    return notes


PART = Part("contact", f"balls dropped into a box, dt = {DT:g} s, {SETTLING:g} s", measure)
