"""The structures of compiled code: named tuples of flat arrays.

Points are what forces and constraints act on. The first `slots` points carry unknowns, three numbers
each: a particle has one slot, a rigid body two (its centre of mass, then its rotation), a scalar
coordinate one (it uses the first number). Places in the world are slots that never move. After the slots
come the places on rigid bodies, whose motion follows from their body's.

    x       positions [m] of points (a rotation's entry is unused)
    quat    orientation of each rigid body's principal axes, (w, x, y, z)
    v       velocities [m/s]; of a rotation: angular velocity in the body's principal axes [rad/s]
    inverse_mass  diagonal of W = M⁻¹, zero for what is fixed or driven
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from ..compiled import structure
from ..linalg import Linear

Array = np.ndarray
# What a run counts, as run.info names it; and where each stands in Work.counts.
COUNTERS = ("linear_solves", "corrections", "singular_systems", "failed_solves", "doubtful_systems")
LINEAR_SOLVES, CORRECTIONS, SINGULAR_SYSTEMS, FAILED_SOLVES, DOUBTFUL_SYSTEMS = range(len(COUNTERS))
# What a step adds up in State.ledger [J]: work of what moves on its own and of forces without potential, which systems
# receive, and what impacts and friction take from them. records.energy has them in this order.
DRIVER_WORK, FORCE_WORK, IMPACT_LOSS, FRICTION_LOSS = range(4)


@structure
class Bodies(NamedTuple):
    slots: int
    may_move: int  # the first slots, those of bodies; places in the world and counters stand behind them
    inverse_mass: Array  # (points, 3) diagonal of W = M⁻¹
    mass: Array  # (points, 3) masses, zero where nothing moves
    free: Array  # (points, 3) one where something is unknown, else zero: the weight of an unweighted projection
    constant: Array  # (points, 3) constant forces: gravity
    spin_slot: Array  # rigid bodies: slot of the rotation
    inertia: Array  # (rigid, 3) principal moments of inertia [kg m²]
    velocity_forces: int  # 1 where some force depends on velocity
    even_weight: Array  # (points, 3) W of bodies of 1 kg and the same shape; (0, 3) where masses are of one size


@structure
class Places(NamedTuple):
    """Places on rigid bodies, and directions that turn with them.

    A direction has a base that stays at the origin, so that its position is R u, its velocity ω × R u, and what
    acts on it only turns its body.
    """

    point: Array  # the place's own point
    slot: Array  # centre of mass of its body; its rotation is the next slot
    base: Array  # the slot that it is carried by: `slot`, or of a direction one that never moves
    body: Array  # index into quat
    arm: Array  # (places, 3) from the centre of mass, in principal axes [m]
    frame: Array  # (rigid, 9) R by rows, where places were last set
    constrained: int  # how many of the first ones rows act on; on the others forces (and inequalities) act alone


@structure
class Batches(NamedTuple):
    """Constraints or forces, grouped by kind."""

    code: Array
    address: Array  # of each batch's kernel
    chart: Array  # address of what is called at the start of a step, or 0: to choose a chart; of forces, to sample
    has_chart: Array
    members: Array  # how many constraints or forces in each batch
    at: Array  # (batches, 5): see constraints.base.At
    idx: Array
    p: Array
    p_t: Array
    p_tt: Array
    ints: Array


@structure
class Rows(NamedTuple):
    """Where the blocks of J stand: those of points in rows, then those of rotations."""

    ptr: Array  # blocks ptr[r] : ptr[r + 1] of row r
    slot: Array  # slot of each block
    spin_block: Array  # block of a rotation,
    spin_from: Array  # the block of the place that it follows from,
    spin_row: Array  # its row,
    spin_place: Array  # and the place on the rigid body
    at_velocity: Array  # (rows,) 1 where the row is a condition on velocities, A v + b = 0, else 0
    enforced: Array  # (rows,) 1 where the row holds, 0 where it is left out for now; asked if System.selective


@structure
class Moving(NamedTuple):
    """Blocks of J on slots that may move, by rows and by slots: for J v and Jᵀ λ where bodies turn, else empty."""

    ptr: Array  # blocks ptr[r] : ptr[r + 1] of row r
    block: Array
    slot: Array  # slots that some row acts on,
    slot_ptr: Array  # slot_ptr[i] : slot_ptr[i + 1] are those of slot[i]:
    slot_block: Array
    slot_row: Array


@structure
class Panels(NamedTuple):
    """Where the numbers of the panels of J come from, group after group (panels.py); empty where it has none."""

    first: Array  # (groups + 1, 4) where each of the following begins for each group, and ends:
    constant: Array  # (., 2) blocks of J that never change, and where they go
    block: Array  # (., 2) others that are taken as they are
    carried: Array  # (., 4) blocks that are carried to rotations: their body, their place, and where they go
    added: Array  # (., 2) blocks that are added to what is there
    primed: Array  # (1,) 1: those that never change have been taken


@structure
class Inequalities(NamedTuple):
    """Conditions Φ ≥ 0, with their own rows and workspace to evaluate them, and balls that touch each other."""

    batches: Batches
    rows: Rows
    to_parameter: Array  # (k, 2): signal, position in the batches' parameters
    sign: Array  # (rows,) -1 where the user said ≤
    restitution: Array  # (rows,)
    friction: Array  # (rows,)
    arm: Array  # (blocks,) radius of a rigid ball, on whose surface friction acts; else 0
    quat_of: Array  # (slots,) orientation of the rigid body whose centre the slot is; else -1
    listed: Array  # rows whose λ, Φ and dΦ/dt are recorded
    ball_slot: Array  # (balls,) balls of groups with too many pairs to list
    ball_radius: Array
    ball_group: Array  # (balls, 2) bit g: the ball stands in the first, in the second list of group g
    group_restitution: Array  # (groups,)
    group_friction: Array
    phi: Array
    phi_t: Array
    gamma: Array
    J: Array


@structure
class Signals(NamedTuple):
    """Functions of time and what they drive."""

    address: Array
    values: Array  # (signals, 3): value, first and second derivative
    to_constraint: Array  # (k, 2): signal, position in the constraints' parameters
    to_force: Array
    driven: Array  # (k, 3): signal, slot, component
    turned: Array  # (k, 3): signal, body (quat), rotation slot
    turned_axis: Array  # (k, 3) axis in the world
    turned_from: Array  # (k, 4) orientation at angle zero
    carried: Array  # (k, 3): slot that sits on a driven body, slot of that body's centre, its quat or -1
    carried_arm: Array  # (k, 3) from that centre, in principal axes [m]


@structure
class SwitchedRows(NamedTuple):
    """Rows of equalities or inequalities that are switched (switched_rows.py)."""

    row: Array
    keeper: Array  # point that keeps whether it is on
    offset: Array  # point that keeps Φ and dΦ/dt of the moment at which it was switched on
    ease: Array  # [s]
    at_velocity: Array  # 1: a condition on velocities
    phi_off: Array  # Φ while it is off: 0 of an equality, of an inequality a value that is far from touching
    recorded: Array  # place among recorded rows, or -1
    off: Array  # 1: off where last evaluated


@structure
class Switches(NamedTuple):
    """Constraints and forces that are switched on and off by time or by conditions (switching.py)."""

    keeper: Array  # (switches,) point that keeps its state
    span: Array  # (switches, 2) from, until [s]
    address: Array  # (switches, 2) of the conditions `active` and `when`; 0: none
    first: Array  # (switches, 3) where their points begin in idx, and where they end
    idx: Array  # of a body its slot, of joint j -1 - j
    joint_first: Array  # (joints + 1,) where the coordinates of each joint in conditions begin,
    joint_type: Array  # (coordinates,) what each is,
    joint_points: Array  # (coordinates, 4) of which points,
    joint_offset: Array  # (coordinates,) and what is added to it
    is_force: Array  # (switches,)
    equalities: SwitchedRows
    inequalities: SwitchedRows
    of_force: Array  # (batches of forces,) keeper, or -1
    packed: Array  # (3, .) workspace for what conditions get
    log: Array  # (capacity, 3): time, event, switch
    logged: Array  # (1,)
    shortest: float  # shortest part that a cut may leave, as a fraction of a step
    locates: int  # 1: steps are cut where conditions change, too
    projects: int  # 1: velocities are made to meet the constraints before one is switched
    start: State  # of a step that may be cut (start_state)


@structure
class DryFriction(NamedTuple):
    """Dry friction on joints that sticks (simulation/dry_friction.py); empty where no force is such, or the method has
    it smooth."""

    keeper: Array  # (n,) point that keeps its force,
    switch: Array  # (n,) point that keeps whether it is on, or -1,
    size: Array  # (n,) where T stands in the parameters of forces,
    type: Array  # (n,) of its coordinate,
    points: Array  # (n, 4) and of which points that is
    limit: Array  # (n,) T in this step
    force: Array  # (n,) Q of the last trial,
    rate: Array  # (n,) and the rates q̇' at its end
    next_force: Array  # (n,) Q of the next trial,
    predicted_rate: Array  # (n,) and the rates that (2) predicts for it
    rate_before: Array  # (n,) the rates of the trial before,
    before: Array  # (n,) Q of the trial before,
    best: Array  # (n,) and of the one that came nearest
    scale: Array  # (n,) q̈ that a unit of Q causes where nothing else holds the bodies, at the start
    S: Array  # (n, n) ∂q̇'/∂Q / h
    matrix: Array  # (n, n + 1) workspace of elimination
    unconverged: Array  # (1,) steps in which the trials did not converge
    start: State


@structure
class Work(NamedTuple):
    """Workspace of one step, allocated once."""

    phi: Array
    phi_t: Array
    gamma: Array
    J: Array
    J2: Array  # a second Jacobian, for methods that mix two configurations
    f: Array  # forces
    a: Array  # W f, and the accelerations of driven bodies
    driven: Array  # accelerations of driven bodies
    b: Array  # right-hand side
    drift: Array  # dΦ/dt while free bodies stand still, as drivers cause it
    mu: Array  # a second set of multipliers
    phi_t_old: Array  # Φ_t at the old time, for methods that mix two times
    x1: Array  # spare configurations and velocities
    x2: Array
    quat1: Array
    quat2: Array
    v1: Array
    v2: Array
    v3: Array
    stage_v: Array  # (stages, points, 3)
    stage_a: Array
    stage_quat: Array  # (stages, rigid, 4)
    stage_power: Array  # (stages, 2) of drivers and of forces without potential [W]
    power: Array  # (1,) of forces without potential, as last evaluated [W]
    scratch: Array  # (3, 3 * points of the largest custom constraint)
    counts: Array  # by the numbers LINEAR_SOLVES to DOUBTFUL_SYSTEMS


@structure
class System(NamedTuple):
    bodies: Bodies
    places: Places
    constraints: Batches
    rows: Rows
    moving: Moving
    panels: Panels
    forces: Batches
    signals: Signals
    linear: Linear
    work: Work
    driven: int  # 1: something moves on its own
    accumulates_work: int  # 1: that, or some force has no potential: steps add up their work
    nonholonomic: int  # 1: some row is a condition on velocities
    selective: int  # 1: rows may be left out (Rows.enforced): their Φ, J, Φ_t and γ are zero, and so is their λ
    turns: Array  # (angles, 4) of joints: the turning direction, x, y, and the counter that keeps the angle
    switches: Switches
    friction: DryFriction


@structure
class State(NamedTuple):
    """The complete state of a run, as saved in checkpoints."""

    x: Array
    quat: Array
    v: Array
    lam: Array
    memory: Array  # what a method remembers between steps
    ledger: Array  # (4,) by the numbers DRIVER_WORK to FRICTION_LOSS, so far [J]
    contact: Array  # (inequalities, 4) λ, friction along two tangents, and whether it is active
    pairs: Array  # (capacity, 2) pairs of balls that are near,
    pair_lam: Array  # (capacity, 3) their λ and friction,
    pairs_at: Array  # (points, 3) where all stood when they were found,
    pair_reach: Array  # (1,) up to which gap they were looked for [m],
    pair_count: Array  # (1,) and how many there are


KEPT = ("x", "quat", "v", "memory", "ledger", "contact")  # what a step changes, see `copy_state` in slot_vectors.py


@cache
def no_friction() -> DryFriction:
    """Of the models without dry friction, which all share it."""
    return dry_friction([], no_start())


def start_state(state: State) -> State:
    """Memory for the start of a step of that state, to go back to. It is a State as well, so that what copies it is
    compiled once."""
    return State(*(np.zeros_like(array if name in KEPT else array[:0]) for name, array in state._asdict().items()))


def no_start() -> State:
    """Where no step is ever taken again."""
    flat, table = np.zeros(0), np.zeros((0, 3))
    return State(
        table, np.zeros((0, 4)), table, flat, flat, flat, np.zeros((0, 4)), np.zeros((0, 2), np.int64), table, table,
        flat, np.zeros(0, np.int64),
    )  # fmt: skip


def dry_friction(rows: Sequence[Sequence[int]], start: State) -> DryFriction:
    """Of keeper, switch, size, type and four points of each joint."""
    table, n = np.array(rows, np.int64).reshape(-1, 8), len(rows)
    keeper, switch, size, type_ = (np.ascontiguousarray(table[:, k]) for k in range(4))
    names = ("limit", "force", "rate", "next_force", "predicted_rate", "rate_before", "before", "best", "scale")
    return DryFriction(
        keeper, switch, size, type_, np.ascontiguousarray(table[:, 4:]), **{name: np.zeros(n) for name in names},
        S=np.zeros((n, n)), matrix=np.zeros((n, n + 1)), unconverged=np.zeros(1, np.int64), start=start,
    )  # fmt: skip
