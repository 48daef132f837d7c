"""Mechanisms of rigid bodies: what a step costs, how it grows with the chain, and what accuracy costs beside peers.

A rigid chain is timed in turns with the chain of particles of as many links. Unknowns of a step are velocities and
multipliers together: eleven for a rod on its hinge, four for a particle on its link. Growth is the slope of the
logarithm of the time per step over that of the number of rods. Steps are timed by the processor's clock, so that other
work on the machine does not enter.

Work and precision are measured as in precision.py, with the mechanisms as MuJoCo (machines.py), Exudyn, Pinocchio and
Drake (rivals.py) have them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from math import inf
from typing import NamedTuple

import numpy as np

from ...methods import Method
from ...model import Model, build
from ...scene import gallery
from ..timing import Loop, enough_steps, in_turns
from . import machines, rivals
from .base import Part, Report, Settings, Table, Target, digits
from .chains import BUDGET, DT, LONGEST_STEP, WATCHED, Numbers, budget, expected
from .peers import Engine
from .precision import TOLERANCES, Point, Problem, best, detail, follow, repeat, summary, true_positions

SIZES, QUICK_SIZES = (10, 100, 1_000, 10_000), (10, 100)
MACHINES = {"stewart_platform": 1e-3, "andrews_squeezer": 1e-4}  # and the step [s]
GROWTH, PER_UNKNOWN, AHEAD = 1.1, 3.0, 1.0  # targets: exponent; times the chain of particles; times the best peer
LARGE = 100  # rods from which growth is fitted
LONGEST_RUN = 1.0  # seconds: a peer that takes longer is not asked for more steps
LOOSE = (1e-2, 1e-3)  # tolerances of adaptive methods before those of precision.py
QUICKER = 10.0  # by which a quick run is shorter

PROBLEMS = {
    "heavy_top": Problem("heavy top, centre at t = 0.5 s", lambda: gallery("heavy_top"), 0.5, ("top",),
                         (60, 125, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000), (1e-2, 1e-4, 1e-6, 1e-8)),
    "bricard": Problem("Bricard's loop, middle bar at t = 1 s", lambda: gallery("bricard", hinges="joints"), 1.0,
                       ("bar_3",), (1, 2, 3, 4, 8, 15, 30, 60, 125, 250, 500, 1_000, 2_000, 4_000),
                       (1e-2, 1e-4, 1e-6, 1e-8)),
    "andrews_squeezer": Problem("Andrews' squeezer, bodies at t = 0.03 s", lambda: gallery("andrews_squeezer"), 0.03,
                                tuple(f"K{i}" for i in range(1, 8)),
                                (40, 75, 150, 300, 600, 1_200, 2_400, 4_800, 9_600),
                                (1e-4, 1e-6, 1e-8, 1e-9)),
    "flyball_governor": Problem("flyball governor, sleeve and balls at t = 0.2 s", lambda: gallery("flyball_governor"),
                                0.2, ("sleeve", "left_ball", "right_ball"),
                                (10, 25, 50, 100, 200, 400, 800, 1_600, 3_200), (1e-3, 1e-4, 1e-6, 1e-8)),
}  # fmt: skip


class Costs(NamedTuple):
    rigid: Numbers  # seconds per step by method and rods
    particles: Numbers  # and of the chain of particles
    machines: dict[str, dict[str, float]]  # seconds per step by method and mechanism
    unknowns: dict[str, dict[int, int]]  # of both chains


def measure(settings: Settings) -> Report:
    sizes = QUICK_SIZES if settings.quick else SIZES
    names = [method.name for method in settings.methods]
    costs = Costs({n: {} for n in names}, {n: {} for n in names}, {n: {} for n in names}, {"rods": {}, "particles": {}})
    for rods in sizes:
        measure_size(rods, settings, costs)
    measure_machines(settings, costs)
    tables, targets = cost_tables(sizes, costs)
    found = [measure_problem(name, problem, settings) for name, problem in PROBLEMS.items()]
    for _, told, claims in found:
        tables += told
        targets += claims
    numbers = {
        "dt": DT, "seconds_per_step": {"rigid_chain": costs.rigid, "chain": costs.particles, **turned(costs.machines)},
        "unknowns": costs.unknowns, "growth": {n: growth(known) for n, known in costs.rigid.items()},
        "precision": {name: numbers for name, (numbers, _, _) in zip(PROBLEMS, found)},
    }  # fmt: skip
    notes = [*machines.missing(), *rivals.missing()] if settings.peers else []
    return Report(tables, [] if settings.quick else targets, numbers, notes)


# Costs of steps


def measure_size(rods: int, settings: Settings, costs: Costs) -> None:
    """Time every method on both chains in turns."""
    scenes = {"rods": gallery("rigid_chain", n=rods), "particles": gallery("chain", n=rods)}
    models = {name: build(scene) for name, scene in scenes.items()}
    for name, model in models.items():
        costs.unknowns[name][rods] = unknowns(model)
    for method in settings.methods:
        if any(method.refusal(model) for model in models.values()):
            continue
        if expected(costs.rigid[method.name], rods) > LONGEST_STEP:
            continue
        loops = {name: Loop.of(scenes[name], model, method, DT) for name, model in models.items()}
        runs = {name: (loop.processor_seconds, enough_steps(loop.seconds)) for name, loop in loops.items()}
        least = in_turns(runs, budget(method, settings))
        costs.rigid[method.name][rods], costs.particles[method.name][rods] = least["rods"], least["particles"]
        del loops, runs
        gc.collect()


def unknowns(model: Model) -> int:
    """Velocities and multipliers of a step."""
    return int(model.bodies.free[: model.bodies.slots].sum()) + int(model.row_count)


def measure_machines(settings: Settings, costs: Costs) -> None:
    for name, dt in MACHINES.items():
        scene = gallery(name)
        model = build(scene)
        for method in settings.methods:
            if method.refusal(model) is None:
                costs.machines[method.name][name] = seconds_of(Loop.of(scene, model, method, dt), method, settings)


def seconds_of(loop: Loop, method: Method, settings: Settings) -> float:
    steps = enough_steps(loop.seconds, most=200)  # the squeezer runs faster and faster
    return in_turns({"": (loop.processor_seconds, steps)}, 0.0 if settings.quick else BUDGET)[""]


def growth(known: dict[int, float]) -> float | None:
    """The exponent of the time per step in the number of rods; None where fewer than two sizes tell it."""
    told = {n: t for n, t in known.items() if n >= LARGE and t > 0}
    if len(told) < 2:
        return None
    return float(np.polyfit(np.log(list(told)), np.log(list(told.values())), 1)[0])


def cost_tables(sizes: Sequence[int], costs: Costs) -> tuple[list[Table], list[Target]]:
    def ratio(name: str, n: int) -> float:
        """Of the times per unknown."""
        per_rod = costs.rigid[name][n] / costs.unknowns["rods"][n]
        return per_rod / (costs.particles[name][n] / costs.unknowns["particles"][n])

    def cell(known: bool, value: float) -> str:
        return digits(value) if known else "–"

    times, ratios = [], []
    for name, known in costs.rigid.items():
        exponent, own = growth(known), costs.machines[name]
        if not known and not own:
            continue
        times.append([name, *(cell(n in known, 1e6 * known.get(n, 0.0)) for n in sizes),
                      cell(exponent is not None, exponent or 0.0),
                      *(cell(m in own, 1e6 * own.get(m, 0.0)) for m in MACHINES)])  # fmt: skip
        ratios.append([name, *(digits(ratio(name, n)) if n in known else "–" for n in sizes)])
    header = [f"N = {n:,}" for n in sizes]
    columns = ["", *header, "growth", *MACHINES]
    tables = [Table("rigid_chain and mechanisms: µs of processor time per step", columns, times),
              Table("rigid_chain, times the chain of particles, per unknown", ["", *header], ratios)]  # fmt: skip
    watched = costs.rigid.get(WATCHED, {})
    targets = [Target(f"{WATCHED}, rigid_chain at N = {n:,}, times the particles per unknown", ratio(WATCHED, n),
                      PER_UNKNOWN) for n in watched]  # fmt: skip
    if watched:
        targets.append(Target(f"{WATCHED}, growth with the number of rods", growth(watched), GROWTH))
    return tables, targets


def turned(known: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """By mechanism and method."""
    return {machine: {name: own[machine] for name, own in known.items() if machine in own} for machine in MACHINES}


# Work and precision


def measure_problem(
    name: str, problem: Problem, settings: Settings
) -> tuple[dict[str, list[dict[str, object]]], list[Table], list[Target]]:
    """Error and time of our methods and, where asked for, of peers."""
    if settings.quick:
        problem = problem._replace(name=f"{problem.name}, but shorter", duration=problem.duration / QUICKER)
    problem = problem._replace(tolerances=(*LOOSE, *TOLERANCES))
    scene = problem.scene()
    model = build(scene)
    truth = true_positions(problem, scene, model)
    ours = {method.name: follow(problem, scene, model, method, truth, settings) for method in settings.methods
            if method.refusal(model) is None}  # fmt: skip
    theirs = follow_peers(name, problem, model, truth, settings) if settings.peers else {}
    series = ours | theirs
    numbers = {who: [point._asdict() for point in points] for who, points in series.items()}
    tables = [detail(problem, series), summary(problem, series)]
    return numbers, tables + ([winners(problem, ours, theirs)] if theirs else []), ahead(problem, ours, theirs)


def follow_peers(
    name: str, problem: Problem, model: Model, truth: np.ndarray, settings: Settings
) -> dict[str, list[Point]]:
    tree = machines.TREES[name]({info.name: model.x[info.slot].copy() for info in model.body_info})
    prepared: dict[str, Callable[[float], Engine]] = {}
    if not machines.missing():
        for peer, integrator in machines.INTEGRATORS.items():
            prepared[peer] = partial(machines.engine, name, model, problem.bodies, integrator)
    for rival in rivals.RIVALS:
        if find_spec(rival.module) is not None and rival.takes(tree):
            prepared[rival.name] = partial(rival.prepare, tree, model, problem.bodies)
    series: dict[str, list[Point]] = {}
    for peer, prepare in prepared.items():
        points = series[peer] = []
        for steps in problem.steps[:: 4 if settings.quick else 1]:
            engine = prepare(problem.duration / steps)
            seconds = repeat(engine.seconds, steps, settings)
            points.append(Point(f"{steps:,}", float(np.linalg.norm(engine.tip() - truth, axis=1).max()), seconds))
            if seconds > LONGEST_RUN:
                break
    return series


def winners(problem: Problem, ours: dict[str, list[Point]], theirs: dict[str, list[Point]]) -> Table:
    """Who comes within each error first, in plain words."""

    def first(series: dict[str, list[Point]], error: float) -> tuple[float, str]:
        return min(((p.seconds, who) for who, points in series.items() for p in points if p.error <= error),
                   default=(inf, ""))  # fmt: skip

    rows = []
    for error in problem.levels:
        (own, method), (peer, engine) = first(ours, error), first(theirs, error)
        said = "nobody comes so near"
        if own < inf or peer < inf:
            times = "alone" if inf in (own, peer) else f"{digits(max(own, peer) / min(own, peer))} times"
            said = f"taut, {times}" if own <= peer else f"{engine.split(',')[0]}, {times}"
        mine, other = (f"{who} {digits(1e3 * t)}" if who else "–" for t, who in ((own, method), (peer, engine)))
        rows.append([f"{error:g} m", mine, other, said])
    return Table(f"{problem.name}: who is ahead [ms]", ["", "taut", "best peer", "ahead"], rows)


def ahead(problem: Problem, ours: dict[str, list[Point]], theirs: dict[str, list[Point]]) -> list[Target]:
    """Our best time over the best of a peer, at each error that a peer reaches."""
    found = []
    for error in problem.levels:
        peer, own = best(theirs, error), best(ours, error)
        if peer is not None:
            what = f"{problem.name}: time to come within {error:g} m, times the best peer"
            found.append(Target(what, None if own is None else own / peer, AHEAD))
    return found


PART = Part("mechanisms", "rigid bodies with joints: chains, machines, accuracy", measure)
