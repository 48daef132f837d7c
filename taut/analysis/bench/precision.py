"""Work and precision: the error at the end of a run against the wall time of its steps.

The true solution is the method `reference` at its tightest tolerance. The error is the largest distance of
the problem's bodies from where it puts them. Methods with a fixed step are run with a series of steps,
adaptive ones with a series of tolerances. Only the compiled loop is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite, nan
from typing import NamedTuple

import numpy as np

from ...methods import METHODS, Method
from ...model import Model, build
from ...scene import gallery
from ...scene.scene import Scene
from ..timing import Loop, in_turns
from .base import Part, Report, Settings, Table, Target, digits
from .peers import Engine, present

TIGHTEST = 1e-14
REDUCED = "reduced"  # all other methods work in maximal coordinates
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
BUDGET = 0.1  # seconds of measuring per method and setting


class Problem(NamedTuple):
    name: str
    scene: Callable[[], Scene]
    duration: float  # [s]
    bodies: tuple[str, ...]  # whose positions are compared
    steps: tuple[int, ...]  # the series of methods with a fixed step
    levels: tuple[float, ...]  # errors [m] at which methods are compared
    limits: tuple[tuple[float, float], ...] = ()  # targets: an error, and the seconds that reach it
    links: int = 0  # of the chain that peers know as well; 0: it is none
    tolerances: tuple[float, ...] = TOLERANCES  # the series of adaptive methods


class Point(NamedTuple):
    setting: str  # steps, or ± tolerance
    error: float  # [m]; nan where the run diverged
    seconds: float


PROBLEMS = (
    Problem(
        "double pendulum, tip at t = 2 s", lambda: gallery("chain", n=2), 2.0, ("node_2",),
        steps=(100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600),
        levels=(3e-2, 3e-3, 1e-5, 3e-7, 2e-8), limits=((3e-7, 0.4e-3), (2e-8, 0.8e-3)), links=2,
    ),
    Problem(
        "car axis, wheels at t = 3 s", lambda: gallery("car_axis"), 3.0, ("left", "right"),
        steps=(375, 750, 1_500, 3_000, 6_000, 12_000, 24_000, 48_000),
        levels=(1e-2, 1e-3, 1e-5, 1e-7, 1e-9),
    ),
)  # fmt: skip


def measure(settings: Settings) -> Report:
    tables: list[Table] = []
    targets: list[Target] = []
    notes: list[str] = []
    numbers: dict[str, object] = {}
    for problem in PROBLEMS:
        scene = problem.scene()
        model = build(scene)
        truth = true_positions(problem, scene, model)
        series = {
            method.name: follow(problem, scene, model, method, truth, settings)
            for method in settings.methods
            if method.refusal(model) is None
        }
        maximal = {name: points for name, points in series.items() if name != REDUCED}
        if settings.peers and problem.links:
            peers, missing = follow_peers(problem, truth, settings)
            series |= peers
            notes += missing
        tables += [detail(problem, series), summary(problem, series)]
        for error, limit in problem.limits:
            what = f"{problem.name}: within {error:g} m in maximal coordinates"
            targets.append(Target(what, in_ms(best(maximal, error)), 1e3 * limit, "ms"))
        numbers[problem.name] = {name: [p._asdict() for p in points] for name, points in series.items()}
    return Report(tables, targets, numbers, notes)


def true_positions(problem: Problem, scene: Scene, model: Model) -> np.ndarray:
    loop = Loop.of(scene, model, METHODS["reference"], problem.duration, TIGHTEST)
    loop.seconds(1)
    return positions(problem, loop)


def positions(problem: Problem, loop: Loop) -> np.ndarray:
    slots = {info.name: info.slot for info in loop.session.model.body_info}
    return loop.state.x[[slots[name] for name in problem.bodies]].copy()


def follow(
    problem: Problem, scene: Scene, model: Model, method: Method, truth: np.ndarray, settings: Settings
) -> list[Point]:
    """Error and time of a method along its series."""
    points = []
    for setting, steps, tolerance in series_of(problem, method, settings):
        loop = Loop.of(scene, model, method, problem.duration / steps, tolerance)
        seconds = repeat(loop.seconds, steps, settings)
        error = nan
        if isfinite(seconds):
            error = float(np.linalg.norm(positions(problem, loop) - truth, axis=1).max())
        points.append(Point(setting, error, seconds))
    return points


def series_of(
    problem: Problem, method: Method, settings: Settings
) -> Iterable[tuple[str, int, float | None]]:
    """What to run: a name, the number of steps, and the tolerance."""
    every = 4 if settings.quick else 1
    if method.adaptive:
        return [(f"±{tolerance:.0e}", 1, tolerance) for tolerance in problem.tolerances[::every]]
    return [(f"{steps:,}", steps, None) for steps in problem.steps[::every]]


def repeat(seconds: Callable[[int], float], steps: int, settings: Settings) -> float:
    """The least wall time [s] of all the steps."""
    seconds(steps)  # loads compiled code
    return steps * in_turns({"": (seconds, steps)}, 0.0 if settings.quick else BUDGET)[""]


def follow_peers(
    problem: Problem, truth: np.ndarray, settings: Settings
) -> tuple[dict[str, list[Point]], list[str]]:
    here, missing = present()
    series: dict[str, list[Point]] = {}
    for peer in here:
        points = series[peer.name] = []
        for steps in problem.steps[:: 4 if settings.quick else 1]:
            engine: Engine = peer.prepare(problem.links, problem.duration / steps)
            seconds = repeat(engine.seconds, steps, settings)
            error = float(np.linalg.norm(engine.tip() - truth[-1, :2]))
            points.append(Point(f"{steps:,}", error, seconds))
    return series, missing


def best(series: dict[str, list[Point]], error: float) -> float | None:
    """The least time [s] in which one of the methods comes within the error."""
    return min((p.seconds for points in series.values() for p in points if p.error <= error), default=None)


def in_ms(seconds: float | None) -> float | None:
    return None if seconds is None else 1e3 * seconds


def detail(problem: Problem, series: dict[str, list[Point]]) -> Table:
    longest = max((len(points) for points in series.values()), default=0)

    def cell(point: Point) -> str:
        return f"{point.error:.1e} {digits(1e3 * point.seconds)}" if isfinite(point.error) else "diverged"

    rows = []
    for name, points in series.items():
        span = f"{points[0].setting} … {points[-1].setting}"
        rows.append([name, span, *map(cell, points), *[""] * (longest - len(points))])
    return Table(f"{problem.name}: error [m] and time [ms]", ["", "steps or ±tolerance", *[""] * longest], rows)


def summary(problem: Problem, series: dict[str, list[Point]]) -> Table:
    def cell(points: list[Point], error: float) -> str:
        found = best({"": points}, error)
        return "–" if found is None else digits(1e3 * found)

    rows = [[name, *(cell(points, error) for error in problem.levels)] for name, points in series.items()]
    header = ["", *(f"{error:g} m" for error in problem.levels)]
    return Table(f"{problem.name}: milliseconds to come within an error", header, rows)


PART = Part("precision", "error at the end of a run against wall time", measure)
