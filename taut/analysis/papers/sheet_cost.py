"""What limits cost: the papers' own system of active springs, taut's system of all nodes, the choice between these two,
and a global implicit step.

A sheet of 1 m² held at two corners swings down, so that no contact is in it. Its density is the load: it decides how
many springs are at their limit. A global implicit step of stiff springs is as stiff as it must be to stretch no more
than the limit allows. Seconds are those of the processor, without set-up: those of a run less those of its first steps.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ...model import build
from ...result import Run
from ...scene.scene import Scene
from .base import Claim, judge_varied, number
from .cloth import ALLOWED, AT_LIMIT, LIMIT, PAPERS, STEP, active, largest, percent
from .common import go

DURATION = 0.5  # [s]: it has come to its limits at a quarter of a second
SIZES = {30: (0.2, 1.0, 5.0), 60: (0.05, 0.2, 1.0, 5.0), 100: (0.05, 0.2)}  # nodes along a side -> densities [kg/m²]
QUICK_SIZES = {10: (0.2, 5.0)}
STIFFNESS, FACTOR, STIFFEST = 50.0, 2.0, 2e6  # [N/m]: of soft springs, between stiffnesses tried, and the last one
CHEAPER = 2.0  # "much cheaper"
DEARER = 1.1  # than the better of both systems: what the choice between them may cost
CHOSEN: dict[str, Any] = {"system": "auto"}  # by the exact rule, as the system of nodes
FEW = 4  # steps that are taken off


def hung(n: int, density: float, **options: Any) -> Scene:
    scene = Scene(name="hung")
    scene.cloth(grid=(n, n), density=density, stiffness=STIFFNESS, shear=5, bending=0.05, damping=1e-3,
                pins=[0, n - 1], **{"limit": LIMIT, **options})  # fmt: skip
    return scene


def seconds(world: Scene, method: str, rehearsed: bool = False, **options: Any) -> tuple[Run, float]:
    """A run, and seconds of the processor per frame of 1/60 s.

    rehearsed  what is compiled or loaded only later in a run is not counted either
    """
    def spent(duration: float) -> tuple[Run, float]:
        began = time.process_time()
        run = go(world, method, STEP, duration, record_every=FEW, **options)
        return run, time.process_time() - began

    spent(DURATION if rehearsed else FEW * STEP)  # compiled code is loaded, and the scene analysed
    short, whole = spent(FEW * STEP)[1], spent(DURATION)
    return whole[0], max(whole[1] - short, 1e-9) / (60 * (DURATION - FEW * STEP))


def cost(quick: bool) -> list[dict[str, Any]]:
    rows = []
    start: dict[float, float] = {}  # of the search for a stiffness: what a coarser sheet needed
    for n, loads in (QUICK_SIZES if quick else SIZES).items():
        for density in loads:
            few, ours = seconds(hung(n, density, **PAPERS), "implicit_first")
            whole, all_nodes = seconds(hung(n, density), "implicit_first")
            either, alike = (seconds(hung(n, density, **one), "implicit_first", rehearsed=True)
                             for one in (CHOSEN, CHOSEN | {"system": "active"}))
            row = {"n": n, "density": density, "ours": ours, "nodes": all_nodes, "active": float(active(few).mean()),
                   "limits": len(build(hung(n, density)).deformables[0].limit_edges),
                   "finished": few.status == "finished", "chosen": either[1], "exact": alike[1],
                   "steps": either[0].info["system_steps"], "stretch_chosen": float(np.nanmax(largest(either[0]))),
                   "stretch": float(np.nanmax(largest(few))), "stretch_nodes": float(np.nanmax(largest(whole)))}
            row |= global_step(n, density, start.get(density, STIFFNESS))
            start[density] = row["stiffness"]
            rows.append(row)
    return rows


def global_step(n: int, density: float, stiffness: float) -> dict[str, Any]:
    """The global implicit step with springs that are stiff enough."""
    world = hung(n, density, hard="warp_weft", limit=None)  # it takes hard edges for springs of a stiffness
    while True:
        run, spent = seconds(world, "implicit_euler", stiffness=stiffness)
        stretch = float(np.nanmax(largest(run)))
        if stretch <= LIMIT + ALLOWED or stiffness >= STIFFEST:
            return {"global": spent, "stiffness": stiffness, "stretch_global": stretch}
        stiffness *= FACTOR


def name_of(row: dict[str, Any]) -> str:
    return f"{row['n']} × {row['n']} nodes of {row['density']:g} kg/m²"


def claims(rows: list[dict[str, Any]]) -> list[Claim]:
    def tried(other: str) -> dict[str, tuple[str, bool]]:
        return {
            name_of(row): (f"{number(row[other] / row['ours'])} with {percent(row['active'] / row['limits'])} active",
                           row[other] > CHEAPER * row["ours"] and row["finished"])
            for row in rows
        }  # fmt: skip

    held = max(row["stretch"] for row in rows)
    choice = {
        name_of(row): (f"{number(row['chosen'] / min(row['nodes'], row['exact']))}, {row['steps']['active']} of "
                       f"{sum(row['steps'].values()) - row['steps']['changes']} steps with active springs",
                       row["chosen"] < DEARER * min(row["nodes"], row["exact"])) for row in rows
    }  # fmt: skip
    needed = ", ".join(f"{number(row['stiffness'], 'N/m')} ({row['density']:g} kg/m²)" for row in rows[:3])
    told = "; ".join(f"{row['n']}: {number(1e3 * row['ours'])}, {number(1e3 * row['nodes'])} and "
                     f"{number(1e3 * row['global'])} ms" for row in rows)
    return [
        judge_varied(
            "cheaper-than-global",
            "Constraints on stretched springs only are much cheaper than a global implicit step with stiff springs "
            "that stretch no more.",
            "V.B, VI",
            f"time per frame: global / active springs > {CHEAPER:g}",
            "size and load",
            tried("global"),
            f"the papers' own step, stretched by {percent(held)} at most; springs as stiff as {needed}; ms per frame "
            f"by active springs, by all nodes and globally, in the same order: {told}",
        ),
        judge_varied(
            "cheaper-than-all-nodes",
            "A linear system of the stretched springs alone makes the step much cheaper: here against taut's own, "
            "which solves for all nodes.",
            "V.B",
            f"time per frame: all nodes / active springs > {CHEAPER:g}",
            "size and load",
            tried("nodes"),
            "the more springs are at their limit, and depend on each other, the less is gained",
        ),
        judge_varied(
            "chosen-system",
            "So whichever system is the cheaper one can be chosen as a run goes on (system='auto', by counts of "
            "operations).",
            "V.B",
            f"time per frame: chosen / the better of active springs and all nodes < {DEARER:g}, by the exact rule",
            "size and load",
            choice,
            f"stretched by {percent(max(row['stretch_chosen'] for row in rows))} at most; ms per frame by active "
            "springs, by all nodes and by the choice, in the same order: "
            + "; ".join(f"{number(1e3 * row['exact'])}, {number(1e3 * row['nodes'])} and {number(1e3 * row['chosen'])}"
                        for row in rows),
        ),
    ]


def draw(axis: Any, rows: list[dict[str, Any]]) -> None:
    """How many times dearer than active springs the others are, over the share of springs at their limit."""
    for key, mark, color, label in (("nodes", "s", AT_LIMIT, "all nodes"), ("global", "^", "#444444", "global step")):
        share = [100 * row["active"] / row["limits"] for row in rows]
        axis.plot(share, [row[key] / row["ours"] for row in rows], mark, color=color, label=label, markersize=4.5)
    axis.axhline(CHEAPER, color="#555555", linewidth=0.8, linestyle=(0, (2, 3)))
    axis.set(xlabel="active limits [%]", ylim=(0, None))
    axis.set_title("time ÷ active springs", fontsize=9)
    axis.legend(fontsize=8, frameon=False, handletextpad=0.1, borderpad=0.1)
