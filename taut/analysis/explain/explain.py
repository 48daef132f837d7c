"""explain(): one instant of a scene under all four rules."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import isfinite
from typing import Any

from ...errors import TautError, TautWarning, shown
from ...scene.scene import Scene
from .instant import Impact, Plan, Problem, bring, impacts, nearest_event, plan_for, problem_at, session, simulated
from .rules import Trace, exact, jonquet, stepping

RULE_OF_RUN = "exact"
SHOWN_EVENTS = 3


@dataclass(frozen=True)
class Explanation:
    """What happened at an instant: impacts first, then each rule's way to its set."""

    scene: str
    time: float
    method: str
    dt: float
    problem: Problem
    impacts: tuple[Impact, ...]
    traces: tuple[Trace, ...]  # none where nothing touches after the impacts
    notes: tuple[str, ...]

    def __getitem__(self, rule: str) -> Trace:
        return next(trace for trace in self.traces if trace.rule == rule)


def explain(
    scene: Scene, at: float = 0.0, method: str | None = None, dt: float | None = None, **options: Any
) -> Explanation:
    """What each rule for the active set does at one instant of a scene.

    at       the instant [s]; an activation or impact within one step of it is taken instead
    method   that brings the scene to this instant; default: what the scene suggests
    dt       its step [s], also that of the rules that change their set between steps
    options  of the method
    """
    if isinstance(at, bool) or not isinstance(at, int | float) or not isfinite(at) or at < 0.0:
        raise TautError(f"at is {shown(at)}; give a time in seconds that is not negative.")
    plan = plan_for(scene, method, dt, options)
    there = session(plan, RULE_OF_RUN)
    wanted, notes = at, []
    if at > 0.0:
        event = nearest_event(plan, at) if plan.stops_at_events else None
        wanted = at if event is None else event
    t = bring(plan, there, wanted)
    if abs(t - at) > 1e-9 * (1.0 + at):
        what = "of the nearest event" if plan.stops_at_events else "of a whole step"
        notes.append(f"shown is the instant {what}, t = {t:.9g} s")
    if not plan.stops_at_events:
        notes.append(f"{plan.method} acts on velocities; the rules are explained on accelerations")
    struck = impacts(there, t)
    problem = problem_at(there, t)
    if not len(problem.rows):
        if not struck:
            raise _nothing_touches(plan, t)
        return Explanation(scene.name, t, plan.method, plan.dt, problem, struck, (), tuple(notes))
    traces = []
    for rule in ("platt", "platt_improved"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TautWarning)  # the first session has said it
            other = session(plan, rule)
        for name in ("x", "quat", "v"):
            getattr(other.state, name)[:] = getattr(there.state, name)
        traces.append(stepping(rule, other, t, plan.dt))
    traces += [jonquet(problem), exact(problem)]
    return Explanation(scene.name, t, plan.method, plan.dt, problem, struck, tuple(traces), tuple(notes))


def _nothing_touches(plan: Plan, t: float) -> TautError:
    """Say when something does touch."""
    duration = max(float(plan.scene.suggested.get("duration", 0.0)), t + plan.dt)
    table = simulated(plan, round(duration / plan.dt)).events
    table = table[table.kind != "release"]
    near = table.iloc[(table.time - t).abs().argsort(kind="stable")[:SHOWN_EVENTS]]
    listed = ", ".join(f"{row.time:.6g} ({row.kind} of {row.constraint})" for row in near.itertuples())
    hint = f"the nearest events are at t = {listed}" if listed else f"nothing does up to t = {duration:g} s"
    return TautError(f"nothing touches at t = {t:.6g} s of scene '{plan.scene.name}', so no rule has anything to "
                     f"decide; {hint}.")
