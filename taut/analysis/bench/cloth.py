"""Cloth: what a frame of 1/60 s costs, how far edges are stretched, and the memory it takes; beside XPBD.

XPBD holds the same springs and hard edges by sweeps, in its strong form: many substeps of one iteration. It is given
the fewest substeps, to about a fifth, with which no edge is longer than a target at the end of any frame measured; a
search ends where twice as many would take more than a minute. Targets are those of the quicker method, which is the
same at every size; that of the other is told beside it. Everything runs with one thread, and its time on the
processor is told, which other programs disturb less than the time of day. Peak memory is the resident memory of the
process at its largest, beyond what a sheet of 4 x 4 nodes needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from math import log, sqrt
from typing import Any

from ...progress import print_status
from ...scene import gallery
from .base import Part, Report, Settings, Table, Target, digits
from .frames import Frames, Measured, Sheet, Span, alone, forget_peak, least_of_repeats, memory, watch
from .pypbd import PACKAGE, PositionBased, present

QUICK_METHOD, METHOD = "fast_projection", "implicit_first"
TOLERANCE = 1e-4
SIZES, COMPARED, QUICK_SIZES = (30, 60, 100, 200), (30, 60, 100), (8,)
LARGE, QUICK_SPAN = 200, Span(2, 6)
STRETCHES = {0.01: 0.5, 0.001: 0.2}  # a largest elongation: the share of XPBD's time that taut may take
JUDGED = (60, 100)  # sizes for which it is a target
FIRST, FINER = 64, 2  # substeps tried first; bisections, each halving the logarithm
BUDGET, PATIENCE, LONGEST = 10.0, 90.0, 60.0  # seconds: for repeats; after which a run is stopped; of a trial of XPBD
SMALL = 4
GROWTH, IN_TIME = 2.6, 0.06  # exponent of n; seconds per frame of 100 x 100 nodes


@dataclass(frozen=True)
class Case:
    """A scene, and how it is stepped."""

    label: str
    scene: str
    steps: int  # in a frame
    span: Span
    short: Span  # of a large sheet
    method: str = METHOD
    tolerance: float | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    def make(self, n: int) -> Frames:
        return Frames(gallery(self.scene, n=n, **self.parameters), self.method, self.steps, self.tolerance)


SWING, SHORT = Span(30, 60), Span(30, 40)
HANGS = tuple(
    Case(f"cloth_hang, {method}, dt 1/{60 * steps} s", "cloth_hang", steps, SWING, SWING, method, TOLERANCE)
    for method, steps in ((QUICK_METHOD, 1), (QUICK_METHOD, 2), (METHOD, 1))
)
CASES = (
    *HANGS,
    Case("cloth_ball, limit 10 %, dt 1/240 s", "cloth_ball", 4, Span(10, 40), Span(10, 20)),
    Case("cloth_fold, limit 10 %, dt 1/240 s", "cloth_fold", 4, SWING, SHORT),
)

Cells = dict[int, dict[str, Any]]  # by n


def measure(settings: Settings) -> Report:
    asked = [method.name for method in settings.methods]
    cases = {number: case for number, case in enumerate(CASES) if case.method in asked}
    if not cases:
        return Report(tables=[], notes=[f"cloth is measured with {QUICK_METHOD} and {METHOD}; neither was asked for"])
    sizes = QUICK_SIZES if settings.quick else SIZES
    found: dict[str, Cells] = {case.label: {} for case in cases.values()}
    for number, case in cases.items():
        for n in sizes:
            print_status(f"{case.label}, n = {n}")
            found[case.label][n] = alone(measure_case, number, n, settings.quick)
    engines = ["XPBD"] + (["pyPBD"] if settings.peers and present() else [])
    ours = _quickest(found, sizes)
    searched: dict[int, dict[str, Any]] = {n: {} for n in ours if settings.quick or n in COMPARED}
    for n, cells in searched.items():
        for engine in engines:
            print_status(f"fewest substeps of {engine}, n = {n}")
            cells[engine] = alone(search, engine, n, settings.quick)
    span = QUICK_SPAN if settings.quick else SWING
    tables = [
        Table(title, ["", *(f"n = {n}" for n in sizes)],
              [[label, *(_cell(cells[n], key, scale) for n in sizes)] for label, cells in found.items()])
        for title, key, scale in (
            ("ms per frame", "seconds", 1e3), ("largest elongation [%]", "largest", 100.0),
            ("largest mean elongation [%]", "mean", 100.0), ("peak memory [MB]", "memory", 1e-6),
        )
    ]  # fmt: skip
    if not settings.quick:
        tables.append(_growths(found))
    tables += [_comparison(stretch, span, ours, searched) for stretch in STRETCHES if searched]
    notes = [f"{label}, n = {n}: {cell['ended']}" for label, cells in found.items()
             for n, cell in cells.items() if cell["ended"]]  # fmt: skip
    if settings.peers and not present():
        notes.append(f"not installed: {PACKAGE}; pip install {PACKAGE}")
    numbers: dict[str, Any] = {"cases": found, "least_substeps": searched}
    if any(cell["ended"] for cells in found.values() for cell in cells.values()):
        notes.insert(0, "* did not come to its end: what was measured until then")
    return Report(tables, [] if settings.quick else _targets(found, ours, searched), numbers, notes)


def measure_case(number: int, n: int, quick: bool) -> dict[str, Any]:
    case = CASES[number]
    watch(case.make(SMALL), Span(0, 1))  # loads, or compiles, what is needed
    before = memory("VmRSS")
    forget_peak()
    span = QUICK_SPAN if quick else case.short if n >= LARGE else case.span
    result = least_of_repeats(lambda: case.make(n), span, BUDGET, PATIENCE)
    return asdict(result) | {"memory": max(0.0, memory("VmHWM") - before), "frames": str(span)}


def search(engine: str, n: int, quick: bool) -> dict[float, dict[str, Any]]:
    """For each stretch the least substeps of an engine that stay below it, and what they cost."""
    scene, span = gallery("cloth_hang", n=n), QUICK_SPAN if quick else SWING
    tried: dict[int, Measured] = {}

    def sheet(substeps: int) -> Sheet:
        return PositionBased(scene, substeps) if engine == "pyPBD" else Frames(scene, "xpbd", 1, substeps=substeps)

    def holds(stretch: float, substeps: int) -> bool:
        # What was stopped for a larger stretch has failed for this one as well.
        if substeps not in tried:
            tried[substeps] = watch(sheet(substeps), span, allowed=stretch)
        return tried[substeps].largest <= stretch

    def is_too_slow(substeps: int) -> bool:
        return 2 * tried[substeps].seconds * span.last > LONGEST

    watch(sheet(1), Span(0, 1))
    found: dict[float, dict[str, Any]] = {}
    for stretch in STRETCHES:
        substeps, below = least_substeps(partial(holds, stretch), FIRST, is_too_slow)
        best = tried[substeps]
        found[stretch] = {"substeps": substeps, "reached": below, "seconds": best.seconds, "largest": best.largest}
    return found


def least_substeps(
    holds: Callable[[int], bool], first: int, is_too_slow: Callable[[int], bool]
) -> tuple[int, bool]:
    """Double until it holds or is too slow, then bisect; whether it holds."""
    high = first
    while not holds(high):
        if is_too_slow(high):
            return high, False
        high *= 2
    low = high // 2 if high > first else 1
    for _ in range(FINER):
        middle = round(sqrt(low * high))
        if middle in (low, high):
            break
        if holds(middle):
            high = middle
        else:
            low = middle
    return high, True


def _quickest(found: dict[str, Cells], sizes: tuple[int, ...]) -> dict[int, float]:
    """Seconds per frame of cloth_hang, by n, with whichever way takes least; none where edges were not held."""
    held = {n: [found[case.label][n] for case in HANGS if case.label in found] for n in sizes}
    times = {n: [cell["seconds"] for cell in cells if not cell["ended"] and cell["largest"] <= TOLERANCE]
             for n, cells in held.items()}  # fmt: skip
    return {n: min(values) for n, values in times.items() if values}


def _growth(cells: Cells) -> float | None:
    """The exponent of n from the smallest to the largest sheet."""
    low, high = SIZES[0], SIZES[-1]
    first, last = cells[low], cells[high]
    if first["ended"] or last["ended"]:
        return None
    return log(last["seconds"] / first["seconds"]) / log(high / low)


def _growths(found: dict[str, Cells]) -> Table:
    grown = {label: _growth(cells) for label, cells in found.items()}
    rows = [[label, digits(value) if value is not None else "–"] for label, value in grown.items()]
    return Table(f"growth of the time per frame from n = {SIZES[0]} to {SIZES[-1]}", ["", "exponent of n"], rows)


def _cell(cell: dict[str, Any], key: str, scale: float) -> str:
    value = cell[key]
    if value != value:
        return "–"
    return digits(scale * value) + (" *" if cell["ended"] else "")


def _comparison(stretch: float, span: Span, ours: dict[int, float], searched: dict[int, Any]) -> Table:
    rows = []
    for n, engines in searched.items():
        cells = [str(n), digits(1e3 * ours[n])]
        for found in engines.values():
            cell = found[stretch]
            more = "" if cell["reached"] else "> "
            cells += [f"{more}{cell['substeps']:,}", f"{more}{digits(1e3 * cell['seconds'])}",
                      f"{more}{digits(cell['seconds'] / ours[n])}"]  # fmt: skip
        rows.append(cells)
    header = ["n", f"taut, to {100 * TOLERANCE:g} %"]
    for name in next(iter(searched.values())):
        header += [f"{name}: substeps", "ms", "times taut"]
    title = f"cloth_hang, ms per frame so that no edge is stretched by more than {100 * stretch:g} %"
    return Table(f"{title}, frames {span}", header, rows)


def _targets(found: dict[str, Cells], ours: dict[int, float], searched: dict[int, Any]) -> list[Target]:
    what = f"cloth_hang, 100 x 100 nodes, 19,800 hard edges to {TOLERANCE:g}"
    targets = [Target(what, 1e3 * ours[100] if 100 in ours else None, 1e3 * IN_TIME, "ms per frame")]
    for n in JUDGED:
        for stretch, share in STRETCHES.items():
            part = ours[n] / searched[n]["XPBD"][stretch]["seconds"] if n in searched else None
            what = f"cloth_hang, n = {n}, at most {100 * stretch:g} %: time per frame, of that of XPBD"
            targets.append(Target(what, part, share))
    for case in HANGS:
        if case.method == QUICK_METHOD and case.label in found:
            what = f"{case.label}: growth from n = {SIZES[0]} to {SIZES[-1]}, exponent of n"
            targets.append(Target(what, _growth(found[case.label]), GROWTH))
    return targets


PART = Part("cloth", "cloth, per frame of 1/60 s, one thread", measure)
