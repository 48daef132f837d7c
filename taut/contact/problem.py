"""What a step with inequalities works on besides the system: the `par` of methods that treat them.

Rows of inequalities that may matter in a step are gathered into candidates: a compact list of sparse rows that
the solvers of taut/contact see, whatever kind, group or pair a row came from.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import structure
from ..geometry.ball_pairs import GridRoom, grid_room
from ..methods.base import Option
from ..model.arrays import Array, Batches, Inequalities, State, System
from ..model.model import Model
from .projected_gauss_seidel import Candidates, candidates
from .rules import RULES, rule_work
from .work import Log, RuleWork, empty_log

DENSE = 300  # rows up to which the complementarity problem is solved exactly with dense matrices
EVENT_ROOM = 200_000
LOG_ROOM = 400_000
ACTIVATION, RELEASE, IMPACT = range(3)
EVENTS = ("activation", "release", "impact")
REWIND = ("auto", "yes", "no")


@structure
class Contacts(NamedTuple):
    numbers: Array  # par of methods/base.py: tolerance, residual accepted, rounding
    integrator: int
    alpha: float
    beta: float
    rule: int
    rewind: int  # 1: go back to the moment of the first event of a step
    resting: float  # [m/s] approach below which an impact does not bounce
    time_tolerance: float  # [s]
    gap_tolerance: float  # [m] up to which a condition counts as touching
    speed_tolerance: float  # [m/s] of solvers that iterate
    friction: int  # 1: some contact has friction
    bouncing: int  # 1: some contact has restitution
    counted: int  # 1: work of drivers and of forces without potential is added up
    gravity: float  # [m/s²]
    smallest_ball: float  # [m]
    ineq: Inequalities
    spin_ptr: Array  # rotation blocks spin_ptr[r] : spin_ptr[r + 1] of row r
    crowd: Array  # (rows,) 1: a wall against balls of a crowd
    handled: Array  # (rows,) 1: held as an equality in the step under way
    touched: Array  # (rows,) 1: touching when the step began
    shared: Array  # (rows,) 1: pushed when forces were not unique
    started: Array  # (rows,) Φ when the step began,
    allowed: Array  # and how far below zero it may go before that is an event
    before: Array  # (rows,) event functions at the earlier end of the bracket,
    after: Array  # at the later one,
    trial: Array  # and in between
    cand: Candidates
    wanted: Array  # (rows,) rows to become candidates
    rate: Array  # (rows,) J v
    demand: Array  # (rows,) -d
    source: Array  # (candidates,) row of each, or -1 - its place in state.pairs
    member: Array  # (candidates,) 1: in the active set
    normal: Array  # (candidates,) their λ
    slack: Array  # (candidates,)
    free: Array  # (candidates,)
    bounce: Array  # (candidates,) restitution
    S: Array  # (dense rows, dense rows)
    lam3: Array  # (dense rows,) λ with friction
    c3: Array
    mu: Array
    work: RuleWork
    log: Log
    instant: Array  # (1,) looks at the set so far,
    instant_time: Array  # and when each was [s]
    u: Array  # (points, 3)
    v0: Array  # (points, 3)
    u3: Array  # (points, 3)
    kicked: Array  # (points, 3) v + h W f
    target: Array  # (equalities,)
    lam: Array  # (equalities,) their multipliers
    spare: Array  # for multipliers that nobody asks for,
    nothing: Array  # and for targets that are zero
    zero: Array  # (points, 3) of zeros,
    one: Array  # and of ones
    pushing: float  # reach within which a pair that pushes is found again [m]
    saved_x: Array
    saved_quat: Array
    saved_v: Array
    saved_memory: Array
    saved_ledger: Array
    grid: GridRoom  # scratch of the broad phase
    new_pairs: Array
    new_lam: Array
    pushed: Array  # (pairs,) 1: pushed in the last step
    softness: Array  # (1,) of contacts of crowds, where they are many; zero until the first step
    softened: Array  # (1,) 1: they were soft when λ was last found
    found: Array  # (1,) a number that a part hands back
    event_count: Array  # (1,)
    event_ints: Array  # (room, 3): kind, row or -1, and the balls of a pair packed into one number
    event_numbers: Array  # (room, 2): time [s], impulse [N s]


OPTIONS = (
    Option("active_set", "exact", "rule that decides which inequalities are handled", tuple(RULES)),
    Option("resting", 0.0, "approach [m/s] below which an impact does not bounce; 0: chosen by taut", minimum=0.0),
    Option("log", "no", "keep what the rule did at each step in run.log", ("no", "yes")),
)
EVENT_OPTIONS = (
    Option("rewind", "auto", "go back to the first activation in a step; auto: not for platt's rules", REWIND),
    Option("time_tolerance", 1e-12, "of the moment of an activation [s]", minimum=1e-15),
)


def contacts(model: Model, system: System, state: State, par: np.ndarray, named: dict[str, float]) -> Contacts:
    """Room for a model's inequalities. `named` holds the method's options as numbers."""
    source = model.inequalities
    rows = len(model.inequality_names)
    batches = Batches(*(np.array(array) for array in source.batches))
    ineq = source._replace(
        batches=batches, phi=source.phi.copy(), phi_t=source.phi_t.copy(), gamma=source.gamma.copy(),
        J=source.J.copy(),
    )  # fmt: skip
    spin_ptr = np.concatenate([[0], np.cumsum(np.bincount(source.rows.spin_row, minlength=rows))]).astype(np.int64)
    crowd = np.full(rows, int(len(source.ball_slot) > 0), np.int64)
    crowd[source.listed] = 0
    room = rows + len(state.pairs)
    widest = _widest(source)
    dense = min(DENSE, 3 * max(room, 1))
    points, rigid, m = len(model.x), len(model.quat), model.row_count
    tau = named.get("tau", 0.0)
    rule = int(named["active_set"])
    rewind = int(named.get("rewind", 2))
    keep_log = named["log"] > 0.0

    def zeros(names: str, *shape: int, dtype: type = float) -> dict[str, np.ndarray]:
        return {name: np.zeros(shape, dtype) for name in names.split()}

    return Contacts(
        numbers=par,
        integrator=int(named.get("integrator", 0)),
        alpha=1.0 / tau if tau > 0.0 else named.get("alpha", 0.0),
        beta=1.0 / tau if tau > 0.0 else named.get("beta", 0.0),
        rule=rule,
        rewind=int(rewind == 1 or (rewind == 0 and rule >= 2)),
        resting=float(named["resting"]),
        time_tolerance=named.get("time_tolerance", 0.0),
        gap_tolerance=max(1e-10 * length_scale(model), 4.0 * float(par[2])),
        speed_tolerance=1e-7,
        friction=int(bool(source.friction.any() or source.group_friction.any())),
        bouncing=int(bool(source.restitution.any() or source.group_restitution.any())),
        counted=int(model.is_counted),
        gravity=float(np.linalg.norm(model.gravity)),
        smallest_ball=float(source.ball_radius.min(initial=1.0)),
        ineq=ineq,
        spin_ptr=spin_ptr,
        crowd=crowd,
        **zeros("handled touched shared wanted", rows, dtype=np.int64),
        **zeros("started allowed before after trial rate demand", rows),
        cand=candidates(room, max(1, rows * widest + 4 * len(state.pairs)), points),
        **zeros("source member", room, dtype=np.int64),
        **zeros("normal slack free bounce", room),
        S=np.zeros((dense, dense)),
        **zeros("lam3 c3 mu", dense),
        work=rule_work(dense),
        log=empty_log(LOG_ROOM if keep_log else 0),
        instant=np.zeros(1, np.int64),
        instant_time=np.zeros(LOG_ROOM if keep_log else 0),
        **zeros("u v0 u3 kicked zero saved_v", points, 3),
        **zeros("target lam spare nothing", m),
        one=np.ones((points, 3)),
        pushing=1e-6 * length_scale(model),
        saved_x=model.x.copy(),
        saved_quat=np.zeros((rigid, 4)),
        saved_memory=np.zeros_like(state.memory),
        saved_ledger=np.zeros_like(state.ledger),
        grid=grid_room(len(source.ball_slot)),
        new_pairs=np.zeros_like(state.pairs),
        new_lam=np.zeros_like(state.pair_lam),
        pushed=np.zeros(len(state.pairs), np.int64),
        softness=np.zeros(1),
        softened=np.zeros(1, np.int64),
        found=np.zeros(1, np.int64),
        event_count=np.zeros(1, np.int64),
        event_ints=np.zeros((EVENT_ROOM, 3), np.int64),
        event_numbers=np.zeros((EVENT_ROOM, 2)),
    )


def length_scale(model: Model) -> float:
    """Below one metre the smallest ball, else one metre: gaps are judged against it."""
    radii = model.inequalities.ball_radius
    return float(min(1.0, radii.min())) if len(radii) else 1.0


def _widest(ineq: Inequalities) -> int:
    """The most blocks that one row can fill: its points, their rotations, and those of rigid balls."""
    width = int(np.diff(ineq.rows.ptr).max(initial=0))
    return 2 * width

