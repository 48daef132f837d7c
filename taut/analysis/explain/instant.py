"""From a scene and a time to the state there, and to the problem that the rules solve.

    w = S λ + c,    v̇ = v̇₀ + U λ                                                          (1)
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import floor, isfinite
from typing import Any

import numpy as np

from ...contact.algorithms import CONTACT_METHODS
from ...contact.problem import EVENTS, length_scale
from ...contact.snapshot import apply_impacts_now, dense_problem, evaluate, take_step
from ...errors import TautError, TautWarning, shown
from ...methods import STATUSES
from ...model import Model, build
from ...result import Run
from ...scene.scene import Scene
from ...simulation.plan import DEFAULT_UNILATERAL
from ...simulation.run import simulate
from ...simulation.session import Session

AT_ACCELERATIONS = "baumgarte"  # explains scenes whose own method acts on velocities
ZERO = 1e-9  # of the sizes of λ and w in a problem: what rounding leaves of zero
GAP, SPEED = 1e-6, 1e-5  # Φ [of a radius] and dΦ/dt [m/s] up to which a row touches: what methods leave of zero


@dataclass(frozen=True)
class Plan:
    """How a scene is brought to its instant."""

    scene: Scene
    model: Model
    method: str
    dt: float
    options: dict[str, Any]

    @property
    def stops_at_events(self) -> bool:
        return stops_at_events(self.method)


@dataclass(frozen=True)
class Problem:
    """(1) of the rows that touch."""

    rows: np.ndarray  # (n,) among the model's inequalities
    names: tuple[str, ...]
    phi: np.ndarray  # (n,) Φ, turned so that Φ ≥ 0 is wanted
    rate: np.ndarray  # (n,) dΦ/dt
    S: np.ndarray  # (n, n)
    c: np.ndarray  # (n,)
    free: np.ndarray  # (points, 3) v̇₀
    push: np.ndarray  # (n, points, 3) U
    bodies: tuple[tuple[str, int], ...]  # names and slots of free bodies that these rows act on
    size: float  # of the accelerations that forces alone would cause, or the turning of velocities

    @property
    def sizes(self) -> tuple[float, float]:
        """Of λ and w, against which rounding is judged."""
        w = max(self.size, float(np.abs(self.c).max(initial=0.0)))
        return w / float(max(np.diag(self.S).max(initial=0.0), 1e-300)), w

    def accelerations(self, lam: np.ndarray) -> dict[str, np.ndarray]:
        """v̇ of the bodies that touch, for these multipliers."""
        moved = self.free + np.tensordot(lam, self.push, 1)  # (1)
        return {name: moved[slot] for name, slot in self.bodies}


@dataclass(frozen=True)
class Impact:
    """What a row took part in before the rules are asked."""

    name: str
    impulse: float  # [N s]
    before: float  # dΦ/dt [m/s]
    after: float


def plan_for(scene: Scene, method: str | None, dt: float | None, options: dict[str, Any]) -> Plan:
    """Iteration at what the user asks for, before anything is compiled."""
    if not scene.is_unilateral:
        raise TautError(f"scene '{scene.name}' has no inequality, so there is no rule to explain; take one that has, "
                        "such as acute_corner (taut list scenes).")
    if scene.deformables:
        raise TautError(f"scene '{scene.name}' has cloth or solids, and the rules are not asked there; explain one "
                        "without, such as billiard.")
    model = build(scene)
    if model.inequalities.friction.any() or model.inequalities.group_friction.any():
        raise TautError(f"scene '{scene.name}' has friction, which the rules know nothing of; set it to 0 to have them "
                        "explained.")
    if len(model.inequalities.ball_slot):
        raise TautError(f"scene '{scene.name}' has too many pairs of balls to look at each; explain a smaller one "
                        "(up to 2,000 pairs).")
    suggested = dict(scene.suggested)
    name = method or suggested.get("method") or DEFAULT_UNILATERAL
    if dt is None:
        dt = suggested.get("dt")
    if dt is None or not isfinite(dt) or dt <= 0.0:
        raise TautError(f"dt is {shown(dt)}; give a positive number of seconds (--dt) to simulate the scene with.")
    return Plan(scene, model, name, float(dt), options)


def stops_at_events(method: str) -> bool:
    form = CONTACT_METHODS.get(method)
    return form is not None and form.algorithm == "event_driven"


def session(plan: Plan, rule: str) -> Session:
    """The start of the scene under a rule, at acceleration level, ready to be looked at."""
    method = plan.method if plan.stops_at_events else AT_ACCELERATIONS
    form = CONTACT_METHODS[method]
    known = {option.name for option in form.options}
    wanted = {**{k: v for k, v in plan.scene.suggested.items() if k in known},
              **(plan.options if plan.stops_at_events else {})}  # fmt: skip
    given = {"method": method, "dt": plan.dt, "steps": 1, "record_every": 1, "solver": "auto", "tolerance": None,
             "project_initial": True, "options": {**wanted, "active_set": rule}}  # fmt: skip
    return Session(plan.scene, plan.model, given)


def simulated(plan: Plan, steps: int) -> Run:
    """The scene after this many steps of its own method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TautWarning)
        run = simulate(plan.scene, plan.method, plan.dt, steps * plan.dt, record_every=steps, **plan.options)
    if run.status != "finished":
        raise TautError(f"the run to the instant failed: {run.message}")
    return run


def nearest_event(plan: Plan, at: float) -> float | None:
    """The moment of the activation or impact nearest to `at`, if it is within one step."""
    run = simulated(plan, floor(at / plan.dt) + 2)
    kinds = (float(EVENTS.index("activation")), float(EVENTS.index("impact")))
    times = [row[0] for row in run._events if row[1] in kinds and abs(row[0] - at) < plan.dt]
    return min(times, key=lambda time: abs(time - at)) if times else None


def bring(plan: Plan, there: Session, at: float) -> float:
    """Bring a session to the state at a time; returns the time, which without events is that of a whole step."""
    exact = plan.stops_at_events
    steps = floor(at / plan.dt + 1e-9) if exact else round(at / plan.dt)
    start = steps * plan.dt
    if steps > 0:
        end = simulated(plan, steps).records
        slots = end.x.shape[1]
        there.state.x[:slots], there.state.quat[:], there.state.v[:slots] = end.x[-1], end.quat[-1], end.v[-1]
    if not exact or at <= start:
        return start
    status = take_step(there.system, there.state, there.context, start, at - start)
    if status:
        raise TautError(f"the run to t = {at:g} s failed: {STATUSES[status]}.")
    return at


def impacts(there: Session, t: float) -> tuple[Impact, ...]:
    """Let what touches and approaches collide, as a run would before it asks a rule."""
    ctx = there.context.contact
    n = apply_impacts_now(there.system, there.state, ctx, t)
    if n <= 0:
        return ()
    rows, impulse, before = ctx.candidates.source[:n].copy(), ctx.dense.lam[:n].copy(), ctx.dense.rate[:n].copy()
    evaluate(there.system, there.state, ctx, t)
    names = there.model.inequality_names
    taken = np.flatnonzero(impulse > 1e-9 * impulse.max(initial=0.0))
    after = ctx.ineq_work.rate[rows]
    return tuple(Impact(names[rows[i]], float(impulse[i]), float(before[i]), float(after[i])) for i in taken)


def problem_at(there: Session, t: float, also: np.ndarray | None = None) -> Problem:
    """(1) at the state of a session, of the rows that touch and those in `also`."""
    ctx = there.context.contact
    evaluate(there.system, there.state, ctx, t)
    size = float(np.abs(there.system.work.a).max(initial=0.0))
    near = (ctx.ineq.phi <= GAP * length_scale(there.model)) & (ctx.ineq_work.rate <= SPEED)
    rows = np.flatnonzero(near)
    if also is not None:
        rows = np.union1d(rows, also)
    n = len(rows)
    ctx.ineq_work.selected[:n] = rows
    points = there.state.x.shape
    S, c, free, push = np.zeros((n, n)), np.zeros(n), np.zeros(points), np.zeros((n, *points))
    dense_problem(there.system, there.state, ctx, n, S, c, free, push)
    # Where nothing accelerates, what rounding leaves of zero must not pass for a decision.
    speed = float(np.abs(there.state.v).max(initial=0.0))
    size = max(size, speed * speed / length_scale(there.model))
    c[np.abs(c) <= ZERO * size] = 0.0
    moved = np.abs(push).max(axis=(0, 2), initial=0.0) > 0.0
    bodies = tuple((info.name, info.slot) for info in there.model.body_info if moved[info.slot])
    names = tuple(there.model.inequality_names[r] for r in rows)
    return Problem(rows, names, ctx.ineq.phi[rows], ctx.ineq_work.rate[rows], S, c, free, push, bodies, size)
