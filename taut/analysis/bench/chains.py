"""Chains of N links that fall from the horizontal: what a step costs, beside the yardstick.

Memory is the sum of all arrays that the compiled loop works on. A tracer of Python's allocations would not
say more: numpy makes them all before the first step.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from math import log
from typing import NamedTuple

from ...methods import Method
from ...model import build
from ...scene import gallery
from ..timing import Loop, enough_steps, in_turns, least_of
from .base import Part, Report, Settings, Table, Target, digits
from .peers import present
from .yardstick import Yardstick

DT = 0.001
SIZES = (2, 10, 100, 1_000, 10_000, 100_000)
QUICK_SIZES = (2, 10, 100)
BUDGET = 0.4  # seconds of measuring per method and size
LONGEST_STEP = 1.0  # seconds: a size at which a step is expected to take longer is left out
WATCHED = "implicit_first"  # the method that the targets speak of, measured four times as long
YARDSTICK = "yardstick"

Numbers = dict[str, dict[int, float]]  # by name and number of links


class Costs(NamedTuple):
    seconds: Numbers  # per step
    memory: Numbers  # bytes
    refused: dict[str, str]  # why a method does not treat chains


def measure(settings: Settings) -> Report:
    sizes = QUICK_SIZES if settings.quick else SIZES
    names = [YARDSTICK, *(method.name for method in settings.methods)]
    costs = Costs({name: {} for name in names}, {name: {} for name in names}, {})
    for links in sizes:
        measure_size(links, settings, costs)
    peers, notes = measure_peers(sizes, settings) if settings.peers else ({}, [])
    notes += [f"{name} does not treat this scene: {reason}" for name, reason in costs.refused.items()]
    return report(sizes, costs, peers, notes)


def measure_size(links: int, settings: Settings, costs: Costs) -> None:
    """Time every method in turns with the yardstick."""
    scene = gallery("chain", n=links)
    model = build(scene)
    rod = Yardstick(links, DT)
    rod_steps = enough_steps(rod.seconds)
    costs.memory[YARDSTICK][links] = rod.nbytes
    for method in settings.methods:
        if reason := method.refusal(model):
            costs.refused[method.name] = reason
        if reason or expected(costs.seconds[method.name], links) > LONGEST_STEP:
            continue
        loop = Loop.of(scene, model, method, DT)
        runs = {method.name: (loop.seconds, enough_steps(loop.seconds)), YARDSTICK: (rod.seconds, rod_steps)}
        for name, value in in_turns(runs, budget(method, settings)).items():
            known = costs.seconds[name]
            known[links] = least_of(known.get(links, value), value)
        costs.memory[method.name][links] = loop.nbytes
        del loop, runs
        gc.collect()  # the arrays of a long chain take a hundred megabytes per method


def budget(method: Method, settings: Settings) -> float:
    if settings.quick:
        return 0.0
    return 4 * BUDGET if method.name == WATCHED else BUDGET


def expected(known: dict[int, float], links: int) -> float:
    """Seconds per step at the next size, as it grew between the last two."""
    if len(known) < 2:
        return 0.0
    (n1, t1), (n2, t2) = list(known.items())[-2:]
    return t2 * (links / n2) ** max(1.0, log(t2 / t1) / log(n2 / n1))


def measure_peers(sizes: Sequence[int], settings: Settings) -> tuple[Numbers, list[str]]:
    here, notes = present()
    seconds: Numbers = {peer.name: {} for peer in here}
    for peer in here:
        for links in (n for n in sizes if n <= peer.largest):
            engine = peer.prepare(links, DT)
            steps = enough_steps(engine.seconds_later)
            least = in_turns({peer.name: (engine.seconds_later, steps)}, 0.0 if settings.quick else BUDGET)
            seconds[peer.name] |= {links: least[peer.name]}
    return seconds, notes


def report(sizes: Sequence[int], costs: Costs, peers: Numbers, notes: Sequence[str]) -> Report:
    yardstick = costs.seconds[YARDSTICK]
    header = ["", *(f"N = {n:,}" for n in sizes)]

    def table(title: str, numbers: Numbers, value: Callable[[float, int], float]) -> Table:
        def cells(known: dict[int, float]) -> list[str]:
            return [digits(value(known[n], n)) if n in known else "–" for n in sizes]

        return Table(title, header, [[name, *cells(known)] for name, known in numbers.items()])

    everyone = costs.seconds | peers
    return Report(
        tables=[
            table("µs per step", everyone, lambda seconds, n: 1e6 * seconds),
            table("times the yardstick", everyone, lambda seconds, n: seconds / yardstick[n]),
            table("memory [MB]", costs.memory, lambda size, n: size / 1e6),
        ],
        targets=targets(costs.seconds.get(WATCHED, {}), yardstick),
        numbers={"dt": DT, "seconds_per_step": everyone, "bytes": costs.memory},
        notes=notes,
    )


def targets(known: dict[int, float], yardstick: dict[int, float]) -> list[Target]:
    found = [
        Target(f"{WATCHED} at N = {n:,}", 1e6 * known[n], limit, "µs per step")
        for n, limit in ((2, 0.5), (10, 1.0))
        if n in known
    ]
    found += [
        Target(f"{WATCHED} at N = {n:,}, times the yardstick", t / yardstick[n], 3.0)
        for n, t in known.items()
        if n >= 100
    ]
    if {10_000, 100_000} <= set(known):
        found.append(Target(f"{WATCHED}, t(100,000)/t(10,000)", known[100_000] / known[10_000], 12.0))
    return found


PART = Part("chains", "chains falling from the horizontal, dt = 0.001 s", measure)
