"""Jonquet 2008, Fig 6: a billiard of 11 balls in a corner, 77 inequalities.

Ten balls rest in the corner, the eleventh runs into them. The paper gives no numbers: balls of 3 cm and 170 g, the
moving one at 1 m/s along the diagonal, restitution 0.9, Runge-Kutta 4, h = 2 ms, τ = 10 h. Every step goes back to the
first activation; impacts are simultaneous (the paper says nothing of impacts).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...model import build
from ...picture import Layer, Renderer, describe, motion_of
from ...picture.bounds import Bounds
from ...picture.camera import looking_at
from ...picture.render import Ground
from ...result import Run
from ...scene import gallery
from ...view.overlay import Overlay, overlay_of
from .base import JONQUET2008, Claim, Figure, judge, number
from .common import case, go
from .plots import canvas, legend, save

RADIUS, STEP, TAU = 0.03, 0.002, 0.02
DURATION, QUICK_DURATION = 2.0, 0.7
MOMENTS = (0.0, 0.25, 0.382, 0.42, 0.5, 0.65)
RULES = ("jonquet", "platt", "platt_improved")
NAMES = {"jonquet": "Algorithm 3", "platt": "Platt", "platt_improved": "Algorithm 2"}
COLORS = {"jonquet": "#0072b2", "platt": "#d55e00", "platt_improved": "#e69f00"}
CUE, MOVING, AT_REST = "#d55e00", "#0072b2", "#c4c8ce"
ALLOWED, TOUCHING = 1e-8, 1e-9  # of a radius


def run(quick: bool) -> dict[str, Any]:
    scene = gallery("billiard", radius=RADIUS)
    duration = QUICK_DURATION if quick else DURATION
    runs = {
        rule: go(scene, case("baumgarte", active_set=rule), STEP, duration, tau=TAU, log=True, integrator="rk4")
        for rule in RULES
    }
    return {"names": build(scene).inequality_names, "runs": runs}


def gaps(result: Run) -> np.ndarray:
    """Φ of all inequalities at each record [m], in the order of the labels."""
    return result.records.phi[:, [row for info in result.labels.constraints if info.sense != "==" for row in info.rows]]


def touching(result: Run) -> np.ndarray:
    """How many constraints are active at each record."""
    return (gaps(result) <= TOUCHING * RADIUS).sum(axis=1)


def overlap(result: Run) -> float:
    """Of a radius."""
    return float(max(0.0, -gaps(result).min()) / RADIUS)


def smallest_gap(result: Run) -> float:
    """Of all pairs of balls and of all balls with both walls, at any record, from positions alone [radii]."""
    x = result.records.x[:, [info.slot for info in result.labels.bodies], :2]
    apart = np.linalg.norm(x[:, :, None] - x[:, None, :], axis=3) + 4 * RADIUS * np.eye(x.shape[1])
    return float(min((apart.min() - 2 * RADIUS) / RADIUS, (x.min() - RADIUS) / RADIUS))


def momentum_missed(result: Run) -> float:
    """By how much the change of momentum differs from the impulses of walls [of the first momentum]."""
    from ...result.dataset import momenta

    linear = momenta(result.labels, result.records)[0]
    events = result.events
    struck = events[events.kind == "impact"]
    given = np.zeros(3)
    for wall, axis in (("left", 0), ("bottom", 1)):
        given[axis] += struck[struck.constraint.str.endswith(f"|{wall}")].impulse.sum()
    return float(np.abs(linear[-1] - linear[0] - given).max() / np.abs(linear[0]).max())


def check(data: dict[str, Any]) -> list[Claim]:
    names, runs = data["names"], data["runs"]
    walls = sum(name.endswith(("|left", "|bottom")) for name in names)
    result = runs["jonquet"]
    energy = result.records.energy[:, 0]
    unexplained = abs(result.energy_change()) / float(energy[0])
    forgotten = smallest_gap(result)
    deep = {rule: overlap(one) for rule, one in runs.items()}
    count = touching(result)
    rounds = int(result.log.iteration.max())
    missed = momentum_missed(result)
    return [
        judge(
            "counted",
            "11 balls have two constraints each with the corner and one with each other: 77.",
            "5, Fig 6",
            "gap of any ball with a wall or another ball, from positions alone, > -1e-8 of a radius at any record",
            f"{number(forgotten)}; {walls} with walls + {len(names) - walls} between balls",
            forgotten > -ALLOWED and (walls, len(names)) == (22, 77),
            note="so none was forgotten",
        ),
        judge(
            "never-violated",
            "Going back to the first activation, constraints are never violated (Algorithm 3).",
            "3, 5",
            "largest overlap at any record < 1e-8 of a radius",
            number(deep["jonquet"]),
            deep["jonquet"] < ALLOWED,
            note=f"{count.max()} constraints are active at once",
        ),
        judge(
            "energy",
            "The same for what the paper leaves out, impacts with a restitution of 0.9: they take all the energy "
            "that is lost.",
            "5, Fig 6",
            "|energy lost - what impacts took| < 1e-9 of the first energy, and more than a tenth is lost",
            f"{number(unexplained)}; {number(energy[0], 'J')} at first, {number(energy[-1], 'J')} at last",
            unexplained < 1e-9 and energy[-1] < 0.9 * energy[0],
        ),
        judge(
            "momentum",
            "The same for momentum: it changes by what the walls give.",
            "5, Fig 6",
            "|change - impulses of the walls| < 1e-9 of the first momentum",
            number(missed),
            missed < 1e-9,
        ),
        judge(
            "platt-fails",
            "Simultaneous active constraints are not well handled by Platt's algorithm.",
            "5",
            "largest overlap with Platt's rule > 1 % of a radius",
            f"{100 * deep['platt']:.3g} %",
            deep["platt"] > 0.01,
            note=f"with Algorithm 2 {100 * deep['platt_improved']:.3g} %; of the energy Platt's rule leaves "
            f"{100 * float(runs['platt'].records.energy[-1, 0] / energy[0]):.2g} %. It does not loop for ever: each "
            "step solves one system",
        ),
        judge(
            "systems",
            "At worst n linear systems are solved at an instant, n being the number of inequalities.",
            "5",
            f"largest number of rounds ≤ {len(names)}",
            str(rounds),
            rounds <= len(names),
            note="rows enter together, so it takes far fewer",
        ),
    ]


def motion(data: dict[str, Any]) -> Overlay:
    runs = {NAMES[rule]: data["runs"][rule] for rule in RULES}
    return overlay_of(runs, "a billiard", side_by_side=True, plays=True, seen_from=(0.0, 12.0))


def draw(data: dict[str, Any], path: Path) -> None:
    result = data["runs"]["jonquet"]
    figure, axes = canvas(3, 3, height=8.6, gridspec_kw={"height_ratios": [1, 1, 0.75]})
    for axis, moment in zip(axes[:2].ravel(), MOMENTS):
        snapshot(axis, result, moment)
    for axis in axes[2]:
        axis.remove()
    below = figure.add_subplot(axes[2, 0].get_gridspec()[2, :])
    for rule in RULES:
        one = data["runs"][rule]
        below.step(one.records.time, touching(one), where="post", color=COLORS[rule], label=NAMES[rule])
    for moment in MOMENTS:
        below.axvline(moment, color="#bbbbbb", linewidth=0.8, linestyle=(0, (2, 3)))
    below.set(xlabel="time [s]", ylabel="active constraints", ylim=(0, None), xlim=(0.0, result.records.time[-1]),
              title="Φ ≤ 1e-9 of a radius; dotted: the moments above")  # fmt: skip
    below.grid(color="#dddddd")
    for color, label in ((CUE, "ball that runs into them"), (MOVING, "moves"), (AT_REST, "at rest")):
        below.plot([], [], "o", color=color, markersize=8, label=label)
    below.plot([], [], color="#222222", linewidth=1.2, label="touch (above)")
    legend(figure, below, columns=4)
    save(figure, path)


def snapshot(axis: Any, result: Run, moment: float) -> None:
    """Balls from above, in the colour of what they do; lines join those that touch."""
    row = int(np.argmin(np.abs(result.records.time - moment)))
    x, speed = result.records.x[row], np.linalg.norm(result.records.v[row], axis=1)
    place = {info.name: x[info.slot] for info in result.labels.bodies}
    state = {info.name: CUE if info.name == "cue" else (MOVING if speed[info.slot] > 1e-3 else AT_REST)
             for info in result.labels.bodies}  # fmt: skip
    motion = motion_of(result)
    parts = [replace(part, color=state.get(part.name)) for part in describe(motion)[0]]
    size = 16 * RADIUS
    table = Bounds(np.array([-0.8 * RADIUS, -0.8 * RADIUS, -RADIUS]), np.array([size, size, RADIUS]), is_planar=True)
    camera = looking_at(table, (600, 600), margin=1.0)
    felt = Ground(np.array([0.0, 0.0, -RADIUS]), np.array([0.0, 0.0, 1.0]))
    axis.imshow(Renderer(table, camera, felt).frame([Layer(parts, motion[row])]), extent=camera.extent(),
                interpolation="lanczos")  # fmt: skip
    names = [name for info in result.labels.constraints if info.sense != "==" for name in info.row_names()]
    active = np.flatnonzero(gaps(result)[row] <= TOUCHING * RADIUS)
    for k in active:
        one, other = names[k].split("|")
        a = place[one][:2]
        b = place[other][:2] if other in place else a * ([0, 1] if other == "left" else [1, 0])
        axis.plot([a[0], b[0]], [a[1], b[1]], color="#222222", linewidth=1.2)
    axis.set(aspect="equal", xticks=[], yticks=[], title=f"t = {result.records.time[row]:g} s, {len(active)} active")
    axis.grid(False)
    for spine in axis.spines.values():
        spine.set_visible(False)


FIGURE = Figure(
    "jonquet2008-fig6", "A billiard of 11 balls and 77 inequalities", JONQUET2008, run, check, draw, motion=motion
)
