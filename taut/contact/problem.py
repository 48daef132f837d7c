"""The context of the algorithms in this package: the data that a step with inequalities uses besides system and state.

    ctx.problem     ContactProblem   constant: options, tolerances, sizes
    ctx.ineq        Inequalities     all rows Φ ≥ 0, with Φ, J, Φ_t and γ as last evaluated
    ctx.ineq_work   InequalityWork   one entry for each of these rows: active set, event functions
    ctx.candidates  ContactRows      the rows that may matter in a step, as sparse rows for the solvers
    ctx.sweeps      SweepWork        workspace of the iterative solver
    ctx.dense       DenseWork        the problem S λ + c, and the workspace of the rules
    ctx.eq          EqualityWork     targets and multipliers of the equalities
    ctx.vel         VelocityWork     velocities of all slots, (slots, 3) each
    ctx.saved       State            the state to which a step returns
    ctx.pairs       PairWork         broad phase of balls
    ctx.events      EventBuffers     what is handed to Python
    ctx.coordinates Coordinates      reduced coordinates, where a method has them
    ctx.settings    Settings         tunable numbers (settings.py)

Compiled functions get these structures by reference, so an attribute costs one load where it is used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import structure
from ..geometry.ball_pairs import GridWork, grid_work
from ..methods.base import RESIDUAL_ACCEPTED, ROUNDING, TOLERANCE, Option
from ..model.arrays import Array, Batches, Inequalities, State, start_state
from ..model.model import Model
from .coordinates import Coordinates, no_coordinates
from .projected_gauss_seidel import SweepWork, sweep_work
from .rows import ContactRows, contact_rows
from .rules import RULES, rule_work
from .settings import RuleSettings, Settings, StepSettings, current
from .work import Log, RuleWork, empty_log

# Capacities of buffers, which are emptied in time:
EVENT_CAPACITY = 200_000
LOG_CAPACITY = 400_000
EVENTS = ("activation", "release", "impact")
ACTIVATION, RELEASE, IMPACT = range(3)
SYSTEM_CHOSEN = 5  # of cloth, beyond the two kinds of switches (result/events.py)
REWIND = ("auto", "yes", "no")


@structure
class ContactProblem(NamedTuple):
    """Data that is constant during a run."""

    tolerance: float  # [m] on |Φ| of equalities and on the depth of inequalities
    residual_accepted: int  # 1: equalities contradict each other, a residual is accepted
    rounding: float  # [m] rounding error of Φ
    integrator: int
    alpha: float  # [1/s] feedback of Baumgarte
    beta: float  # [1/s]
    rule: int  # code of the active-set rule
    rewind: int  # 1: go back to the moment of the first event of a step
    resting: float  # [m/s] approach below which an impact has no restitution
    time_tolerance: float  # [s]
    gap_tolerance: float  # [m] up to which a row counts as touching
    friction: int  # 1: some contact has friction
    restitution: int  # 1: some contact has restitution
    projected: int  # 1: fixed steps take J where an unconstrained step ends (fast_projection)
    accumulates_work: int  # 1: work of drivers and of forces without potential is added up
    gravity: float  # [m/s²]
    smallest_ball: float  # [m]
    pair_reach: float  # [m] gap within which a pair with λ > 0 is found again for a record
    spin_ptr: Array  # rotation blocks spin_ptr[r] : spin_ptr[r + 1] of row r
    in_group: Array  # (rows,) 1: a wall against balls of a group with a broad phase


@structure
class InequalityWork(NamedTuple):
    """One entry for each inequality row."""

    active: Array  # 1: in the active set of the step under way
    touching: Array  # 1: touching when the step began
    indeterminate: Array  # 1: pushed when forces were not unique, at any time of the run
    g_start: Array  # event functions when the step began: Φ, or λ S_rr of rows that are active,
    g_tol: Array  # and how far below zero they may go before that is an event
    lam: Array  # λ of the active-set rule
    w: Array  # its slack J v̇ - d
    g_lo: Array  # event functions at the earlier end of the bracket,
    g_hi: Array  # at the later one,
    g_trial: Array  # and in between
    selected: Array  # rows that become candidates
    rate: Array  # J v, or dΦ/dt
    rate_start: Array  # dΦ/dt when the step began
    bias: Array  # -d
    tendency: Array  # J v̇ when nothing is active


@structure
class DenseWork(NamedTuple):
    """The dense problem w = S λ + c of the candidates."""

    S: Array  # (dense rows, dense rows)
    c: Array  # (candidates,)
    lam: Array  # (candidates,) normal multipliers
    w: Array  # (candidates,) slack
    rate: Array  # (candidates,) J v + Φ_t before an impact [m/s]
    c3: Array  # (dense rows,) c with friction: three rows for each candidate,
    lam3: Array  # their λ,
    mu: Array  # and the coefficients of friction
    rules: RuleWork


@structure
class EqualityWork(NamedTuple):
    target: Array  # (equalities,) of J_e v'
    lam: Array  # (equalities,) their multipliers
    lam_unused: Array  # multipliers that nobody reads
    zero: Array  # targets that are zero


@structure
class VelocityWork(NamedTuple):
    response: Array  # P W Jᵀ e_n of one candidate
    dv: Array  # a correction, or a velocity or force to be compared with another
    v_without_normals: Array  # of a step with friction and equalities, but without normal impulses
    v_pred: Array  # v + h W f
    unprojected: Array  # of reduced coordinates: W f and W Jᵀ λ, from which λ of the equalities follows
    zero: Array
    unit_weight: Array  # ones, in place of W where forces are added up


@structure
class PairWork(NamedTuple):
    grid: GridWork
    new_pairs: Array
    new_lam: Array
    was_active: Array  # (pairs,) 1: pushed in the last step
    compliance: Array  # (1,) relative compliance of contacts of groups where they are many; zero until the first step
    is_compliant: Array  # (1,) 1: some contact was compliant when λ was last found
    output: Array  # (1,) of the last search: the number of pairs, or the index of the deepest one


@structure
class EventBuffers(NamedTuple):
    filled: Array  # (1,) events so far
    ints: Array  # (capacity, 3): kind, row or -1, and the balls of a pair packed into one number
    numbers: Array  # (capacity, 2): time [s], impulse [N s]
    log: Log  # what the active-set rule did
    instant: Array  # (1,) evaluations of the rule so far,
    instant_time: Array  # and the time of each [s]


@structure
class ContactContext(NamedTuple):
    """The context of contact algorithms: all structures above."""

    problem: ContactProblem
    ineq: Inequalities
    ineq_work: InequalityWork
    candidates: ContactRows
    sweeps: SweepWork
    dense: DenseWork
    eq: EqualityWork
    vel: VelocityWork
    saved: State
    pairs: PairWork
    events: EventBuffers
    coordinates: Coordinates
    settings: Settings


OPTIONS = (
    Option("active_set", "exact", "rule that decides which inequalities are active", tuple(RULES)),
    Option("resting", 0.0, "approach [m/s] below which an impact has no restitution; 0: chosen by taut", minimum=0.0),
    Option("log", "no", "keep what the rule did at each step in run.log", ("no", "yes")),
)
EVENT_OPTIONS = (
    Option("rewind", "auto", "go back to the first activation in a step; auto: not for platt's rules", REWIND),
    Option("time_tolerance", 1e-12, "of the moment of an activation [s]", minimum=1e-15),
)


def contact_context(
    model: Model, state: State, options: np.ndarray, named: dict[str, float], dense: int | None = None
) -> ContactContext:
    """Structures for a model's inequalities. `options`: as in methods/base.py; `named`: the options as numbers.
    `dense`: up to how many rows matrices are dense; by default, what the current settings say."""
    source, rows, settings = model.inequalities, len(model.inequality_names), current()
    capacity = rows + len(state.pairs)
    slots = (len(model.x), 3)
    return ContactContext(
        problem=contact_problem(model, options, named, settings.steps),
        ineq=_own_copy(source),
        ineq_work=inequality_work(rows),
        candidates=contact_rows(capacity, max(1, rows * _blocks_per_row(source) + 4 * len(state.pairs))),
        sweeps=sweep_work(capacity, len(model.x), settings.sweeps),
        dense=dense_work(capacity, settings.sweeps.max_dense_rows if dense is None else dense, settings.rules),
        eq=EqualityWork(*(np.zeros(model.row_count) for _ in EqualityWork._fields)),
        vel=VelocityWork._make([*(np.zeros(slots) for _ in range(6)), np.ones(slots)]),
        saved=start_state(state),
        pairs=pair_work(len(source.ball_slot), state),
        events=event_buffers(keep_log=named["log"] > 0.0),
        coordinates=no_coordinates(),
        settings=settings,
    )  # fmt: skip


def contact_problem(
    model: Model, options: np.ndarray, named: dict[str, float], settings: StepSettings
) -> ContactProblem:
    source, rows = model.inequalities, len(model.inequality_names)
    in_group = np.full(rows, int(len(source.ball_slot) > 0), np.int64)
    in_group[source.listed] = 0
    tau = named.get("tau", 0.0)
    rule, rewind = int(named["active_set"]), int(named.get("rewind", 2))
    return ContactProblem(
        tolerance=float(options[TOLERANCE]),
        residual_accepted=int(options[RESIDUAL_ACCEPTED]),
        rounding=float(options[ROUNDING]),
        integrator=int(named.get("integrator", 0)),
        alpha=1.0 / tau if tau > 0.0 else float(named.get("alpha", 0.0)),
        beta=1.0 / tau if tau > 0.0 else float(named.get("beta", 0.0)),
        rule=rule,
        rewind=int(rewind == 1 or (rewind == 0 and rule >= 2)),
        resting=float(named["resting"]),
        time_tolerance=float(named.get("time_tolerance", 0.0)),
        gap_tolerance=max(
            settings.gap_tolerance * length_scale(model), settings.gap_roundings * float(options[ROUNDING])
        ),
        friction=int(bool(source.friction.any() or source.group_friction.any())),
        restitution=int(bool(source.restitution.any() or source.group_restitution.any())),
        projected=int(named.get("projected", 0)),
        accumulates_work=int(model.accumulates_work),
        gravity=float(np.linalg.norm(model.gravity)),
        smallest_ball=float(source.ball_radius.min(initial=1.0)),
        pair_reach=settings.pair_reach * length_scale(model),
        spin_ptr=np.concatenate([[0], np.cumsum(np.bincount(source.rows.spin_row, minlength=rows))]).astype(np.int64),
        in_group=in_group,
    )


def inequality_work(rows: int) -> InequalityWork:
    whole = ("active", "touching", "indeterminate", "selected")
    fields = InequalityWork._fields
    return InequalityWork(**{name: np.zeros(rows, np.int64 if name in whole else float) for name in fields})


def dense_work(capacity: int, max_rows: int, settings: RuleSettings) -> DenseWork:
    """For `capacity` candidates, of which at most `max_rows` rows, tangents among them, stand in dense matrices."""
    dense = min(max_rows, 3 * max(capacity, 1))
    return DenseWork(
        S=np.zeros((dense, dense)),
        c=np.zeros(capacity),
        lam=np.zeros(capacity),
        w=np.zeros(capacity),
        rate=np.zeros(capacity),
        c3=np.zeros(dense),
        lam3=np.zeros(dense),
        mu=np.zeros(dense),
        rules=rule_work(dense, settings),
    )


def pair_work(balls: int, state: State) -> PairWork:
    return PairWork(
        grid=grid_work(balls),
        new_pairs=np.zeros_like(state.pairs),
        new_lam=np.zeros_like(state.pair_lam),
        was_active=np.zeros(len(state.pairs), np.int64),
        compliance=np.zeros(1),
        is_compliant=np.zeros(1, np.int64),
        output=np.zeros(1, np.int64),
    )


def event_buffers(keep_log: bool) -> EventBuffers:
    logged = LOG_CAPACITY if keep_log else 0
    return EventBuffers(
        filled=np.zeros(1, np.int64),
        ints=np.zeros((EVENT_CAPACITY, 3), np.int64),
        numbers=np.zeros((EVENT_CAPACITY, 2)),
        log=empty_log(logged),
        instant=np.zeros(1, np.int64),
        instant_time=np.zeros(logged),
    )


def length_scale(model: Model) -> float:
    """The smallest radius of a ball, at most one metre: gaps are judged against it."""
    radii = model.inequalities.ball_radius
    return float(min(1.0, radii.min())) if len(radii) else 1.0


def _own_copy(source: Inequalities) -> Inequalities:
    """A model may serve several runs; charts and values belong to one."""
    return source._replace(
        batches=Batches(*(np.array(array) for array in source.batches)), phi=source.phi.copy(),
        phi_t=source.phi_t.copy(), gamma=source.gamma.copy(), J=source.J.copy(),
    )  # fmt: skip


def _blocks_per_row(ineq: Inequalities) -> int:
    """The most blocks that one row can have: its points, their rotations, and those of rigid balls."""
    return 2 * int(np.diff(ineq.rows.ptr).max(initial=0))
